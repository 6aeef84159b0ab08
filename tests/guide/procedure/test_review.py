"""A look back at the history takes the place of what was thought before, and words follow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Alert, Belief, Guidance, KeyStep, Question, Resolution, Segment
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.events import Confirmed
from guide.procedure.model import Procedure, Rules, StepStatistics
from guide.procedure.orders import Orders
from guide.procedure.replay import standing_alerts
from guide.procedure.tracker import Tracker

STEPS = tuple(KeyStep(number, name) for number, name in enumerate(("lay", "open", "fit", "screw", "close"), 1))
RULES = Rules(edges=((1, 2), (2, 3), (3, 4), (4, 5)), required=(1, 2, 3, 4, 5), single=(1, 2, 3, 4, 5))
TASK = Procedure(STEPS, 8, rules=RULES)


def belief(
    steps: Sequence[int],
    lacking: dict[int, float] | None = None,
    again: dict[int, float] | None = None,
    swapped: dict[tuple[int, int], float] | None = None,
) -> Belief:
    """The histories that did these steps for 4 s each, certain but where a chance is given."""
    visits = tuple(Segment(step, 4.0 * place, 4.0 * place + 4) for place, step in enumerate(steps))
    missing = {step: float(step not in steps) for step in range(1, 6)} | (lacking or {})
    twice = {step: float(steps.count(step) > 1) for step in range(1, 6)} | (again or {})
    order = list(dict.fromkeys(steps))
    pairs = {(a, b): 1.0 for place, a in enumerate(order) for b in order[:place] if a < b} | (swapped or {})
    return Belief(4.0 * len(steps), visits, tuple(missing.items()), tuple(twice.items()), tuple(pairs.items()))


def kinds(said: Sequence[Guidance]) -> list[tuple[str, int]]:
    return [(one.kind, one.step) for one in said if isinstance(one, Alert)]


def test_a_lacking_step_is_told_when_its_successor_is_done_and_stands_at_the_end() -> None:
    tracker = Tracker(TASK)
    assert tracker.review(belief([1])) == ()
    assert kinds(tracker.review(belief([1, 3]))) == [("missed", 2)]
    said = tracker.finish(20.0)
    assert ("missed", 2) in kinds(said)
    assert all(one.severity == "alarm" for one in said if isinstance(one, Alert))


def test_what_no_longer_looks_so_is_withdrawn() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1, 3]))
    (said,) = tracker.review(belief([1, 2, 3]))
    assert isinstance(said, Resolution)
    assert said.is_withdrawn


def test_a_step_done_later_turns_missed_into_out_of_order() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1, 3]))
    said = tracker.review(belief([1, 3, 2]))
    assert [type(one) for one in said] == [Resolution, Alert]
    assert isinstance(said[1], Alert)
    assert (said[1].kind, said[1].step, said[1].before) == ("out_of_order", 3, 2)


@pytest.mark.parametrize(
    ("chance", "expected"), [(0.9, [Alert]), (0.5, [Question]), (0.2, [])], ids=["sure", "unsure", "unlikely"]
)
def test_a_doubtful_finding_becomes_a_question_or_nothing(chance: float, expected: list[type]) -> None:
    said = Tracker(TASK).review(belief([1, 3], lacking={2: chance}))
    assert [type(one) for one in said] == expected


def test_a_session_that_is_hardly_recognised_is_asked_and_not_warned() -> None:
    task = replace(TASK, rules=replace(RULES, least_certainty=0.5))
    told = {certainty: Tracker(task).review(replace(belief([1, 3]), certainty=certainty)) for certainty in (0.4, 0.6)}
    assert [type(one) for one in told[0.4]] == [Question]
    assert [type(one) for one in told[0.6]] == [Alert]


def test_an_alert_stands_until_it_has_become_improbable() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1, 2, 1], again={1: 0.7}))
    assert tracker.review(belief([1, 2, 1], again={1: 0.45})) == ()
    (said,) = tracker.review(belief([1, 2, 1], again={1: 0.1}))
    assert isinstance(said, Resolution)
    assert said.is_withdrawn
    assert kinds(tracker.review(belief([1, 2, 1], again={1: 0.9}))) == [
        ("repeated", 1)
    ]  # withdrawn is as if never said


def test_the_same_look_back_says_nothing_new() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1, 3]))
    assert tracker.review(belief([1, 3])) == ()


def test_the_second_of_two_usual_visits_puts_nothing_right() -> None:
    seen = StepStatistics(2, 8, 8, 2, (1.0, 2.0, 3.0, 4.0, 5.0), visits=(0, 8))
    tracker = Tracker(replace(TASK, statistics=(seen,)))
    (told,) = tracker.review(belief([2, 1]))
    assert isinstance(told, Alert)
    assert (told.kind, told.step, told.before) == ("out_of_order", 2, 1)
    assert tracker.review(belief([2, 1, 2])) == ()
    (said,) = tracker.review(belief([2, 1, 2, 3, 2]))
    assert isinstance(said, Resolution)


def test_news_between_two_looks_back_raises_no_words_on_order() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1]))
    assert tracker.apply(Confirmed(4, 9.0, 1.0, 8.0)) == ()
    assert tracker.state.current == 4


def test_time_on_a_step_counts_once() -> None:
    tracker = Tracker(TASK)
    tracker.review(belief([1]))
    tracker.apply(Confirmed(1, 4.0, 1.0, 0.0))
    assert tracker.state.busy_s(4.0) == 4.0
    tracker.review(belief([1]))
    assert tracker.state.busy_s(6.0) == 6.0


def test_what_a_person_corrected_stays_so() -> None:
    tracker = AttendedTracker(TASK)
    tracker.review(belief([1, 3]))
    tracker.apply(Confirmed(3, 8.0, 1.0, 4.0))
    tracker.act(Action("previous", 8.0))
    tracker.review(belief([1, 3]))
    assert [visit.step for visit in tracker.state.visits] == [1]


def test_a_step_that_a_person_marked_is_not_lacking() -> None:
    tracker = AttendedTracker(TASK)
    tracker.act(Action("mark_done", 1.0, step=2))
    assert tracker.review(belief([1, 3])) == ()


def test_nothing_is_reviewed_while_the_session_is_paused() -> None:
    tracker = AttendedTracker(TASK)
    tracker.act(Action("pause", 1.0))
    assert tracker.review(belief([1, 3])) == ()


@given(st.lists(st.lists(st.integers(1, 5), max_size=7), max_size=5), st.lists(st.integers(1, 5), max_size=7))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_what_stands_at_the_end_depends_on_the_last_look_back_alone(before: list[list[int]], last: list[int]) -> None:
    tracker, fresh = Tracker(TASK), Tracker(TASK)
    looks = [*map(_without_pairs, before), _without_pairs(last)]
    said = [one for look in looks for one in tracker.review(belief(look))] + [*tracker.finish(99.0)]
    alone = [*fresh.review(belief(looks[-1])), *fresh.finish(99.0)]
    kinds_at_end = {(one.kind, one.step, one.before) for one in standing_alerts(said)}
    assert kinds_at_end == {(one.kind, one.step, one.before) for one in standing_alerts(alone)}


def _without_pairs(steps: Sequence[int]) -> list[int]:
    return [step for place, step in enumerate(steps) if place == 0 or step != steps[place - 1]]


TIMED = replace(TASK, rules=replace(RULES, longest_s=((1, 5.0),), patience_s=30.0))


def looked_back(at: float, *visits: tuple[int, float, float], since: float = -math.inf) -> Belief:
    """The histories of these visits, certain."""
    done = {step for step, _, _ in visits}
    lacking = tuple((step, float(step not in done)) for step in range(1, 6))
    return Belief(at, tuple(Segment(*visit) for visit in visits), lacking, since=since)


def test_too_long_ends_with_its_step_though_a_look_back_is_ahead() -> None:
    tracker = Tracker(TIMED)
    tracker.review(looked_back(1.0, (1, 0.0, 1.0)))
    tracker.push(1, 2.0, start=0.0)
    (alert,) = tracker.tick(8.0)
    tracker.review(looked_back(10.0, (1, 0.0, 9.0), (2, 9.0, 10.0)))
    (said,) = tracker.end(1, 10.0, end=9.0)
    assert isinstance(alert, Alert)
    assert isinstance(said, Resolution)
    assert (alert.kind, said.id, said.is_withdrawn) == ("too_long", alert.id, False)


def test_a_step_goes_on_after_a_look_back_took_it_for_over() -> None:
    tracker = Tracker(TIMED)
    tracker.review(looked_back(1.0, (2, 0.0, 1.0)))
    tracker.push(2, 2.0, start=0.0)
    tracker.review(looked_back(3.0, (2, 0.0, 2.5), (3, 2.5, 3.0)))
    assert tracker.state.current is None
    tracker.review(looked_back(4.0, (2, 0.0, 4.0)))
    assert tracker.state.current == 2
    assert tracker.state.busy_s(6.0) == 6.0
    assert "stalled" not in [kind for kind, _ in kinds(tracker.tick(60.0))]
    tracker.end(2, 62.0, end=61.0)
    assert tracker.state.current is None


def test_a_label_that_lags_does_not_begin_again_what_is_over() -> None:
    tracker = Tracker(TASK)
    tracker.review(looked_back(4.0, (1, 0.0, 2.5), (2, 2.5, 4.0)))
    tracker.push(1, 2.5, start=0.0)
    assert [visit.step for visit in tracker.state.visits] == [1, 2]
    tracker.end(1, 4.5, end=2.5)
    tracker.push(2, 4.6, start=2.6)
    assert ([visit.step for visit in tracker.state.visits], tracker.state.current) == ([1, 2], 2)


def test_words_never_carry_a_time_before_earlier_words() -> None:
    tracker = AttendedTracker(TIMED)
    (alert,) = tracker.review(looked_back(10.0, (1, 0.0, 5.0), (3, 5.0, 10.0)))
    tracker.push(3, 7.0, start=5.0)
    (said,) = tracker.act(Action("false_alarm", 10.5, target=1))
    assert isinstance(alert, Alert)
    assert isinstance(said, Resolution)
    assert said.at >= alert.at == 10.0


def test_what_goes_on_after_a_restart_is_one_visit() -> None:
    tracker = AttendedTracker(TASK)
    tracker.review(looked_back(3.0, (1, 0.0, 3.0)))
    tracker.push(1, 2.0, start=0.0)
    tracker.act(Action("restart", 3.0))
    tracker.end(1, 3.0, end=2.0)
    for at in (4.0, 5.0, 6.0):
        tracker.review(looked_back(at, (1, 3.2, at), since=3.0))
        tracker.push(1, at - 0.5, start=3.2)
    assert [visit.step for visit in tracker.state.visits] == [1]
    tracker.end(1, 7.0, end=6.0)
    tracker.review(looked_back(9.0, (1, 3.2, 6.0), (2, 6.0, 9.0), since=3.0))
    tracker.review(looked_back(9.5, (1, 3.2, 6.0), (2, 6.0, 9.5), since=3.0))
    assert [(visit.step, visit.busy_s) for visit in tracker.state.visits] == [(1, pytest.approx(2.8)), (2, 3.5)]


def test_a_restart_taken_back_brings_back_what_was_done_before() -> None:
    tracker = AttendedTracker(TASK)
    tracker.review(looked_back(8.0, (1, 0.0, 4.0), (2, 4.0, 8.0)))
    tracker.act(Action("restart", 8.0))
    (alert,) = tracker.review(looked_back(12.0, (3, 8.5, 12.0), since=8.0))
    assert isinstance(alert, Alert)
    (said,) = tracker.act(Action("undo", 12.0, target=1))
    assert said == Resolution(alert.id, 12.0, is_withdrawn=True)
    assert [visit.step for visit in tracker.state.visits] == [1, 2]  # what is known since is of another past
    assert tracker.review(looked_back(12.0, (1, 0.0, 4.0), (2, 4.0, 8.0), (3, 8.5, 12.0))) == ()
    assert [visit.step for visit in tracker.state.visits] == [1, 2, 3]


def test_going_back_holds_though_the_look_back_was_ahead_of_the_labels() -> None:
    tracker = AttendedTracker(TASK)
    tracker.push(1, 2.0, start=0.0)
    tracker.review(looked_back(6.0, (1, 0.0, 5.0), (2, 5.0, 6.0)))
    tracker.act(Action("previous", 6.0))
    tracker.review(looked_back(7.0, (1, 0.0, 5.0), (2, 5.0, 7.0)))
    assert [visit.step for visit in tracker.state.visits] == [1]
    said = tracker.review(looked_back(12.0, (1, 0.0, 5.0), (2, 5.0, 7.0), (3, 9.0, 12.0)))
    assert kinds(said) == [("missed", 2)]  # a person said that it was not done


def test_next_is_taken_though_the_look_back_was_ahead_of_the_labels() -> None:
    tracker = AttendedTracker(replace(TASK, orders=Orders(((1, 2, 3, 4, 5),) * 8)))
    tracker.push(1, 2.0, start=0.0)
    tracker.review(looked_back(6.0, (1, 0.0, 5.0), (2, 5.0, 6.0)))
    tracker.act(Action("next", 6.0))
    assert ([visit.step for visit in tracker.state.visits], tracker.state.current) == ([1, 2, 3], 3)


def test_what_a_person_answered_is_not_doubted_by_a_later_look_back() -> None:
    tracker = AttendedTracker(TASK)
    (question,) = tracker.review(belief([1, 3], lacking={2: 0.5}))
    assert isinstance(question, Question)
    tracker.act(Action("answer", 8.0, target=question.id, answer=False))
    assert tracker.review(belief([1, 3], lacking={2: 0.2})) == ()
    assert ("missed", 2) in [(one.kind, one.step) for one in tracker.standing if isinstance(one, Alert)]


def test_what_a_person_left_running_lasts_until_a_look_back_sees_something_else() -> None:
    """After a pause the step goes on by hand; its time must not vanish when the next one is seen to begin."""
    tracker = AttendedTracker(TASK)
    tracker.push(1, at=1.0, start=0.0)
    tracker.tick(3.0)
    tracker.act(Action("pause"))
    tracker.tick(8.0)
    tracker.act(Action("resume"))  # 3 s so far, and the 5 s of the pause count for nothing
    tracker.tick(10.0)
    histories = (Segment(1, 0.0, 12.0), Segment(2, 12.0, 13.0))
    tracker.review(Belief(13.0, histories, lacking=((1, 0.0), (2, 0.0))))
    assert [(visit.step, visit.busy_s) for visit in tracker.state.visits] == [(1, 7.0), (2, 1.0)]


@pytest.mark.parametrize(("lacking", "kind"), [(0.9, Alert), (0.5, Question), (0.2, None)])
def test_a_need_is_told_as_far_as_it_is_believed_to_lack(lacking: float, kind: type | None) -> None:
    task = Procedure((KeyStep(1, "axle"), KeyStep(2, "wheel")), 8, rules=Rules(edges=((1, 2),), needs=((1, 2),)))
    belief = Belief(10.0, (Segment(2, 0.0, 10.0),), lacking=((1, lacking), (2, 0.0)))
    said = Tracker(task).review(belief)
    assert [type(item) for item in said] == ([] if kind is None else [kind])
    assert all(item.kind == "out_of_order" and item.before == 1 for item in said if isinstance(item, Alert))


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 5), max_size=7), st.sampled_from([None, 1, 3]), st.booleans()), max_size=8
    )
)
def test_a_look_back_that_goes_on_from_the_last_says_what_a_fresh_one_says(
    looks: list[tuple[list[int], int | None, bool]],
) -> None:
    going_on, fresh = Tracker(TASK), Tracker(TASK)
    for steps, marked, is_done in looks:
        fresh.state = replace(fresh.state, judged=None)
        if marked is not None:
            assert going_on.mark(marked, going_on.state.at, is_done) == fresh.mark(marked, fresh.state.at, is_done)
        assert going_on.review(belief(steps)) == fresh.review(belief(steps))
        assert going_on.state == fresh.state


@pytest.mark.parametrize(("chance", "told"), [(0.9, [("missed", 4)]), (0.2, [])])
def test_a_visit_too_few_is_told_at_the_end_as_far_as_it_is_believed(
    chance: float, told: list[tuple[str, int]]
) -> None:
    seen = StepStatistics(4, 8, 8, 2, (1.0, 2.0, 3.0, 4.0, 5.0), visits=(0, 8))
    tracker = Tracker(replace(TASK, statistics=(seen,)))
    done = replace(belief([1, 2, 3, 4, 5]), fewer=((4, chance),))
    assert tracker.review(done) == ()
    assert kinds(tracker.finish()) == told
