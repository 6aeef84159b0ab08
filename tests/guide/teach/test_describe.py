"""From labels to all that the live side needs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import KeyStep, Labels, Segment
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Rule
from guide.task_model import histories_of
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.describe import FEWEST_REHEARSED, MOST_REHEARSED, describe, some
from guide.teach.prototypes import Judged
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


def test_three_recordings_lead_to_questions_alone() -> None:
    rules = describe(make_demonstrations(), make_labels(), STEPS).procedure.rules
    assert (rules.required, rules.single, rules.edges) == ((), (), ())
    assert rules.asked_steps == (1, 2, 3)
    assert {(1, 2), (2, 1)}.isdisjoint(rules.asked_edges)  # the first two are done either way round


def test_how_much_is_done_is_told_and_rises(demonstrations: Demonstrations) -> None:
    """Never back, and not at the end before it is: rules are silenced yet."""
    told: list[float] = []
    describe(demonstrations, TRUTH, STEPS, tell=told.append)
    assert told == sorted(told)
    assert 0.9 < told[-1] < 1.0


def test_what_is_rehearsed_elsewhere_takes_little_with_it() -> None:
    """What was learned goes there with every demonstration, the demonstrations themselves do not."""
    shown, labels = eight_recordings()
    sizes: list[int] = []

    def elsewhere(do: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
        sizes.extend(len(pickle.dumps((do, item))) for item in items)
        return map(do, items)

    here, there = (describe(shown, labels, FIVE, each=each) for each in (map, elsewhere))
    assert there.procedure == here.procedure
    whole = sum(len(pickle.dumps(one)) for one in shown.items)
    assert len(sizes) == 8
    assert max(sizes) < whole / 2


# Three steps are left out once each, three others are done twice once each.
VARIED = [
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


def test_where_every_other_recording_is_the_first_to_depart_no_step_is_required() -> None:
    """What all but one do is no more to be relied on than what that one showed to be otherwise."""
    looks = np.eye(10, 12) * 5
    labels = [np.repeat(steps, 8) for steps in VARIED]
    rng = np.random.default_rng(0)
    shown = shown_as([looks[own] + rng.normal(0, 0.3, (len(own), 12)) for own in labels], 4.0)
    steps = [KeyStep(number, f"step {number}") for number in range(1, 10)]
    rules = describe(shown, labels, steps).procedure.rules
    assert (rules.required, rules.single) == ((), ())
    why = next(one.reason for one in rules.decisions if one.rule == Rule("missed", 1))
    assert why.startswith("done in 12 of 12 demonstrations, seemed broken in 0 of 12 rehearsals; risk ")
    assert "none alarms" in why


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


def test_one_false_alarm_in_eight_rehearsals_is_too_many() -> None:
    """The next recording may as well lack another step that is there."""
    shown, labels = eight_recordings()
    assert describe(shown, labels, FIVE).procedure.rules.required == (1, 2, 3, 4, 5)
    shown, labels = eight_recordings(hard=1.0)
    assert describe(shown, labels, FIVE).procedure.rules.required == ()


def test_a_session_expects_what_rehearsals_expected() -> None:
    """What is decided about a rule changes what is told, not what is believed."""
    shown, labels = eight_recordings(hard=1.0)
    procedure = describe(shown, labels, FIVE).procedure
    steps = (0, 1, 2, 3, 4, 5)
    model = histories_of(procedure, steps, 1.0, RATE).model
    assert model.needed.tolist() == [False, True, True, True, True, True]
    assert (model.visits.more[1:, 0] < 0.1).all()
    unheard = histories_of(learn_procedure(describe(shown, labels, FIVE).segments, FIVE), steps, 1.0, RATE).model
    assert (model.before == unheard.before).all()
    assert model.before.any()


def judged(frames: int) -> Judged:
    none = np.zeros((frames, 1))
    return Judged(0, np.arange(frames) / RATE, np.zeros(frames, np.int64), none)


def test_short_recordings_are_all_rehearsed_and_of_long_ones_some() -> None:
    assert some([judged(50)] * 40) == list(range(40))
    kept = some([judged(MOST_REHEARSED // 20)] * 40)
    assert kept == list(range(0, 40, 2))
    assert len(some([judged(MOST_REHEARSED)] * 15)) == FEWEST_REHEARSED
