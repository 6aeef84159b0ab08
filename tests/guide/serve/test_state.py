"""The state of a session: what a dashboard shows, from a session worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from guide.domain import Belief, KeyStep, Segment
from guide.networks import start_networks
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.explain import DOUBTFUL
from guide.procedure.model import Procedure, Rules
from guide.serve.closed_session import ClosedSession
from guide.serve.state import answers_object, state_object, steps_object
from guide.session import Session, follow_features
from guide.settings import LiveSettings
from tests.tiny import FEATURE_RATE, Learned


def test_a_new_session_has_nothing_behind_it(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    shown = state_object(session)
    assert (shown["step"], shown["label"], shown["timeline"], shown["alerts"]) == (None, None, [], [])
    assert shown["progress"]["share"] == 0
    assert shown["next"][0]["total"] == 3
    assert [step["step"] for step in steps_object(session.procedure)] == list(session.procedure.numbers)


def test_it_follows_the_tracker_and_is_plain_json(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings(confirm_s=0.3))
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    updates = follow_features(rows, FEATURE_RATE, session)
    for _ in range(12):
        next(updates)
    session.tracker.push(3, at=session.tracker.state.at + 1.0)
    session.act(Action("pause"))
    shown = state_object(session)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["paused"]
    assert shown["actions"][0]["kind"] == "pause"
    assert shown["timeline"][-1]["step"] in session.procedure.numbers
    assert {alert["id"] for alert in shown["alerts"]} | {one["id"] for one in shown["questions"]} == {
        one.id for one in session.tracker.standing
    }
    assert set(shown["progress"]["done"]) == set(session.tracker.progress.done)


def looked_back(session: Session, at: float, *visits: Segment) -> None:
    session.tracker.review(Belief(at, visits, lacking=tuple((step, 0.0) for step in session.procedure.numbers)))


def test_a_session_that_only_asks_says_so(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    session.procedure = replace(session.procedure, rules=replace(session.procedure.rules, least_certainty=0.5))
    assert state_object(session)["watching"] != DOUBTFUL
    session.tracker.review(Belief(3.0, certainty=0.4))
    assert state_object(session)["watching"] == DOUBTFUL


def test_a_step_that_a_look_back_sees_begin_is_starting_and_never_done(features_task: Learned) -> None:
    """Labels are two seconds late: until they confirm it the newest visit is under way, not over."""
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    session.tracker.push(1, at=1.0, start=0.0)
    session.tracker.tick(8.0)
    looked_back(session, 10.0, Segment(1, 0.0, 8.5), Segment(2, 8.5, 10.0))
    shown = state_object(session)
    assert (shown["step"]["step"], shown["step"]["starting"], shown["step"]["unsure"]) == (2, True, False)
    assert [visit["end"] for visit in shown["timeline"]] == [8.5, None]
    assert shown["at"] == 10.0  # the clock by which a look back raises alerts, not that of the labels
    session.tracker.tick(9.0)
    session.tracker.end(1, at=9.5, end=8.5)
    assert state_object(session)["step"]["elapsed_s"] == 1.0
    session.tracker.push(2, at=9.5, start=8.5)
    shown = state_object(session)
    assert (shown["step"]["step"], shown["step"]["starting"], shown["step"]["elapsed_s"]) == (2, False, 1.0)


def test_what_never_was_confirmed_starts_no_longer_than_that_takes(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    looked_back(session, 3.0, Segment(2, 2.0, 3.0))
    session.tracker.tick(4.4)
    assert state_object(session)["step"]["starting"]
    session.tracker.tick(4.5)  # 1 s to be confirmed and 1.5 s to be missed again
    assert state_object(session)["step"] is None


def test_a_step_that_was_confirmed_and_ended_is_done(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    session.tracker.push(1, at=1.0, start=0.0)
    looked_back(session, 4.0, Segment(1, 0.0, 1.2))
    session.tracker.end(1, at=2.7, end=1.2)
    shown = state_object(session)
    assert shown["step"] is None
    assert shown["timeline"][-1]["end"] == 1.2


def test_how_sure_a_step_is_comes_from_labels_of_it_alone(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings(confirm_s=0.3))
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    updates = follow_features(rows, FEATURE_RATE, session)
    shown = (state_object(session)["step"] for _ in updates)
    seen = next(step for step in shown if step is not None and not step["starting"] and step["confidence"] is not None)
    session.act(Action("next"))  # by hand, whatever the camera sees
    step = state_object(session)["step"]
    assert step["step"] != seen["step"]
    assert (step["confidence"], step["unsure"]) == (None, True)


def test_a_step_that_a_pause_interrupts_is_not_done(features_task: Learned) -> None:
    session = Session(features_task.bundle, start_networks(features_task.bundle, "cpu", 1), LiveSettings())
    session.tracker.push(1, at=1.0, start=0.0)
    session.tracker.tick(4.0)
    session.act(Action("pause"))
    session.tracker.tick(9.0)
    shown = state_object(session)
    assert (shown["paused"], shown["step"]["step"], shown["step"]["elapsed_s"]) == (True, 1, 4.0)
    assert shown["timeline"][-1]["end"] is None
    session.act(Action("resume"))
    assert state_object(session)["step"]["elapsed_s"] == 4.0


def test_a_question_that_the_end_raised_is_shown_until_it_is_answered() -> None:
    steps = (KeyStep(1, "cut"), KeyStep(2, "fold"))
    tracker = AttendedTracker(Procedure(steps, 4, rules=Rules(required=(1,), asked_steps=(2,))))
    tracker.push(1, 0.0)
    (question,) = tracker.finish(9.0)
    after = ClosedSession(tracker)
    assert answers_object(tracker)["question"]["id"] == question.id
    after.act(Action("answer", 9.0, target=question.id, answer=True))
    assert (answers_object(tracker)["question"], answers_object(tracker)["questions"]) == (None, [])
