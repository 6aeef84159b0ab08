"""From labels to all that the live side needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import Alert, KeyStep, Labels, Segment
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.model import Rules
from guide.procedure.replay import standing_alerts
from guide.procedure.rule_selection import silence_rules
from guide.procedure.tracker import Tracker
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.describe import FEWEST_REHEARSED, MOST_REHEARSED, describe, some
from guide.teach.prototypes import Judged
from guide.teach.rehearse import read_freely
from tests.small_task import make_demonstrations, make_labels

RATE = 2.0
TRUTH: list[Labels] = [np.repeat([1, 2, 0, 3], 20), np.repeat([1, 2, 3, 0], 20)]
STEPS = [KeyStep(number, f"step {number}") for number in (1, 2, 3)]


def shown_as(rows: Sequence[NDArray[np.float64]], step_s: float) -> Demonstrations:
    times, pooled = [np.arange(len(each)) / RATE for each in rows], [each.astype(np.float32) for each in rows]
    settings = AppearanceSettings.for_step(step_s)
    return demonstrate([str(number) for number in range(len(rows))], times, pooled, RATE, settings)


@pytest.fixture(scope="module")
def demonstrations() -> Demonstrations:
    looks = np.random.default_rng(1).normal(0, 3, (4, 6))
    rows = [looks[own] + np.random.default_rng(number).normal(0, 0.3, (80, 6)) for number, own in enumerate(TRUTH)]
    return shown_as(rows, 39.5 / 3)


def test_everything_follows_from_labels(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, STEPS, ("a note",))
    assert learned.segments[0] == (Segment(1, 0.0, 10.0), Segment(2, 10.0, 20.0), Segment(3, 30.0, 40.0))
    assert learned.procedure.orderings[0].steps == (1, 2, 3)
    assert learned.procedure.orderings[0].count == 2
    assert learned.notes == ("a note",)
    assert learned.prototypes.numbers.tolist() == [0, 1, 2, 3]
    assert learned.prototypes.clock is not None
    assert all(one is other for one, other in zip(learned.labels, TRUTH, strict=True))


def test_prototypes_recognise_what_they_were_learned_from(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, STEPS).prototypes
    for rows, labels in zip(demonstrations.embeddings, TRUTH, strict=True):
        assert (learned.numbers[learned.distances(rows).argmin(1)] == labels).mean() > 0.9


def test_a_step_without_frames_is_no_prototype(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, [*STEPS, KeyStep(4, "step 4")])
    assert learned.prototypes.numbers.tolist() == [0, 1, 2, 3]
    assert learned.procedure.numbers == (1, 2, 3, 4)
    assert 4 not in learned.procedure.rules.required


@pytest.mark.parametrize("hold_slips", [False, True])
def test_the_small_task_has_its_rules_and_no_false_alarm(hold_slips: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Demonstrations are right, so what rehearsals say while all rules hold is said for nothing."""
    heard: list[Alert] = []

    def silence(procedure, rehearsals, *rest):  # type: ignore[no-untyped-def]
        for events in rehearsals:
            tracker = Tracker(procedure)
            heard.extend(standing_alerts([said for event in events for said in tracker.apply(event)]))
        return silence_rules(procedure, rehearsals, *rest)

    monkeypatch.setattr("guide.teach.describe.silence_rules", silence)
    learned = describe(make_demonstrations(), make_labels(), STEPS, hold_slips=hold_slips)
    assert heard == []
    rules = learned.procedure.rules
    assert (rules.required, rules.single) == ((1, 2, 3), (1, 2, 3))
    assert set(rules.edges) <= {(1, 3), (2, 3)}  # the first two are done either way round
    assert {(1, 2), (2, 1)}.isdisjoint((*rules.edges, *rules.asked_edges))
    assert learned.notes == ()


def test_how_much_is_done_is_told_and_rises(demonstrations: Demonstrations) -> None:
    """Never back, and not at the end before it is: rules are silenced yet."""
    told: list[float] = []
    describe(demonstrations, TRUTH, STEPS, hold_slips=True, tell=told.append)
    assert told == sorted(told)
    assert 0.9 < told[-1] < 1.0


# Steps carried over from the first two recordings: some were lost, some broken in two.
CARRIED = [
    [1, 2, 9, 3, 4, 5, 6, 8, 7],
    [1, 9, 2, 3, 4, 5, 6, 8],
    [1, 2, 9, 5, 3, 6, 4, 8, 7],
    [1, 2, 9, 5, 6, 3, 4, 8, 7],
    [1, 9, 2, 5, 6, 3, 4, 8, 7],
    [1, 9, 1, 2, 5, 3, 9, 3, 4, 6, 8, 7],
    [1, 9, 2, 3, 5, 4, 6, 8],
    [1, 2, 3, 4, 5, 6, 8, 9],
    [1, 2, 9, 3, 5, 4, 6, 8],
    [1, 9, 3, 4, 5, 6, 8],
    [1, 2, 3, 4, 5, 6, 8],
    [1, 9, 2, 5, 3, 4, 8, 7],
]


@pytest.mark.parametrize("hold_slips", [False, True])
def test_slips_of_labels_do_not_silence_the_rules(hold_slips: bool) -> None:
    looks = np.eye(10, 12) * 5
    labels = [np.repeat(steps, 8) for steps in CARRIED]
    rng = np.random.default_rng(0)
    shown = shown_as([looks[own] + rng.normal(0, 0.3, (len(own), 12)) for own in labels], 4.0)
    steps = [KeyStep(number, f"step {number}") for number in range(1, 10)]
    required = describe(shown, labels, steps, hold_slips=hold_slips).procedure.rules.required
    assert set(required) == {1, 3, 4, 5, 8}


