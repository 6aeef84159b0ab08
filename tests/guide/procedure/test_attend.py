"""What each action does, on a small task whose steps 1, 2, 3, 4 follow each other."""

from dataclasses import replace

import pytest

from guide.domain import Alert, Belief, KeyStep, Ordering, Question, Resolution, Segment
from guide.errors import InputError
from guide.procedure import attended
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.model import Procedure, Rules
from guide.procedure.orders import Orders

STEPS = tuple(KeyStep(number, name) for number, name in enumerate(("cut", "fold", "glue", "dry"), 1))
EDGES = ((1, 2), (2, 3), (3, 4), (1, 3))
TASK = Procedure(
    STEPS,
    6,
    orderings=(Ordering((1, 2, 3, 4), 6),),
    orders=Orders(((1, 2, 3, 4),) * 6),
    rules=Rules(
        EDGES,
        required=(1, 2, 3, 4),
        single=(1, 2, 3, 4),
        shortest_s=((2, 2.0),),
        longest_s=((2, 9.0),),
        patience_s=30.0,
    ),
)


@pytest.fixture
def tracker() -> AttendedTracker:
    return AttendedTracker(TASK)


def kinds(said: tuple[object, ...]) -> list[str]:
    return [one.kind if isinstance(one, Alert) else type(one).__name__.lower() for one in said]


def skip_two(tracker: AttendedTracker) -> int:
    """Does 1 and 3, and gives the number of the alert that 2 was missed."""
    tracker.push(1, 0.0)
    (alert,) = tracker.push(3, 5.0)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step) == ("missed", 2)
    return alert.id


