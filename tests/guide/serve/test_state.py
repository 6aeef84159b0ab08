"""The state of a session: what a dashboard shows, from a session worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from guide.procedure.actions import Action
from guide.serve.state import state_object, steps_object
from guide.session import Session, follow_features, start_networks
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