ORDER = (1, 2, 3, 0, 4, 5)


def eight_recordings(hard: float = 0.0, last: int = 20) -> tuple[Demonstrations, list[Labels]]:
    """Eight recordings of five steps; in the last one the third step looks so much like the second (a share).

    The fifth step takes `last` frames there.
    """
    looks, rng, rows, labels = np.eye(6, 12) * 5, np.random.default_rng(3), [], []
    for number in range(8):
        is_odd = number == 7
        own = np.repeat(ORDER, [20, 20, 20, 20, 20, last if is_odd else 20])
        seen = looks[own] + rng.normal(0, 0.3, (len(own), 12))
        seen[own == 3] += hard * is_odd * (looks[2] - looks[3])
        labels.append(own)
        rows.append(seen)
    return shown_as(rows, 10.0), labels


FIVE = [KeyStep(number, f"step {number}") for number in range(1, 6)]


def test_a_step_that_our_labels_hold_and_nobody_sees_is_asked_about() -> None:
    shown, labels = eight_recordings(hard=0.71)
    given = describe(shown, labels, FIVE).procedure.rules
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    by_person = describe(shown, labels, FIVE, hold_slips=True, given=[7]).procedure.rules
    by_others = describe(shown, labels, FIVE, hold_slips=True, given=range(7)).procedure.rules
    assert (given.required, given.asked_steps) == ((1, 2, 3, 4, 5), ())
    assert (ours.required, ours.asked_steps) == ((1, 2, 4, 5), (3,))
    assert by_person.required == given.required
    assert by_others.required == ours.required


def test_a_recording_that_ends_as_a_step_begins_silences_nothing_where_people_say_so() -> None:
    shown, labels = eight_recordings(last=1)
    assert describe(shown, labels, FIVE).procedure.rules.required == (1, 2, 3, 4, 5)
    by_people = describe(shown, labels, FIVE, hold_slips=True, given=range(8)).procedure.rules
    assert by_people.required == (1, 2, 3, 4, 5)
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    assert (ours.required, ours.asked_steps) == ((1, 2, 3, 4), (5,))


def test_an_order_that_our_labels_hold_and_somebody_does_not_keep_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "guide.teach.describe.silence_rules", lambda procedure, *_: procedure
    )  # rehearsals may silence it too
    shown, labels = eight_recordings()
    odd = shown.items[7]
    other = np.r_[20:60, 0:20, 60 : len(odd)]  # the first of its steps is done after the next two, whatever labels say
    pooled = odd.pooled[other]
    items = (*shown.items[:7], replace(odd, pooled=pooled, embedding=shown.embed(pooled, odd.times)))
    shown = replace(shown, items=items)
    given = describe(shown, labels, FIVE).procedure.rules
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    first, *rest = [step for step in ORDER if step > 0]
    early = [step for step in np.unique(labels[7][20:60]).tolist() if step > 0]
    assert early
    assert set(given.edges) - set(ours.edges) == {(first, step) for step in early}
    assert set(ours.asked_edges) - set(given.asked_edges) == {(first, step) for step in early}
    assert {(first, step) for step in rest} - set(ours.edges) == {(first, step) for step in early}


@pytest.mark.parametrize(
    ("kept", "noted"),
    [(Rules(required=(1, 2, 3), single=(1,)), ["4 of 9"]), (Rules(((1, 2),), required=(1, 2, 3), single=(1,)), [])],
)
def test_where_most_rules_only_ask_a_note_says_so(
    demonstrations: Demonstrations, monkeypatch: pytest.MonkeyPatch, kept: Rules, noted: list[str]
) -> None:
    assert describe(demonstrations, TRUTH, STEPS).notes == ()
    monkeypatch.setattr("guide.teach.describe.silence_rules", lambda procedure, *_: replace(procedure, rules=kept))
    notes = describe(demonstrations, TRUTH, STEPS, ("a note",)).notes
    assert notes[0] == "a note"
    assert [note.split(" rules ")[0] for note in notes[1:]] == noted


def test_rules_that_are_questioned_count_as_learned_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "guide.teach.describe.question_rules", lambda procedure, _: replace(procedure, rules=Rules(required=(1,)))
    )
    shown, labels = eight_recordings()
    (note,) = describe(shown, labels, FIVE, hold_slips=True).notes
    assert note.startswith("1 of 20 rules raise alarms")


def test_without_rules_nothing_is_wanted(demonstrations: Demonstrations, monkeypatch: pytest.MonkeyPatch) -> None:
    met = []

    def read(costs, times, histories, effects):  # type: ignore[no-untyped-def]
        met.append(histories.model)
        return read_freely(costs, times, histories, effects)

    monkeypatch.setattr("guide.teach.describe.read_freely", read)
    describe(demonstrations, TRUTH, STEPS, hold_slips=True)
    assert len(met) == 2
    assert not any(each.any() for model in met for each in (model.needed, model.single))
    assert all((one.order, one.repeat, one.again, one.lacking) == (0,) * 4 for one in (m.expectations for m in met))
    assert met[0].usual_s[1:4] == pytest.approx([10.0] * 3)


def judged(frames: int) -> Judged:
    none = np.zeros((frames, 1))
    return Judged(0, np.arange(frames) / RATE, np.zeros(frames, np.int64), none)


def test_short_recordings_are_all_rehearsed_and_of_long_ones_some() -> None:
    assert some([judged(50)] * 40) == list(range(40))
    kept = some([judged(MOST_REHEARSED // 20)] * 40)
    assert kept == list(range(0, 40, 2))
    assert len(some([judged(MOST_REHEARSED)] * 15)) == FEWEST_REHEARSED
