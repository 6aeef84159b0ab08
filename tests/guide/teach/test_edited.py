"""Edits over labels: undo restores, labels and steps agree, numbers are kept and never given out twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Segment
from guide.errors import InputError
from guide.procedure.model import GivenRule
from guide.teach.edited import Review, Reviewed, carry, segments_of, vanishing
from guide.teach.edits import Drop, Edit, Give, Label, Mark, Merge, Name, Split
from tests.small_task import make_labels, make_review

REVIEW = make_review()
RELAXED = GivenRule("before", (1, 3), holds=False)
numbers = st.integers(1, 6)
edits = st.one_of(
    st.builds(Name, numbers, st.sampled_from(["fold", "cut", "glue"])),
    st.lists(numbers, min_size=2, max_size=3, unique=True).map(lambda steps: Merge(tuple(steps))),
    st.builds(Split, numbers, st.sampled_from([0.5, 0.25, None])),
    st.builds(Drop, numbers),
    st.builds(Mark, numbers, st.sampled_from(["optional", "repeatable"]), st.booleans()),
    st.builds(
        lambda kind, steps, holds, is_on: Give(GivenRule(kind, tuple(steps), holds), is_on),
        st.sampled_from(["before", "needs", "either"]),
        st.lists(numbers, min_size=2, max_size=2, unique=True),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(lambda step: Label("02", (Segment(step, 1.0, 9.0), Segment(1, 9.0, 20.0))), numbers),
)


def same(one: Reviewed, other: Reviewed) -> bool:
    fields = ("steps", "given", "labelled", "is_carried", "highest")
    are_labels_same = all((a == b).all() for a, b in zip(one.labels, other.labels, strict=True))
    return are_labels_same and all(getattr(one, name) == getattr(other, name) for name in fields)


def edited(review: Review, wanted: list[Edit]) -> list[Review]:
    """The review after each edit that makes sense."""
    states = [review]
    for edit in wanted:
        try:
            states.append(states[-1].edited(edit))
        except InputError:
            continue
    return states


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(edits, max_size=6))
def test_undo_restores_every_state_before(wanted: list[Edit]) -> None:
    states = edited(REVIEW, wanted)
    review = states[-1]
    for before in reversed(states[:-1]):
        review = review.undone()
        assert review.edits == before.edits
        assert same(review.result, before.result)
    assert review.undone().result is review.start


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(edits, max_size=6))
def test_labels_steps_and_pairs_always_agree(wanted: list[Edit]) -> None:
    for review in edited(REVIEW, wanted):
        result = review.result
        known = [step.number for step in result.steps]
        assert known
        assert len(set(known)) == len(known)
        assert {int(number) for each in result.labels for number in np.unique(each)} <= {0, *known}
        assert all(set(rule.steps) <= set(known) for rule in result.given)
        assert max(known) <= result.highest
        assert [len(each) for each in result.labels] == [len(each) for each in make_labels()]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(edits, max_size=6))
def test_a_number_that_went_away_is_not_given_to_a_split(wanted: list[Edit]) -> None:
    ever: set[int] = {1, 2, 3}
    for before, after in zip(states := edited(REVIEW, wanted), states[1:], strict=False):
        new = set(after.result.names) - set(before.result.names)
        if isinstance(after.edits[-1], Split):
            assert len(new) == 1
            assert not new & ever
        ever |= new


def test_a_merge_joins_the_frames_under_the_first() -> None:
    result = REVIEW.edited(Name(2, "cut"), Give(RELAXED), Merge((2, 1))).result
    assert result.names == {2: "cut", 3: "step 3"}
    assert result.given == (GivenRule("before", (2, 3), holds=False),)
    for before, after in zip(make_labels(), result.labels, strict=True):
        np.testing.assert_array_equal(after == 2, np.isin(before, (1, 2)))
        np.testing.assert_array_equal(after == 3, before == 3)


def test_a_dropped_step_is_background() -> None:
    result = REVIEW.edited(Drop(3)).result
    assert not (np.concatenate(result.labels) == 3).any()
    assert (np.concatenate(result.labels) == 0).sum() == 6 * 20
    with pytest.raises(InputError, match="the only one"):
        REVIEW.edited(Drop(3), Drop(2), Drop(1))


def test_halves_of_a_step_that_look_different_are_told_apart() -> None:
    merged = REVIEW.edited(Merge((1, 2)), Split(1)).result
    assert set(merged.names) == {1, 3, 4}
    truth = np.concatenate(make_labels())
    found = np.concatenate(merged.labels)
    inside = np.isin(truth, (1, 2))
    agreement = ((found[inside] == 1) == (truth[inside] == 1)).mean()
    assert max(agreement, 1 - agreement) > 0.9


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Name(9, "a"), "there is no step 9, the steps are 1, 2, 3"),
        (Merge((1, 9)), "there is no step 9"),
        (Split(9), "there is no step 9"),
        (Split(1, 0.999), "fall on one side"),
        (Give(GivenRule("before", (1, 9))), "there is no step 9"),
        (Label("7", (Segment(1, 0.0, 1.0),)), "there is no recording 7"),
        (Label("01", (Segment(1, 90.0, 91.0),)), "no frame of 01 falls into step 1"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(edit: Edit, words: str) -> None:
    with pytest.raises(InputError, match=words):
        REVIEW.edited(edit)


def test_labels_of_one_recording_are_carried_to_the_others() -> None:
    given_labels = Label("01", (Segment(5, 0.0, 10.0), Segment(6, 10.0, 20.0)), ((5, "open"), (6, "shut")))
    review = REVIEW.edited(given_labels)
    assert vanishing(review.result) == {1, 2, 3}
    carried = carry(review.result, review.demonstrations)
    assert carried.names == {5: "open", 6: "shut"}
    assert carried.is_carried
    np.testing.assert_array_equal(carried.labels[0], review.result.labels[0])
    for labels, truth in zip(carried.labels[1:], make_labels()[1:], strict=True):
        assert (labels[truth == 1] == 5).mean() > 0.8
        assert (labels[truth == 2] == 6).mean() > 0.8
    assert carry(carried, review.demonstrations) is carried


def test_segments_are_those_of_the_labels() -> None:
    assert segments_of(REVIEW.result, REVIEW.demonstrations)[0] == (
        Segment(1, 0.0, 10.0),
        Segment(2, 10.0, 20.0),
        Segment(3, 30.0, 40.0),
    )
