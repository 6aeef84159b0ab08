import time
from dataclasses import replace

import pytest

from guide.domain import UNKNOWN, Alert, Guidance, KeyStep, Question, Resolution, Segment
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure, Rules, StepStatistics
from guide.procedure.replay import standing_alerts
from guide.procedure.tracker import Tracker

STEPS = [KeyStep(number, name) for number, name in enumerate(["base", "board", "cover", "screws", "label"], 1)]


def recording(*steps: int) -> list[Segment]:
    return [Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps)]


@pytest.fixture(scope="module")
def task() -> Procedure:
    """Five steps always done in order, each once, 8 s long, 2 s apart, in 12 demonstrations."""
    return learn_procedure([recording(1, 2, 3, 4, 5)] * 12, STEPS)


def feed(procedure: Procedure, *steps: int) -> list[Guidance]:
    tracker = Tracker(procedure)
    said = [item for at, step in enumerate(steps) for item in tracker.push(step, 10.0 * at)]
    return [*said, *tracker.finish()]


def kinds(said: list[Guidance]) -> list[tuple[str, int, int | None]]:
    return [(alert.kind, alert.step, alert.before) for alert in standing_alerts(said)]


@pytest.mark.parametrize(
    ("steps", "standing"),
    [
        pytest.param((1, 2, 3, 4, 5), [], id="clean"),
        pytest.param((2, 3, 4, 5), [("missed", 1, None)], id="first step left out"),
        pytest.param((1, 2, 4, 5), [("missed", 3, None)], id="left out: one alert, not one per successor"),
        pytest.param((1, 2, 3, 4), [("missed", 5, None)], id="last step left out"),
        pytest.param((1, 4, 5), [("missed", 2, None), ("missed", 3, None)], id="two left out"),
        pytest.param((1, 3, 2, 4, 5), [("out_of_order", 3, 2)], id="neighbours exchanged"),
        pytest.param((1, 5, 3, 4, 2), [("out_of_order", 5, 2)], id="far steps exchanged"),
        pytest.param((1, 5, 2, 3, 4), [("out_of_order", 5, 2)], id="one step moved ahead"),
        pytest.param((2, 3, 4, 5, 1), [("out_of_order", 2, 1)], id="one step done last"),
        pytest.param((2, 1, 3, 5, 4), [("out_of_order", 2, 1), ("out_of_order", 5, 4)], id="two exchanges"),
        pytest.param((1, 2, 3, 2, 4, 5), [("repeated", 2, None)], id="repeated"),
        pytest.param((1, 2, 2, 3, 4, 5), [], id="going on with a step is no repeat"),
        pytest.param((1, 2, UNKNOWN, 3, 4, 5), [("unknown", UNKNOWN, None)], id="unknown activity"),
        pytest.param((1, 2, UNKNOWN, 2, 3, 4, 5), [("unknown", UNKNOWN, None)], id="a strange pause is no repeat"),
        pytest.param((), [("missed", step, None) for step in range(1, 6)], id="nothing done"),
    ],
)
def test_one_fault_one_alert(
    task: Procedure, steps: tuple[int, ...], standing: list[tuple[str, int, int | None]]
) -> None:
    assert kinds(feed(task, *steps)) == standing


