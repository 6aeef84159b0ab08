"""The labelling room as one stage: any columns, any length, begun anew at any time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from guide.label.elapsed import Elapsed
from numpy.typing import NDArray

from guide.label.energy import LinkSettings
from guide.label.histories import Histories, HistoryModel
from guide.label.labeller import Labelled, Labeller
from guide.label.steps import StepSettings, StepTrack
from guide.label.window import WindowCut, WindowSettings

RATE = 5.0


def make_labeller(
    steps: tuple[int, ...], lag_s: float = 2.0, reluctance: float = 0.0, elapsed: Elapsed | None = None
) -> Labeller:
    is_step = np.array(steps) > 0
    before = np.triu(np.ones((len(steps), len(steps)), bool), 1) & is_step & is_step[:, None]
    model = HistoryModel(steps, np.full(len(steps), 4.0), 0.5, before, is_step, is_step, weight=2.0)
    window = WindowCut(WindowSettings(lag_s=lag_s), LinkSettings(), RATE, steps)
    return Labeller(window, StepTrack(StepSettings()), Histories(model, tick_s=0.4), reluctance, elapsed)


def costs_of(steps: tuple[int, ...], shown: int) -> NDArray[np.float64]:
    return np.where(np.array(steps) == shown, 0.1, 0.95)


def show(labeller: Labeller, steps: tuple[int, ...], shown: list[int], begin: int = 0) -> list[Labelled]:
    """Three seconds of each."""
    frames = enumerate((step for step in shown for _ in range(15)), begin)
    return [labeller.push(costs_of(steps, step), number / RATE) for number, step in frames]


@pytest.mark.parametrize("steps", [(1,), (1, -1), (3, 7), (7, 3, -1), (0, 3, 7, -1), (0, 2), (0, -1)], ids=str)
@pytest.mark.parametrize("lag_s", [0.0, 2.0])
def test_any_columns_are_followed(steps: tuple[int, ...], lag_s: float) -> None:
    labeller = make_labeller(steps, lag_s)
    seen = show(labeller, steps, list(steps))
    last, _ = labeller.finish()
    assert sum(len(one.settled) for one in (*seen, last)) == 15 * len(steps)
    assert last.belief is not None
    assert [visit.step for visit in last.belief.visits] == [step for step in steps if step > 0]


def test_reluctance_changes_the_labels_shown_and_not_the_course() -> None:
    steps = (0, 1)
    shown, plain = make_labeller(steps, reluctance=2.0), make_labeller(steps)
    for number in range(30):
        shown.push(np.array([0.4, 0.6]), number / RATE)
        plain.push(np.array([0.4, 0.6]), number / RATE)
    assert shown.belief() == plain.belief()
    (one, _), (other, _) = shown.finish(), plain.finish()
    assert {label.step for label, _ in one.settled} == {1}
    assert {label.step for label, _ in other.settled} == {0}


def test_elapsed_time_changes_the_labels_shown_and_not_the_course() -> None:
    steps = (1, 2)
    usual = Elapsed(np.array([[1.9, 0.1], [0.1, 1.9]]), bin_s=3.0)  # step 1 for three seconds, then step 2
    shown, plain = make_labeller(steps, elapsed=usual), make_labeller(steps)
    for number in range(30):
        shown.push(np.array([0.5, 0.5]), number / RATE)
        plain.push(np.array([0.5, 0.5]), number / RATE)
    assert shown.belief() == plain.belief()
    labels = [label.step for label, _ in shown.finish()[0].settled]
    assert labels[-1] == 2


def test_elapsed_time_begins_anew_with_a_restart() -> None:
    steps = (1, 2)
    usual = Elapsed(np.array([[1.9, 0.1], [0.1, 1.9]]), bin_s=3.0)
    labeller = make_labeller(steps, lag_s=0.0, elapsed=usual)
    labels = [labeller.push(np.array([0.5, 0.5]), number / RATE).settled[0][0].step for number in range(25)]
    assert (labels[0], labels[-1]) == (1, 2)
    labeller.restart()
    later = [labeller.push(np.array([0.5, 0.5]), number / RATE).settled[0][0].step for number in range(25, 37)]
    assert later[-1] == 1


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_few_frames_are_enough(count: int) -> None:
    labeller = make_labeller((1, 2, 0))
    for number in range(count):
        labeller.push(costs_of((1, 2, 0), 1), number / RATE)
    last, events = labeller.finish()
    assert len(last.settled) == count
    assert (last.belief is None) == (count == 0)
    assert [event.state for event in events] == ["ended"] * bool(count)


def test_after_a_restart_nothing_is_said_of_what_was_done_before() -> None:
    steps = (1, 2, 0)
    labeller = make_labeller(steps)
    show(labeller, steps, [1, 2])
    assert labeller.belief().since == -math.inf
    labeller.restart()
    show(labeller, steps, [2], begin=30)
    belief = labeller.belief()
    assert belief.since == 29 / RATE
    assert [visit.step for visit in belief.visits] == [2]
    assert belief.visits[0].start > belief.since
    assert belief.chance_lacking(1) > 0.9


def test_a_restart_just_before_the_end_leaves_nothing_done() -> None:
    steps = (1, 2, 0)
    labeller = make_labeller(steps)
    show(labeller, steps, [1])
    labeller.restart()
    last, _ = labeller.finish()
    assert last.belief is not None
    assert (last.belief.visits, last.belief.chance_lacking(1)) == ((), 1.0)


def test_costs_for_labels_change_the_labels_and_not_the_course() -> None:
    steps = (1, 2)
    apart, plain = make_labeller(steps), make_labeller(steps)
    for number in range(30):
        apart.push(costs_of(steps, 1), number / RATE, costs_of(steps, 2))
        plain.push(costs_of(steps, 1), number / RATE)
    assert apart.belief() == plain.belief()
    (one, _), (other, _) = apart.finish(), plain.finish()
    assert {label.step for label, _ in one.settled} == {2}
    assert {label.step for label, _ in other.settled} == {1}


def test_a_step_that_was_done_stays_so_while_the_next_one_begins() -> None:
    """For a moment neither is surely the newest one; what was done for seconds must not vanish in it."""
    steps = (1, 2, 0)
    labeller = make_labeller(steps)
    for number in range(20):
        labeller.push(costs_of(steps, 1), number / RATE)
    for number in range(20, 60):
        labeller.push(np.array([0.5, 0.38, 0.95]), number / RATE)
        assert labeller.belief().visits[0].step == 1
    assert [visit.step for visit in labeller.belief().visits] == [1, 2]


def test_in_the_end_all_orders_are_told_until_then_those_that_seem_broken() -> None:
    steps = (1, 2, 3, 0)
    labeller = make_labeller(steps)
    show(labeller, steps, [1, 3, 2])
    assert [pair for pair, _ in labeller.belief().swapped] == [(2, 3)]
    last, _ = labeller.finish()
    assert last.belief is not None
    assert [pair for pair, _ in last.belief.swapped] == [(1, 2), (1, 3), (2, 3)]
    assert last.belief.chance_swapped(2, 3) > 0.9 > 0.1 > last.belief.chance_swapped(1, 2)


def test_an_order_that_may_have_been_broken_is_told_in_the_end_though_it_is_likelier_kept() -> None:
    steps = (1, 2, 0)
    labeller = make_labeller(steps)
    for number in range(45):
        shown = costs_of(steps, 1) if 15 <= number < 30 else costs_of(steps, 2)
        labeller.push(np.array([0.9, 0.6, 0.4]) if number < 15 else shown, number / RATE)
    assert labeller.belief().swapped == ()
    last, _ = labeller.finish()
    assert last.belief is not None
    assert 1e-4 < last.belief.chance_swapped(1, 2) < 0.5
