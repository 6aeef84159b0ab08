"""The view of a session: what each state of the server becomes in words, and when a voice speaks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from guide.ui.state.live import LiveView, spoken, view_live

TIMES = {"shortest": 2.0, "low": 3.0, "usual": 5.0, "high": 8.0, "longest": 10.0}
NAMES = {1: "lay mat", 2: "open case", 3: "fit board", 4: "close lid"}
HEALTH = {
    "received": 120, "taken": 60, "dropped": 4, "age_s": 0.31, "p50_ms": 31.2, "p95_ms": 48.0,
    "provider": "CPUExecutionProvider", "reason": "", "processed": 60, "rate": 5.0, "is_live": True, "recording": "ok",
    "notices": [],
}  # fmt: skip


def step(number: int = 2, elapsed_s: float = 4.0, confidence: float = 0.9) -> dict[str, Any]:
    return {
        "step": number,
        "name": NAMES[number],
        "confidence": confidence,
        "elapsed_s": elapsed_s,
        "expected_s": TIMES,
    }


def alert(
    number: int = 1, kind: str = "missed", about: int = 1, severity: str = "warning", **more: Any
) -> dict[str, Any]:
    return {
        "id": number, "at": 61.0, "kind": kind, "step": about, "name": NAMES[about], "severity": severity,
        "evidence": "came first in 12 of 12", "acknowledged": False, "snoozed": False, "snapshot": False, **more,
    }  # fmt: skip


def action(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "kind": kind,
        "at": 1.0,
        "target": None,
        "step": None,
        "answer": None,
        "comment": "",
        **more,
    }


def state(**more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "session": "20300102-030405-00ff", "state": "running", "problem": "", "source": "videos/new.mp4",
        "bundle": "demo", "person": "", "client": None, "at": 75.0, "label": {"step": 2, "confidence": 0.9},
        "step": step(), "next": [{"step": 3, "name": NAMES[3], "count": 9, "total": 12, "ready": True}],
        "progress": {"done": [1], "lacking": [3], "total": 4, "share": 0.25},
        "timeline": [{"step": 1, "start": 0.0, "end": 4.0}, {"step": 2, "start": 5.0, "end": None}],
        "alerts": [], "question": None, "questions": [], "actions": [], "paused": False, "health": HEALTH,
        "steps": [{"step": one, "name": name, "optional": one == 4, "stills": 2} for one, name in NAMES.items()],
    }  # fmt: skip
    return {**told, **more}


def view(**more: Any) -> LiveView:
    return view_live(state(**more))


def test_the_current_step_with_its_times() -> None:
    now = view().now
    assert (now.name, now.mood, now.elapsed, now.confidence) == ("open case", "calm", "4 s", "90 % sure")
    assert now.expected == "usually 5 s, mostly 3 to 8 s"
    assert 0 < now.low < now.share < now.usual < now.high < 1


@pytest.mark.parametrize(
    ("more", "mood"),
    [
        ({"step": step(confidence=0.4)}, "unsure"),
        ({"label": {"step": None, "confidence": 0.9}}, "unsure"),  # the newest frame looks like nothing known
        ({"label": {"step": 0, "confidence": 0.9}}, "calm"),  # a pause within a step is none
        ({"step": step(elapsed_s=8.5)}, "late"),
        ({"paused": True}, "paused"),
        ({"state": "finished"}, "over"),
    ],
)
def test_the_mood_of_the_current_step(more: dict[str, Any], mood: str) -> None:
    assert view(**more).now.mood == mood


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"label": None, "health": {**HEALTH, "processed": 0}}, "Waiting for the first pictures"),
        ({"label": None}, "Looking"),
        ({"timeline": []}, "Waiting for the first step"),
        ({}, "No step recognised"),
        ({"paused": True}, "Paused"),
    ],
)
def test_without_a_step_the_page_says_what_it_waits_for(more: dict[str, Any], words: str) -> None:
    assert view(step=None, **more).now.name == words


def test_the_timeline_tells_done_current_missed_and_to_come() -> None:
    shown = view(alerts=[alert(about=3)])
    assert [(item.step, item.standing, item.words) for item in shown.timeline] == [
        (1, "done", "4 s"), (2, "current", ""), (3, "missed", "not seen"), (4, "may come", "optional"),
    ]  # fmt: skip
    assert len({item.icon for item in shown.timeline}) == 4
    assert shown.progress == "1 of 4 steps done"


def test_out_of_order_and_done_again_stand_in_the_timeline() -> None:
    shown = view(alerts=[alert(1, "out_of_order", 1), alert(2, "repeated", 2)])
    assert [(item.step, item.standing, item.words) for item in shown.timeline[:2]] == [
        (1, "out of order", "4 s"), (2, "current", "done again"),
    ]  # fmt: skip


def test_the_gravest_alert_comes_first_and_those_dealt_with_last() -> None:
    alerts = [
        alert(1, severity="alarm", acknowledged=True), alert(2), alert(3, severity="alarm"), alert(4, snoozed=True),
    ]  # fmt: skip
    assert [one.id for one in view(alerts=alerts).alerts] == [3, 2, 1, 4]
    first = view(alerts=alerts).alerts[0]
    assert (first.title, first.severity_word, first.at) == ("Missed: lay mat", "Alarm", "1:01")
    assert first.reason
    assert first.evidence


def test_every_kind_of_alert_has_its_words() -> None:
    for kind in ("missed", "out_of_order", "repeated", "unknown", "too_long", "too_short", "stalled", "differs"):
        [shown] = view(alerts=[alert(kind=kind)]).alerts
        assert shown.reason.endswith(".")
        assert "_" not in shown.title


def test_actions_that_count_can_be_taken_back_the_newest_first() -> None:
    actions = [
        action(1, "acknowledge", target=1, comment="seen it"), action(2, "mark_done", step=3),
        action(3, "undo", target=2), action(4, "answer", target=2, answer=False),
    ]  # fmt: skip
    assert [(one.number, one.words) for one in view(actions=actions).deeds] == [
        (4, "Answered no"), (1, "Acknowledged (seen it)"),
    ]  # fmt: skip


def test_an_action_says_which_alert_it_was_about_even_when_that_stands_no_more() -> None:
    titles: dict[int, str] = {}
    view_live(state(alerts=[alert(7)]), titles)
    assert titles == {7: "Missed: lay mat"}
    after = view_live(state(alerts=[], actions=[action(1, "false_alarm", target=7)]), titles)
    assert [one.words for one in after.deeds] == ["Called a false alarm: Missed: lay mat"]
    unknown = view_live(state(alerts=[], actions=[action(1, "false_alarm", target=8)]), titles)
    assert [one.words for one in unknown.deeds] == ["Called a false alarm"]


def test_the_strip_of_health() -> None:
    assert dict(view().health) == {
        "Frames in": "120", "Processed": "60", "Dropped": "4", "Age": "0.3 s", "Time a frame": "31 / 48 ms",
        "Runs on": "CPU",
    }  # fmt: skip
    recording = {**HEALTH, "is_live": False, "received": 0, "p50_ms": None, "p95_ms": None}
    shown = dict(view(health=recording).health)
    assert (shown["Frames in"], shown["Age"], shown["Time a frame"]) == ("60", "recording", "– / – ms")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"reason": "no GPU was found"}, "no GPU was found"),
        ({"recording": "the disk is full"}, "the disk is full"),
        ({"notices": [{"text": "camera lost"}, {"text": "camera is back"}]}, "camera is back"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], words: str) -> None:
    assert view(health={**HEALTH, **more}).notice == words


def test_the_title_names_the_file_alone_and_an_address_as_it_came() -> None:
    assert view(person="shift 2").title == "demo · new.mp4 · shift 2"
    assert view(source="rtsp://***@10.0.0.7/live").title == "demo · rtsp://***@10.0.0.7/live"


def test_a_session_that_is_over_says_how_it_ended() -> None:
    assert view(state="finished", alerts=[alert()]).ending == "1 of 4 steps were seen; 1 alert stands."
    assert view(state="finished").ending == "1 of 4 steps were seen; no alert stands."
    assert view(state="failed", problem="the camera was lost.").ending == "the camera was lost."


def test_a_headset_is_awaited_until_its_first_frame() -> None:
    assert view(client="helmet", health={**HEALTH, "processed": 0}).headset == "helmet"
    assert view(client="helmet").headset is None


def test_a_voice_says_what_is_new_and_nothing_at_first() -> None:
    before, after = view(), view(alerts=[alert()], step=step(3), question={"id": 9, "text": "Did you do it?"})
    assert spoken(None, after) == ()
    assert spoken(before, after) == ("Missed: lay mat", "Did you do it?", "fit board")
    assert spoken(after, after) == ()
    graver = view(alerts=[alert(severity="alarm")], step=step(3))
    assert spoken(after, graver) == ("Missed: lay mat",)
    assert spoken(before, view(state="finished")) == ("Ended. All is well.",)
    assert spoken(before, view(session="20300102-030405-00fe", alerts=[alert()])) == ()


def test_the_view_models_need_no_streamlit() -> None:
    code = "import sys, guide.ui.state.live, guide.ui.state.live_start; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
