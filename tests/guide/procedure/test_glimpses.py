"""A step that showed clearly but was never confirmed: not called lacking, and not called done."""

from __future__ import annotations

from guide.domain import Alert, Guidance, KeyStep, Resolution
from guide.procedure.model import Procedure, Rules
from guide.procedure.replay import standing_alerts
from guide.procedure.tracker import Tracker

STEPS = (KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue"))
TASK = Procedure(STEPS, 4, rules=Rules(edges=((1, 2), (1, 3), (2, 3)), required=(1, 2, 3), single=(1, 2, 3)))


def kinds(said: list[Guidance]) -> list[tuple[str, int]]:
    return [(alert.kind, alert.step) for alert in standing_alerts(said)]


def test_a_glimpsed_step_is_not_missed_at_the_next() -> None:
    tracker = Tracker(TASK)
    said = [*tracker.push(1, 1.0), *tracker.glimpse(2, 4.0), *tracker.push(3, 6.0), *tracker.finish(9.0)]
    assert kinds(said) == []


def test_without_the_glimpse_it_is() -> None:
    tracker = Tracker(TASK)
    assert kinds([*tracker.push(1, 1.0), *tracker.push(3, 6.0), *tracker.finish(9.0)]) == [("missed", 2)]


def test_a_glimpse_after_the_successor_withdraws_the_alert_at_the_end_only() -> None:
    tracker = Tracker(TASK)
    said = [*tracker.push(1, 1.0), *tracker.push(3, 6.0), *tracker.glimpse(2, 8.0)]
    assert [type(item) for item in said] == [Alert]
    said += tracker.finish(9.0)
    assert isinstance(said[-1], Resolution)
    assert said[-1].is_withdrawn
    assert kinds(said) == []


def test_a_step_confirmed_after_its_successor_is_out_of_order_even_if_glimpsed_just_before() -> None:
    tracker = Tracker(TASK)
    said = [*tracker.push(1, 1.0), *tracker.push(3, 6.0, start=5.0), *tracker.glimpse(2, 8.0), *tracker.push(2, 8.5)]
    assert kinds(said) == [("out_of_order", 3)]


def test_a_step_glimpsed_before_its_successor_began_is_in_order() -> None:
    tracker = Tracker(TASK)
    said = [*tracker.push(1, 1.0), *tracker.glimpse(2, 3.0), *tracker.push(3, 6.0, start=5.0), *tracker.push(2, 8.0)]
    assert kinds(said) == []


def test_glimpses_run_ahead_of_the_labels_without_moving_the_clock() -> None:
    tracker = Tracker(TASK)
    tracker.glimpse(1, 7.0)
    assert tracker.state.at == 0.0
