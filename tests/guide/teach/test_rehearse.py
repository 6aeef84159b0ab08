"""A rehearsal is what the live side would have confirmed, by what the other recordings teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import KeyStep, Labels
from guide.label.energy import LinkSettings
from guide.label.labeller import Labeller
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.events import Confirmed, Ended, Event, Finished, Reviewed
from guide.procedure.model import Procedure
from guide.task_model import PRIORS, histories_of, labeller_of
from guide.teach import rehearse as rehearse_module
from guide.teach.demonstrations import demonstrate
from guide.teach.prototypes import Judged, Taught, learn_prototypes
from guide.teach.rehearse import calibrate_steps, rehearse

RATE = 5.0
SETTINGS = AppearanceSettings.for_step(5.0)
LINKS = LinkSettings(weight=1.0, radius_s=1.0)
PLAIN = Procedure(tuple(KeyStep(number, str(number)) for number in (1, 2, 3)), demonstrations=4)
NO_ORDER = tuple(prior for prior in PRIORS if prior != "order")
ORDERS = ((1, 0, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3), (1, 2, 3, 0))
DIRECTIONS = np.random.default_rng(7).normal(size=(4, 12)) * 2


def taught_by(labels: Sequence[Labels]) -> Taught:
    pooled = [
        (DIRECTIONS[own] + np.random.default_rng(seed).normal(size=(len(own), 12))).astype(np.float32)
        for seed, own in enumerate(labels)
    ]
    times = [np.arange(len(own)) / RATE for own in labels]
    return learn_prototypes(demonstrate([str(n) for n in range(len(labels))], times, pooled, RATE, SETTINGS), labels)


@pytest.fixture(scope="module")
def taught() -> Taught:
    return taught_by([np.repeat(order, 25) for order in ORDERS])


def labeller_for(taught: Taught, task: Procedure = PLAIN) -> Labeller:
    histories = histories_of(task, taught.prototypes.steps, SETTINGS.smoothing_s, RATE)
    return labeller_of(histories, LINKS, RATE, taught.prototypes.clock)


def rehearsals_of(taught: Taught) -> list[tuple[Event, ...]]:
    return [rehearse(labeller_for(taught), one.costs, one.times) for one in taught.judged]


def confirmed(events: Sequence[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Confirmed)]


def sights(order: Sequence[int], doubt: float = 0.05) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Costs (T, 4) of background and three steps, each shown for 25 frames, and their times."""
    columns = np.repeat(order, 25)
    costs = np.full((len(columns), 4), 1 - doubt / 3)
    costs[np.arange(len(columns)), columns] = doubt
    return costs, np.arange(len(columns)) / RATE


def test_a_single_frame_is_rehearsed() -> None:
    first = taught_by([np.array([1]), *(np.repeat(order, 25) for order in ORDERS[1:])])
    events = rehearse(labeller_for(first), first.judged[0].costs, first.judged[0].times)
    assert confirmed(events) == []
    assert events[-1] == Finished(0.0)


def test_a_plain_task_is_rehearsed_as_it_was_done(taught: Taught) -> None:
    rehearsals = rehearsals_of(taught)
    assert [[step for step in confirmed(events) if step > 0] for events in rehearsals] == [
        [step for step in order if step > 0] for order in ORDERS
    ]
    assert all(isinstance(events[-1], Finished) for events in rehearsals)


def test_a_rehearsal_hears_what_is_heard_live(taught: Taught) -> None:
    """Frame by frame; in a rehearsal all windows are cut together."""
    for one, events in zip(taught.judged, rehearsals_of(taught), strict=True):
        labeller = labeller_for(taught)
        heard = [
            event
            for row, at in zip(one.costs, one.times, strict=True)
            for event in rehearse_module._heard(labeller.push(row, float(at)))
        ]
        heard += rehearse_module._heard(labeller.finish()[0])
        assert len(heard) > 10
        assert tuple(heard) == events[: len(heard)]


def test_the_last_look_back_holds_what_was_done(taught: Taught) -> None:
    for order, events in zip(ORDERS, rehearsals_of(taught), strict=True):
        looks = [event.belief for event in events if isinstance(event, Reviewed)]
        done = [step for step in order if step > 0]
        assert [visit.step for visit in looks[-1].visits] == done
        assert all(chance < 0.05 for step, chance in looks[-1].lacking if step in done)


def test_a_glimpse_is_not_a_step() -> None:
    costs = np.ones((60, 2))
    costs[:, 0] = 0.0
    costs[30:32] = [1.0, 0.0]
    labeller = labeller_of(histories_of(PLAIN, (1, 2), 0.4, RATE), LINKS, RATE)
    assert confirmed(rehearse(labeller, costs, np.arange(60) / RATE)) == [1]


def test_after_effects_are_heard_in_a_rehearsal() -> None:
    costs, times = sights([1, 0, 3, 0])
    costs[25:50, :3] = [0.5, 0.9, 0.6]
    effects = np.zeros_like(costs)
    effects[50:75, 2] = -20.0
    lacking = []
    for each in (None, effects):
        labeller = labeller_of(histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE), LINKS, RATE)
        last = [event for event in rehearse(labeller, costs, times, each) if isinstance(event, Reviewed)][-1]
        lacking.append(last.belief.chance_lacking(2))
    assert lacking[0] < 0.9 < lacking[1]


def judged(place: int = 0) -> Judged:
    """Ten frames of each of two steps."""
    nothing = np.zeros((20, 0))
    return Judged(place, np.arange(20) / RATE, np.repeat([1, 2], 10), nothing)


def done(step: int, start: float, end: float, confidence: float = 0.9) -> list[Event]:
    return [Confirmed(step, start + 1.0, confidence, start), Ended(step, end + 1.5, end)]


def test_steps_are_as_sure_as_the_share_of_their_moments_that_was_right() -> None:
    left = [judged() for _ in range(40)]
    right = [(*done(1, 0.0, 1.8), *done(2, 2.0, 3.8)) for _ in left]
    half = [(*done(1, 1.6, 3.0), *done(2, 1.4, 3.0)) for _ in left]  # of six moments until then three of each
    assert calibrate_steps(left, right).of(0.9) > 0.95
    assert calibrate_steps(left, half).of(0.9) == pytest.approx(0.5, abs=0.1)


def test_what_is_no_step_or_has_no_frames_says_nothing_of_confidence() -> None:
    events: list[Event] = [*done(-1, 0.0, 1.0), *done(0, 1.0, 2.0), *done(1, 90.0, 95.0), Confirmed(1, 3.0, 0.9, None)]
    assert calibrate_steps([judged()], [events]) == calibrate_steps([], [])
