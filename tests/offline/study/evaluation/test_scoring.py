"""Every figure of a small example, worked by hand; of few labels, which are chosen and which are scored."""

from __future__ import annotations

from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.collection import Found
from offline.features import RecordingFeatures
from offline.metrics import PROTOCOLS, same_numbers
from offline.study.evaluation.scoring import FewLabels, choices, score, score_others
from offline.study.evaluation.task import LabelledTask

TRUTH = [np.array([0, 1, 1, 2, 2, 2, 0, 0])]
FOUND = [np.array([5, 5, 5, 7, 7, 7, 7, 7])]


def test_by_hand() -> None:
    """5 is step 1 (2 of 3 frames right, all of it found), 7 is step 2 (3 of 5 right, all found)."""
    scores = score(TRUTH, FOUND, ("D", "pooled"))
    assert scores.protocols["D"].precision == pytest.approx((2 / 3 + 3 / 5) / 2)
    assert scores.protocols["D"].recall == 1.0
    assert scores.protocols["D"].iou == pytest.approx((2 / 3 + 3 / 5) / 2)
    assert scores.protocols["pooled"].precision == pytest.approx(5 / 8)
    assert scores.extras == {
        "MoF": 5 / 8, "F1@10": 1.0, "F1@25": 1.0, "F1@50": 1.0, "edit": 1.0, "order": 1.0, "pairs": 1.0,
    }  # fmt: skip


def test_given_numbers_by_hand() -> None:
    """Step 1 lies where step 2 should, but for one frame: nothing is exchanged to make it fit."""
    found = [np.array([0, 1, 2, 1, 1, 1, 0, 0])]
    scores = score(TRUTH, found, ("A", "D"), same_numbers(found))
    assert (scores.protocols["D"].precision, scores.protocols["D"].recall) == (1 / 8, 1 / 4)
    assert scores.protocols["A"].precision == pytest.approx((1 + 1 / 4 + 0) / 3)
    assert (scores.extras["MoF"], scores.extras["order"]) == (4 / 8, 0.0)
    assert score(TRUTH, found, ("D",)).extras["MoF"] == 6 / 8 + 1 / 8


TASKS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 9)), max_size=12).map(
        lambda frames: np.array(frames, np.int64).reshape(-1, 2).T
    ),
    max_size=3,
)


@given(TASKS)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_no_labelling_however_odd_leaves_the_range_of_fractions(task: list[np.ndarray]) -> None:
    """No recording, no frame, no foreground, one class, nothing found, more steps found than there are frames."""
    scores = score([truth for truth, _ in task], [found for _, found in task], tuple(PROTOCOLS))
    figures = [value for each in scores.protocols.values() for value in astuple(each)] + list(scores.extras.values())
    assert all(0 <= value <= 1 for value in figures)


@pytest.mark.parametrize(
    ("truth", "found", "a", "d", "mof"),
    [
        ([0, 0, 0], [0, 0, 0], 1.0, 0.0, 1.0),  # no step there, none found: nothing to be right about under D
        ([1, 1, 1], [0, 0, 0], 1.0, 0.0, 0.0),  # nothing found: A matches background with the step, D does not
        ([1, 1, 1], [4, 4, 4], 1.0, 1.0, 1.0),  # one class for everything, and there is but one
    ],
)
def test_one_class_only(truth: list[int], found: list[int], a: float, d: float, mof: float) -> None:
    scores = score([np.array(truth)], [np.array(found)], ("A", "D", "pooled"))
    assert [astuple(scores.protocols[name]) for name in ("A", "D", "pooled")] == [(a,) * 4, (d,) * 4, (d,) * 4]
    assert scores.extras["MoF"] == mof


def test_more_found_steps_than_frames_to_share() -> None:
    """Three labels on a step of three frames: one is right on a third of it. D takes a third of (1, 1/3, 1/3)."""
    scores = score([np.array([1, 1, 1])], [np.array([1, 2, 3])], ("A", "D"))
    assert astuple(scores.protocols["A"]) == pytest.approx((1, 1 / 3, 1 / 2, 1 / 3))
    assert astuple(scores.protocols["D"]) == pytest.approx((1 / 3, 1 / 9, 1 / 6, 1 / 9))


