"""The labelling room as one stage: any columns, any length, begun anew at any time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.label.clock_prior import Clock, ClockPrior
from guide.label.energy import LinkSettings
from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.labeller import Labelled, Labeller
from guide.label.steps import StepSettings, StepTrack
from guide.label.visit_counts import VisitCounts
from guide.label.window import WindowCut, WindowSettings

RATE = 5.0


def make_labeller(
    steps: tuple[int, ...], lag_s: float = 2.0, prior: ClockPrior | None = None, frames: int = 64, tick_s: float = 0.4
) -> Labeller:
    is_step = np.array(steps) > 0
    before = np.triu(np.ones((len(steps), len(steps)), bool), 1) & is_step & is_step[:, None]
    once = VisitCounts.once(len(steps))
    model = HistoryModel(steps, np.full(len(steps), 4.0), 0.5, before, is_step, once, weight=2.0, effect_weight=0.2)
    window = WindowCut(WindowSettings(frames, lag_s), LinkSettings(), RATE, steps)
    clock = None if prior is None else Clock(prior, steps)
    return Labeller(Histories(model, tick_s), window, StepTrack(StepSettings()), clock)


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


def test_background_that_is_put_back_changes_the_labels_shown_and_not_the_histories() -> None:
    steps, costs = (0, 1, -1), np.array([0.4, 0.6, 1.0])
    shown, plain = make_labeller(steps, prior=ClockPrior(np.ones((1, 2)), 3.0, background=0.2)), make_labeller(steps)
    for number in range(30):
        shown.push(costs, number / RATE)
        plain.push(costs, number / RATE)
    assert shown.belief() == plain.belief()
    (one, _), (other, _) = shown.finish(), plain.finish()
    assert {label.step for label, _ in one.settled} == {1}
    assert {label.step for label, _ in other.settled} == {0}


EARLY_AND_LATE = ClockPrior(np.array([[1.9, 0.1], [0.1, 1.9]]), bin_s=3.0, background=1.0)  # three seconds of each


def test_the_clock_changes_the_labels_shown_and_not_the_histories() -> None:
    steps, costs = (1, 2, -1), np.array([0.5, 0.5, 1.0])
    shown, plain = make_labeller(steps, prior=EARLY_AND_LATE), make_labeller(steps)
    for number in range(30):
        shown.push(costs, number / RATE)
        plain.push(costs, number / RATE)
    assert shown.belief() == plain.belief()
    labels = [label.step for label, _ in shown.finish()[0].settled]
    assert labels[-1] == 2


def test_the_clock_begins_anew_with_a_restart() -> None:
    steps, costs = (1, 2, -1), np.array([0.5, 0.5, 1.0])
    labeller = make_labeller(steps, lag_s=0.0, prior=EARLY_AND_LATE)
    labels = [labeller.push(costs, number / RATE).settled[0][0].step for number in range(25)]
    assert (labels[0], labels[-1]) == (1, 2)
    labeller.restart()
    later = [labeller.push(costs, number / RATE).settled[0][0].step for number in range(25, 37)]
    assert later[-1] == 1


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(0, 60),
    st.sampled_from([0.0, 0.5, 2.0, 100.0]),
    st.integers(1, 30),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 7, 1024]),
)
def test_a_recording_at_hand_is_followed_as_frame_by_frame(
    seed: int, count: int, lag_s: float, frames: int, has_clock: bool, has_effects: bool, at_once: int
) -> None:
    rng, steps = np.random.default_rng(seed), (0, 1, 2, 3, -1)
    costs = 1.0 - rng.dirichlet(np.full(5, 0.3), -(-count // 5)).repeat(5, axis=0)[:count].clip(0, 1)
    times = np.cumsum(rng.choice([0.2, 0.2, 0.4, 3.0], count))
    effects = rng.normal(size=(count, 5)) * (np.array(steps) > 0) if has_effects else None
    prior = ClockPrior(rng.uniform(0.2, 2.0, (6, 4)), 2.0, 0.5) if has_clock else None
    one, other = (make_labeller(steps, lag_s, prior, frames) for _ in range(2))
    found = [
        one.push(row, at, None if effects is None else effects[n])
        for n, (row, at) in enumerate(zip(costs, times, strict=True))
    ]
    last, events = one.finish()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("guide.label.labeller.FOLLOWED_AT_ONCE", at_once)
        assert other.follow(costs, times, effects) == ([*found, last], events)
    labels = [label for each in (*found, last) for label, _ in each.settled]
    assert [label.at for label in labels] == times.tolist()


def test_a_label_that_histories_hold_for_impossible_is_not_shown() -> None:
    """By the costs alone each frame is step 2; histories have ruled it out by all that was seen."""
    steps = (1, 2, 0)

    class Ruling(Histories):
        def marginals(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
            return np.tile([0.9, 0.0005, 0.0995], (len(times), 1))

    def labels(kind: type[Histories]) -> set[int]:
        made = make_labeller(steps)
        made.past.histories = kind(made.past.histories.model, tick_s=0.4)
        for number in range(30):
            made.push(np.array([0.7, 0.4, 0.9]), number / RATE)
        return {label.step for label, _ in made.finish()[0].settled}

    assert labels(Histories) == {2}
    assert labels(Ruling) == {1}


def test_a_step_that_cannot_be_yet_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with real histories, in a task whose order is all but law: by the cut alone step 3 comes before 2."""
    steps = (1, 2, 3, 0)

    def labels() -> list[int]:
        made = make_labeller(steps)
        model = replace(made.past.histories.model, expectations=Expectations(order=60.0, repeat=60.0))
        made.past.histories = Histories(model, tick_s=0.4)
        made._window = WindowCut(WindowSettings(lag_s=6.0), LinkSettings(weight=0.2), RATE, steps)
        rows = [costs_of(steps, 1)] * 20 + [np.array([0.95, 0.6, 0.5, 0.95])] * 40 + [costs_of(steps, 2)] * 30
        return [
            label.step for each in made.follow(np.array(rows), np.arange(90) / RATE)[0] for label, _ in each.settled
        ]

    assert labels()[45:55] == [2] * 10
    monkeypatch.setattr("guide.label.labeller.LEAST_POSSIBLE", 0.0)
    assert labels()[45:55] == [3] * 10