def test_acknowledging_changes_nothing_but_is_known(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    before = tracker.attended
    assert tracker.act(Action("acknowledge", 6.0, target=number)) == ()
    assert tracker.attended == before
    assert list(tracker.acknowledged) == [number]
    tracker.act(Action("undo", 7.0, target=1))
    assert list(tracker.acknowledged) == []


def test_it_was_done_withdraws_and_counts_as_done(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    assert tracker.act(Action("was_done", 6.0, target=number)) == (Resolution(number, 5.0, is_withdrawn=True),)
    assert set(tracker.progress.done) == {1, 2, 3}
    tracker.push(4, 8.0)
    assert tracker.finish(9.0) == ()


def test_a_false_alarm_is_not_told_of_again_even_at_the_end(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    assert kinds(tracker.act(Action("false_alarm", 6.0, target=number))) == ["resolution"]
    tracker.push(4, 8.0)
    assert tracker.finish(9.0) == ()
    assert 2 not in tracker.progress.done


def test_a_snoozed_alert_comes_again_under_its_number_when_its_time_is_over(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    assert tracker.act(Action("snooze", 6.0, target=number, snooze_s=10.0)) == ()
    assert list(tracker.snoozed) == [number]
    assert tracker.tick(14.0) == ()
    assert [(one.id, kinds((one,))) for one in tracker.tick(15.0)] == [(number, ["missed"])]
    assert tracker.tick(16.0) == ()
    assert list(tracker.snoozed) == []


def test_a_snooze_ends_with_the_session_and_the_graver_word_comes_then(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    tracker.act(Action("snooze", 6.0, target=number, snooze_s=1000.0))
    tracker.push(4, 8.0)
    (alert,) = tracker.finish(9.0)
    assert isinstance(alert, Alert)
    assert (alert.id, alert.kind, alert.severity) == (number, "missed", "alarm")


def test_a_snoozed_alert_that_settles_itself_is_resolved_at_once(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    tracker.act(Action("snooze", 6.0, target=number, snooze_s=1000.0))
    assert tracker.push(2, 8.0)[0] == Resolution(number, 8.0, is_withdrawn=True)


def test_marks_of_a_person_count(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.act(Action("mark_done", 1.0, step=2))
    assert tracker.push(3, 5.0) == ()
    tracker.act(Action("not_yet", 6.0, step=2))
    assert set(tracker.progress.lacking) == {2, 4}
    tracker.push(4, 8.0)
    assert kinds(tracker.finish(9.0)) == ["missed"]


def test_next_goes_on_without_calling_the_step_too_short(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.push(2, 5.0)
    assert tracker.act(Action("next", 5.5)) == ()
    assert tracker.progress.current == 3
    assert tracker.push(3, 7.0) == ()  # what is seen later is the same visit
    assert [visit.step for visit in tracker.state.visits] == [1, 2, 3]


def test_next_at_the_end_changes_nothing(tracker: AttendedTracker) -> None:
    for step in (1, 2, 3, 4):
        tracker.push(step, 10.0 * step)
    before = tracker.attended
    assert tracker.act(Action("next", 50.0)) == ()
    assert tracker.attended == before


def test_previous_takes_back_the_step_and_what_was_said_of_it(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    assert tracker.act(Action("previous", 6.0)) == (Resolution(number, 5.0, is_withdrawn=True),)
    assert (tracker.progress.current, tracker.progress.done) == (1, (1,))
    assert tracker.push(2, 7.0) == ()
    tracker.act(Action("previous", 8.0))
    tracker.act(Action("previous", 9.0))
    tracker.act(Action("previous", 10.0))
    assert tracker.progress.done == ()


def test_restart_settles_all_and_begins_with_nothing_done(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)  # the last of them, step 3, is still going on
    resolved = tracker.act(Action("restart", 21.0))
    assert number in [one.id for one in resolved if isinstance(one, Resolution)]
    assert (tracker.progress.done, tracker.progress.current, tracker.standing) == ((), None, ())
    assert tracker.end(3, 22.0) == ()
    assert [tracker.push(step, at) for step, at in ((1, 23.0), (2, 28.0))] == [(), ()]
    assert tracker.progress.done == (1, 2)


def test_nothing_is_said_in_a_pause_and_its_time_does_not_count(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.push(2, 5.0)
    tracker.act(Action("pause", 6.0))
    assert tracker.tick(500.0) == ()
    assert tracker.act(Action("resume", 500.0)) == ()
    assert tracker.tick(503.0) == ()
    assert tracker.state.busy_s(503.0) == 3.0  # an action counts as of the newest label, 5.0
    assert kinds(tracker.tick(520.0)) == ["too_long"]


def test_a_step_that_a_pause_cut_into_was_not_too_short(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.act(Action("pause", 1.0))
    tracker.push(2, 10.0)
    tracker.act(Action("resume", 20.0))
    assert tracker.push(3, 20.5) == ()  # of step 2 half a second was seen, the rest fell into the pause
    assert kinds(tracker.push(2, 30.0)) == ["repeated"]
    assert kinds(tracker.push(4, 31.0)) == ["too_short"]


def test_a_step_that_ended_in_the_pause_was_not_too_short_either(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.push(2, 5.0)
    tracker.tick(5.5)
    tracker.act(Action("pause", 5.5))
    tracker.push(3, 10.0)
    assert tracker.act(Action("resume", 20.0)) == ()
    assert tracker.progress.current == 3


def test_what_is_being_done_after_a_pause_is_news(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.act(Action("pause", 1.0))
    assert tracker.push(3, 10.0) == ()
    assert kinds(tracker.act(Action("resume", 12.0))) == ["missed"]
    assert tracker.progress.current == 3


def test_a_step_that_a_look_back_had_passed_is_not_begun_again_after_a_pause(tracker: AttendedTracker) -> None:
    """Labels wait to settle: they still say 1 when the look back is at 2, which has just begun."""
    tracker.push(1, 0.0)
    tracker.tick(10.0)
    absent = tuple((step, 1.0) for step in (3, 4))
    tracker.review(Belief(12.0, (Segment(1, 0.0, 9.0), Segment(2, 10.0, 12.0)), absent))
    tracker.act(Action("pause", 12.0))
    tracker.act(Action("resume", 12.2))
    assert [visit.step for visit in tracker.state.visits] == [1, 2]
    assert tracker.push(2, 12.5, start=10.0) == ()
    tracker.tick(15.0)
    assert tracker.state.busy_s(15.0) == 5.0


def test_a_label_that_comes_in_a_pause_is_news_even_if_it_is_older_than_the_look_back(tracker: AttendedTracker) -> None:
    """The look back does not know of 2 yet, which has just begun; its label settles in the pause."""
    tracker.push(1, 0.0)
    tracker.tick(10.0)
    tracker.review(Belief(12.0, (Segment(1, 0.0, 12.0),), tuple((step, 1.0) for step in (2, 3, 4))))
    tracker.act(Action("pause", 12.0))
    tracker.push(2, 11.5, start=10.8)
    tracker.act(Action("resume", 30.0))
    assert tracker.progress.current == 2
    belief = Belief(
        39.0, (Segment(1, 0.0, 10.8), Segment(2, 10.8, 35.0), Segment(3, 35.0, 39.0)), tuple({4: 1.0}.items())
    )
    assert tracker.review(belief) == ()
    assert [visit.step for visit in tracker.state.visits] == [1, 2, 3]


def test_a_pause_that_nobody_ends_ends_with_the_session(tracker: AttendedTracker) -> None:
    tracker.push(1, 0.0)
    tracker.act(Action("pause", 1.0))
    assert kinds(tracker.finish(10.0)) == ["missed", "missed", "missed"]


def ask_of_two() -> tuple[AttendedTracker, Question]:
    """Does 1 and 3 of a task in which 2 is only asked about."""
    rules = replace(TASK.rules, required=(1, 3, 4), asked_steps=(2,))
    tracker = AttendedTracker(replace(TASK, rules=rules))
    tracker.push(1, 0.0)
    (question,) = tracker.push(3, 5.0)
    assert isinstance(question, Question)
    return tracker, question


def test_a_yes_to_did_you_do_it_counts_as_done() -> None:
    tracker, question = ask_of_two()
    assert tracker.act(Action("answer", 6.0, target=question.id, answer=True)) == (
        Resolution(question.id, 5.0, is_withdrawn=True),
    )
    assert 2 in tracker.progress.done


def test_a_no_to_did_you_do_it_is_an_alert() -> None:
    tracker, question = ask_of_two()
    said = tracker.act(Action("answer", 6.0, target=question.id, answer=False))
    assert kinds(said) == ["resolution", "missed"]
    assert kinds(tracker.push(2, 8.0)) == ["resolution", "out_of_order"]  # now it is certain that 3 came too early


def test_an_alert_cannot_be_answered_and_unknown_numbers_are_refused(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    for action in (
        Action("answer", target=number, answer=True),
        Action("acknowledge", target=99),
        Action("mark_done", step=9),
        Action("undo", target=1),
    ):
        with pytest.raises(InputError, match=r"\.$"):
            tracker.act(action)
    assert tracker.actions == ()


def test_actions_after_the_end_still_count(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    tracker.push(4, 8.0)
    tracker.finish(9.0)
    assert kinds(tracker.act(Action("was_done", 20.0, target=number))) == ["resolution"]
    assert tracker.standing == ()
    assert kinds(tracker.act(Action("undo", 21.0, target=1))) == ["missed"]
    for action in (Action("restart"), Action("next"), Action("previous")):
        assert tracker.act(action) == ()


def test_what_lies_too_far_back_cannot_be_undone(tracker: AttendedTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attended, "MOST_ENTRIES", 10)
    tracker.act(Action("mark_done", 0.0, step=1))
    for second in range(20):
        tracker.tick(float(second))
    with pytest.raises(InputError, match="too long ago"):
        tracker.act(Action("undo", target=1))
    assert tracker.progress.done == (1,)


def test_nobody_is_sent_back_to_a_step_whose_absence_was_called_a_false_alarm(tracker: AttendedTracker) -> None:
    number = skip_two(tracker)
    assert tracker.progress.next_steps[0].is_missed
    tracker.act(Action("false_alarm", 6.0, target=number))
    belief = Belief(8.0, (Segment(1, 0.0, 4.0), Segment(3, 5.0, 8.0)), lacking=((2, 1.0), (4, 1.0)))
    assert tracker.review(belief) == ()  # the look back holds it as missed, and does not say so
    assert not any(one.is_missed for one in tracker.progress.next_steps)
    tracker.act(Action("next", 9.0))
    assert tracker.state.current == 4
    tracker.act(Action("undo", 10.0, target=2))
    tracker.act(Action("undo", 10.0, target=1))
    assert [one.step for one in tracker.progress.next_steps if one.is_missed] == [2]