def test_every_figure_of_two_recordings_by_hand() -> None:
    """Steps 1, 2, 3 and background, found as 7, 8, 9.

    First recording:  truth 1 1 1 1 0 2 2 2 2 0, found 7 7 7 7 7 8 8 9 9 9.
    Second recording: truth 2 2 2 2 3 3 3 3 0 0, found 8 8 8 8 8 9 9 9 9 7.
    7 is step 1 (4 right of 6 found, of 4 true), 8 is step 2 (6 of 7, of 8), 9 is step 3 (3 of 7, of 4).
    """
    truth = [np.array([1, 1, 1, 1, 0, 2, 2, 2, 2, 0]), np.array([2, 2, 2, 2, 3, 3, 3, 3, 0, 0])]
    found = [np.array([7, 7, 7, 7, 7, 8, 8, 9, 9, 9]), np.array([8, 8, 8, 8, 8, 9, 9, 9, 9, 7])]
    scores = score(truth, found, tuple(PROTOCOLS))
    d, pooled = scores.protocols["D"], scores.protocols["pooled"]
    assert (d.precision, d.recall) == pytest.approx(((4 / 6 + 6 / 7 + 3 / 7) / 3, (4 / 4 + 6 / 8 + 3 / 4) / 3))
    assert d.iou == pytest.approx((4 / 6 + 6 / 9 + 3 / 8) / 3)
    assert (pooled.precision, pooled.recall, pooled.iou) == pytest.approx((13 / 20, 13 / 16, 13 / 23))
    assert scores.protocols["A"] == d  # background has no label left: three labels, three best classes
    # B, first: 7 -> 1, 8 -> 2, 9 -> 0 (1 frame of 3, of 2). Second: 8 -> 2, 9 -> 3, 7 -> 0 (1 of 1, of 2).
    b = scores.protocols["B"]
    assert b.precision == pytest.approx(((4 / 5 + 2 / 2 + 1 / 3) / 3 + (4 / 5 + 3 / 4 + 1 / 1) / 3) / 2)
    assert b.recall == pytest.approx(((4 / 4 + 2 / 4 + 1 / 2) / 3 + (4 / 4 + 3 / 4 + 1 / 2) / 3) / 2)
    # Segments. First: 1 at 4/5, 2 at 2/4, 3 false. Second: 2 at 4/5, 3 at 3/5, 1 false. Of 6 found and 4 true, 4 hit.
    assert [scores.extras[f"F1@{n}"] for n in (10, 25, 50)] == pytest.approx([4 / 5] * 3)
    # Edit: 1 2 | 1 2 3 and 2 3 | 2 3 1: one insertion of three each. Order: 1 before 2, and 2 before 3, both found.
    assert (scores.extras["edit"], scores.extras["order"], scores.extras["pairs"]) == pytest.approx((2 / 3, 1, 1))
    assert scores.extras["MoF"] == 13 / 20


SEEN = RecordingFeatures("a", 1.0, np.arange(4.0), np.zeros((4, 2), np.float32))
STEPS = np.array([1, 1, 2, 2])
TEA = LabelledTask("1", "tea", {1: "boil", 2: "pour"}, (SEEN,) * 3, (STEPS,) * 3)


@given(st.integers(1, 12), st.integers(0, 13), st.integers(1, 60))
@settings(derandomize=True, deadline=None)
def test_of_all_choices_so_many_are_taken_each_once_and_always_the_same(count: int, labelled: int, most: int) -> None:
    possible = list(combinations(range(count), labelled)) if 0 < labelled < count else []
    drawn = choices(count, labelled, most)
    assert len(set(drawn)) == len(drawn) == min(most, len(possible))
    assert set(drawn) <= set(possible)
    assert drawn == choices(count, labelled, most) == sorted(drawn)


def test_only_the_others_are_scored_and_by_their_numbers() -> None:
    """The second recording is right, the third has its numbers exchanged: half of all frames are right."""
    found = Found((np.zeros(4, np.int64), STEPS, 3 - STEPS))
    scores = score_others(TEA, (0,), found, ("A", "D"))
    assert scores.extras["MoF"] == 1 / 2
    assert scores.protocols["D"].f1 == scores.protocols["A"].f1 == 1 / 2
    assert score_others(TEA, (0, 2), found, ("D",)).protocols["D"].f1 == 1.0
    assert score_others(TEA, (0, 1), found, ("D",)).protocols["D"].f1 == 0.0


def test_a_row_says_how_it_came_about() -> None:
    scores = score_others(TEA, (0,), Found((STEPS,) * 3), ("D",))
    assert FewLabels(1, (scores,) * 3, 3).note == "1 labelled: mean over all 3 choices of the labelled recordings"
    drawn = FewLabels(4, (scores,) * 12, 330)
    assert drawn.note == "4 labelled: mean over 12 of 330 choices of the labelled recordings, drawn with seed 0"