def test_a_soft_missed_is_withdrawn_and_out_of_order_takes_its_place(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    (soft,) = tracker.push(3, 10.0)
    assert isinstance(soft, Alert)
    assert (soft.kind, soft.step, soft.severity) == ("missed", 2, "warning")
    assert "came first in 12 of 12 demonstrations" in soft.evidence
    withdrawn, order = tracker.push(2, 20.0)
    assert withdrawn == Resolution(soft.id, 20.0, is_withdrawn=True)
    assert isinstance(order, Alert)
    assert (order.kind, order.step, order.before, order.severity) == ("out_of_order", 3, 2, "alarm")
    assert "came first in 12 of 12 demonstrations" in order.evidence
    assert order.id > soft.id


def test_at_the_end_a_soft_missed_becomes_an_alarm_under_its_own_id(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    (soft,) = tracker.push(3, 10.0)
    tracker.push(4, 20.0)
    tracker.push(5, 30.0)
    (sure,) = tracker.finish(40.0)
    assert isinstance(soft, Alert)
    assert isinstance(sure, Alert)
    assert (sure.id, sure.kind, sure.step, sure.severity, sure.at) == (soft.id, "missed", 2, "alarm", 40.0)
    assert tracker.finish() == ()
    assert tracker.push(2, 50.0) == ()


def test_doing_a_step_again_that_was_too_early_puts_it_right(task: Procedure) -> None:
    tracker = Tracker(task)
    said = [item for at, step in enumerate((1, 3, 2, 3)) for item in tracker.push(step, float(at))]
    last = said[-1]
    assert isinstance(last, Resolution)
    assert not last.is_withdrawn
    assert not any(isinstance(item, Alert) and item.kind == "repeated" for item in said)


def test_optional_and_repeatable_steps_are_let_off() -> None:
    steps = [replace(step, is_optional=step.number == 2, is_repeatable=step.number == 2) for step in STEPS]
    task = learn_procedure([recording(1, 2, 3, 4, 5)] * 12, steps)
    assert kinds(feed(task, 1, 3, 4, 5)) == []
    assert kinds(feed(task, 1, 2, 3, 2, 4, 5)) == []
    assert kinds(feed(task, 1, 3, 2, 4, 5)) == [("out_of_order", 3, 2)]  # optional, but not at any time


def test_too_long_is_told_once_while_it_runs_and_resolves(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    assert tracker.tick(18.6) == ()
    (alert,) = tracker.tick(18.7)  # twice the longest of 8 s, and a sixth more for only 12 demonstrations
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step) == ("too_long", 1)
    assert "8.0 to 8.0 s in the demonstrations" in alert.evidence
    assert tracker.tick(19.0) == ()
    assert tracker.end(1, 20.0) == (Resolution(alert.id, 20.0, is_withdrawn=False),)


def test_a_pause_does_not_count_as_time_spent(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    tracker.end(1, 8.0)
    tracker.push(1, 20.0)
    assert tracker.tick(30.0) == ()
    assert [item.kind for item in tracker.tick(31.0) if isinstance(item, Alert)] == ["too_long"]


def test_too_short_is_known_when_the_next_step_closes_it(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    assert tracker.end(1, 3.0) == ()
    (alert,) = tracker.push(2, 10.0)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step, alert.severity) == ("too_short", 1, "info")


def test_the_start_and_not_the_confirmation_counts_for_durations(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, at=4.0, start=0.0)
    tracker.end(1, at=7.0, end=5.0)
    assert tracker.state.visits[-1].busy_s == 5.0


def test_stalled_until_the_next_step(task: Procedure) -> None:
    tracker = Tracker(task)
    assert tracker.tick(100.0) == ()  # not begun
    tracker.push(1, 100.0)
    tracker.end(1, 108.0)
    assert tracker.tick(138.0) == ()
    (alert,) = tracker.tick(138.5)  # patience is at least 30 s
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step) == ("stalled", 2)
    assert tracker.push(2, 140.0) == (Resolution(alert.id, 140.0, is_withdrawn=False),)


def test_unknown_activity_is_told_once_while_it_lasts_and_anew_when_it_comes_back(task: Procedure) -> None:
    tracker = Tracker(task)
    assert len(tracker.push(UNKNOWN, 0.0)) == 1
    assert tracker.push(UNKNOWN, 5.0) == ()
    assert len(tracker.end(UNKNOWN, 10.0)) == 1
    assert len(tracker.push(UNKNOWN, 20.0)) == 1


def test_a_step_that_was_only_asked_about_and_comes_too_late_is_out_of_order(task: Procedure) -> None:
    """Whether it had to be done was doubtful; that it comes first where it is done is not."""
    rules = replace(task.rules, required=tuple(n for n in task.rules.required if n != 2), asked_steps=(2,))
    tracker = Tracker(replace(task, rules=rules))
    tracker.push(1, 0.0)
    (question,) = tracker.push(3, 10.0)
    assert isinstance(question, Question)
    assert (question.step, question.text) == (2, 'Did you do "board"?')
    closed, alert = tracker.push(2, 20.0)
    assert closed == Resolution(question.id, 20.0, is_withdrawn=True)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step, alert.before) == ("out_of_order", 3, 2)


def test_after_one_demonstration_it_asks_at_most_three_times() -> None:
    said = feed(learn_procedure([recording(1, 2, 3, 4, 5)], STEPS), 5)
    assert [item for item in said if isinstance(item, Alert)] == []
    assert sum(isinstance(item, Question) for item in said) == 3


def test_a_person_may_overrule_and_undo(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    (soft,) = tracker.push(3, 10.0)
    before = tracker.state
    assert tracker.mark(2, 12.0, is_done=True) == (Resolution(soft.id, 12.0, is_withdrawn=True),)
    assert tracker.progress.done == (1, 3, 2)
    tracker.mark(2, 13.0, is_done=False)
    assert tracker.progress.lacking == (2, 4, 5)
    tracker.state = before
    assert kinds([soft, *tracker.push(2, 20.0)]) == [("out_of_order", 3, 2)]


def test_time_that_runs_back_counts_as_now(task: Procedure) -> None:
    tracker = Tracker(task)
    tracker.push(1, 100.0)
    tracker.push(2, 50.0)
    assert tracker.state.at == 100.0
    assert tracker.progress.done == (1, 2)


@pytest.fixture(scope="module")
def products() -> Procedure:
    """Two products: 1 then 2, or 3; all end with 4, which needs either 2 or 3."""
    return learn_procedure([recording(1, 2, 4)] * 8 + [recording(3, 4)] * 8, STEPS[:4], are_true=True)


def test_a_step_without_what_it_needs_is_told_when_it_begins(products: Procedure) -> None:
    (early,) = Tracker(products).push(2, 0.0)
    assert isinstance(early, Alert)
    assert (early.kind, early.step, early.before, early.severity) == ("out_of_order", 2, 1, "warning")
    assert '"base" came first in 8 of 8 that did "board"' in early.evidence


def test_what_is_needed_and_comes_late_makes_the_alert_graver_under_its_id(products: Procedure) -> None:
    tracker = Tracker(products)
    (early,) = tracker.push(2, 0.0)
    (graver,) = tracker.push(1, 10.0)
    assert isinstance(early, Alert)
    assert isinstance(graver, Alert)
    assert (graver.id, graver.kind, graver.severity) == (early.id, "out_of_order", "alarm")
    assert kinds([early, graver, *tracker.push(4, 20.0), *tracker.finish()]) == [("out_of_order", 2, 1)]


def test_what_is_needed_and_never_comes_is_one_missed_step(products: Procedure) -> None:
    assert kinds(feed(products, 2, 4)) == [("missed", 1, None)]


def test_either_of_two_steps_will_do(products: Procedure) -> None:
    tracker = Tracker(products)
    (alert,) = tracker.push(4, 0.0)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step) == ("out_of_order", 4)
    assert alert.before in (1, 2, 3)
    assert "came first in 16 of 16" in alert.evidence
    assert kinds(feed(products, 3, 4)) == kinds(feed(products, 1, 2, 4)) == []


def test_a_step_that_no_demonstration_holds_is_of_no_variant() -> None:
    task = learn_procedure([recording(1, 2)] * 8 + [recording(3, 2)] * 8, STEPS[:4], are_true=True)
    tracker = Tracker(task)
    tracker.push(1, 0.0)
    assert {alert.kind for alert in tracker.push(4, 5.0) if isinstance(alert, Alert)} <= {"unknown"}


def test_a_step_of_another_variant_is_told_as_such(products: Procedure) -> None:
    tracker = Tracker(products)
    assert tracker.push(3, 0.0) == ()
    (alert,) = tracker.push(1, 10.0)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step, alert.before) == ("out_of_order", 1, None)
    assert "0 of 8 demonstrations" in alert.evidence


