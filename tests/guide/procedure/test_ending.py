"""The verdict on a session: what was done decides, not what was said of an alert."""

from __future__ import annotations

import pytest

from guide.domain import Alert, KeyStep, Question
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.ending import Ending, judge
from guide.procedure.model import Procedure, Rules

NAMES = ("cut", "fold", "glue", "press", "pack")
STEPS = tuple(KeyStep(number, name) for number, name in enumerate(NAMES, start=1))
TASK = Procedure(STEPS, 4, rules=Rules(edges=((1, 2),), required=(1, 2, 3, 4), single=(1,)))


def done(*steps: int, is_cut_off: bool = False) -> AttendedTracker:
    tracker = AttendedTracker(TASK)
    for at, step in enumerate(steps):
        tracker.push(step, float(at))
    tracker.finish(is_cut_off=is_cut_off)
    return tracker


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        ((1, 2, 3, 4), "complete", "Complete"),
        ((1, 2, 3), "not_complete", "Not complete: press missed"),
        ((1, 3), "not_complete", "Not complete: fold and press missed"),
        ((), "not_complete", "Not complete: cut, fold, glue and 1 more missed"),
        ((1, 2, 1, 3, 4), "look", "Complete, 1 thing to look at"),
        ((2, 1, 3, 1, 4), "look", "Complete, 2 things to look at"),
    ],
)
def test_the_verdict_follows_what_was_done(steps: tuple[int, ...], kind: str, words: str) -> None:
    ending = judge(done(*steps))
    assert (ending.kind, ending.words) == (kind, words)


def test_answers_change_it_only_where_they_say_what_was_done() -> None:
    tracker = done(1, 2, 3)
    [alert] = tracker.standing
    tracker.act(Action("acknowledge", target=alert.id))
    assert judge(tracker).kind == "not_complete"
    tracker.act(Action("false_alarm", target=alert.id))
    assert (tracker.standing, judge(tracker).kind) == ((), "not_complete")
    tracker.act(Action("undo", target=2))
    tracker.act(Action("was_done", target=alert.id))
    assert (judge(tracker).kind, 4 in tracker.progress.done) == ("complete", True)
    tracker.act(Action("undo", target=4))
    assert judge(tracker).words == "Not complete: press missed"


def test_what_was_acknowledged_is_no_longer_to_be_looked_at_but_is_not_forgotten() -> None:
    tracker = done(1, 2, 1, 3, 4)
    tracker.act(Action("acknowledge", target=tracker.standing[0].id))
    assert judge(tracker) == Ending("complete", "Complete, 1 alert acknowledged")


def test_a_recording_that_is_cut_off_asks_and_is_not_judged() -> None:
    tracker = done(1, 2, is_cut_off=True)
    assert not [one for one in tracker.standing if isinstance(one, Alert)]
    asked = [one for one in tracker.standing if isinstance(one, Question)]
    assert [one.step for one in asked] == [3, 4]
    assert judge(tracker, "Not judged: the recording ends early").kind == "not_judged"
    said = tracker.act(Action("answer", target=asked[0].id, answer=False))
    assert [one.kind for one in said if isinstance(one, Alert)] == ["missed"]
    tracker.act(Action("answer", target=asked[1].id, answer=True))
    assert 4 in tracker.progress.done