def test_where_everything_is_impossible_the_likeliest_is_shown() -> None:
    labeller = make_labeller((1, 2, 0), lag_s=0.0)
    for number in range(10):
        (settled,) = labeller.push(np.array([1.0, 1.0, 1.0]), number / RATE).settled
        assert 0.0 <= settled[0].confidence <= 1.0


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


def test_a_restart_ends_the_step_that_is_open_and_begins_it_anew_if_it_goes_on() -> None:
    steps = (1, 2, 0)
    labeller = make_labeller(steps, lag_s=1.0)
    before = show(labeller, steps, [1])
    labeller.restart()
    after = show(labeller, steps, [0, 2], begin=15)  # step 1 was over, though some of its labels settle now
    last, events = labeller.finish()
    found = [event for one in (*before, *after, last) for _, each in one.settled for event in each] + list(events)
    assert [(event.step, event.state) for event in found] == [
        (step, state) for step in (1, 2) for state in ("started", "confirmed", "ended")
    ]
    labeller = make_labeller(steps, lag_s=1.0)
    before = show(labeller, steps, [1])
    labeller.restart()
    after = show(labeller, steps, [1], begin=15)
    states = [event.state for one in (*before, *after) for _, each in one.settled for event in each]
    assert states == ["started", "confirmed", "ended", "started", "confirmed"]


def test_labels_of_frames_before_a_restart_stay_what_they_were() -> None:
    """Histories forget them, and what is done afterwards says nothing about them."""
    steps = (1, 2, 0, -1)
    labeller = make_labeller(steps, lag_s=2.0)
    before = show(labeller, steps, [1])
    labeller.restart()
    after = show(labeller, steps, [2], begin=15)
    settled = [label for one in (*before, *after, labeller.finish()[0]) for label, _ in one.settled]
    assert [label.step for label in settled if label.at < 2.9] == [1] * 15


def test_frames_that_histories_remember_no_more_are_not_held_to_them() -> None:
    """Their ticks are gone: what the oldest tick that is left holds for impossible says nothing about them."""
    steps = (1, 2, 0, -1)
    labeller = make_labeller(steps, lag_s=40.0, frames=600)
    seen = show(labeller, steps, [1] * 20 + [2] * 20)
    settled = [label for one in (*seen, labeller.finish()[0]) for label, _ in one.settled]
    assert {label.step for label in settled if label.at < 55} == {1}
    assert {label.step for label in settled if label.at > 65} == {2}


def test_a_restart_just_before_the_end_leaves_nothing_done() -> None:
    steps = (1, 2, 0)
    labeller = make_labeller(steps)
    show(labeller, steps, [1])
    labeller.restart()
    last, _ = labeller.finish()
    assert last.belief is not None
    assert (last.belief.visits, last.belief.chance_lacking(1)) == ((), 1.0)


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


def test_certainty_is_how_much_frames_belong_to_their_likeliest_known_label_since_the_restart() -> None:
    steps = (1, 2, 0, -1)
    labeller = make_labeller(steps)
    for number, row in enumerate([[0.1, 0.9, 1.0, 1.0], [0.7, 0.9, 1.0, 0.2]]):
        labeller.push(np.array(row), number / RATE)
    assert labeller.belief().certainty == pytest.approx((0.9 + 0.3) / 2)
    labeller.restart()
    labeller.push(np.array([0.6, 0.5, 0.9, 1.0]), 2 / RATE)
    assert labeller.belief().certainty == pytest.approx(0.5)


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