def test_an_event_is_judged_in_a_millisecond_after_many_long_demonstrations() -> None:
    orders = [[*range(1, 31), *(range(31, 61) if number % 2 else range(60, 30, -1))] for number in range(200)]
    began = time.process_time()
    task = learn_procedure([recording(*order) for order in orders], are_true=True)
    assert time.process_time() - began < 10
    tracker = Tracker(task)
    began = time.process_time()
    for place, step in enumerate(orders[0]):
        tracker.push(step, 10.0 * place)
    assert (time.process_time() - began) / 60 < 0.005, "several times the aim: other work may share the machine"


@pytest.fixture(scope="module")
def rounds() -> Procedure:
    """In 12 demonstrations board and cover come always twice, the label one to three times."""
    shown = [recording(1, 2, 3, 2, 3, 5), recording(1, 5, 2, 3, 2, 3, 5), recording(1, 5, 2, 5, 3, 2, 5, 3)]
    return learn_procedure(shown * 4, STEPS)


@pytest.mark.parametrize(
    ("steps", "standing"),
    [
        pytest.param((1, 2, 3, 5, 2, 3), [], id="clean"),
        pytest.param((1, 2, 3, 5, 3), [("missed", 2, None)], id="once too seldom"),
        pytest.param((1, 2, 3, 2, 3, 2, 5), [("repeated", 2, None)], id="once too often"),
        pytest.param((1, 2, 3, 5, 2, 5, 3, 5, 1, 5), [("repeated", 1, None)], id="the label as often as one likes"),
        pytest.param((1, 2, 3, 2, 3), [("missed", 5, None)], id="but once at least"),
        pytest.param((1, 5), [("missed", 2, None), ("missed", 3, None)], id="never, which is one alert a step"),
    ],
)
def test_a_visit_too_few_or_too_many_is_told_where_all_visit_a_step_equally_often(
    rounds: Procedure, steps: tuple[int, ...], standing: list[tuple[str, int, int | None]]
) -> None:
    assert kinds(feed(rounds, *steps)) == standing


def test_words_on_visits_say_how_many_there_are(rounds: Procedure) -> None:
    few, many = (standing_alerts(feed(rounds, *steps)) for steps in ((1, 2, 3, 5, 3), (1, 2, 3, 2, 3, 2, 5)))
    assert [one.evidence for one in few] == ["seen once by the end: 2 times in each of 12 demonstrations"]
    assert [one.evidence for one in many] == ["done 3 times so far; 2 times in each of 12 demonstrations"]


def test_words_on_visits_count_only_the_demonstrations_that_did_so() -> None:
    """A step that some leave out, and one that somebody came back to, though the rule holds."""
    lasted = (1.0, 1.0, 2.0, 3.0, 3.0)
    statistics = (
        StepStatistics(2, 9, 9, 2, lasted, visits=(0, 9)),
        StepStatistics(3, 12, 1, 2, lasted, visits=(11, 1)),
    )
    task = Procedure(tuple(STEPS), 12, statistics=statistics, rules=Rules(single=(2, 3), is_unknown_flagged=False))
    told = {one.step: one.evidence for one in standing_alerts(feed(task, 1, 2, 3, 2, 3, 2))}
    assert told == {
        2: "done 3 times so far; 2 times in 9 of 12 demonstrations",
        3: "done 2 times so far; at most once in 11 of 12 demonstrations",
    }
