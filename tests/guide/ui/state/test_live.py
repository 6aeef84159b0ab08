"""The view of a session: what each state of the server becomes in words, and when a voice speaks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from guide.domain import Alert, KeyStep
from guide.procedure.model import Procedure
from guide.procedure.wording import REASONS, TITLES, advice_of, title_of
from guide.ui.state.live import LiveView, Saying, spoken, view_live

TIMES = {"shortest": 2.0, "low": 3.0, "usual": 5.0, "high": 8.0, "longest": 10.0}
NAMES = {1: "lay mat", 2: "open case", 3: "fit board", 4: "close lid"}
TASK = Procedure(tuple(KeyStep(number, name) for number, name in NAMES.items()), 4)
HEALTH = {
    "received": 120, "taken": 60, "dropped": 4, "age_s": 0.31, "p50_ms": 31.2, "p95_ms": 48.0,
    "provider": "CPUExecutionProvider", "precision": "mixed", "reason": "", "processed": 60, "rate": 5.0,
    "is_live": True, "recording": "ok",
    "notices": [],
}  # fmt: skip


PROGRESS = {"done": [1, 2], "lacking": [3], "total": 4, "share": 0.5, "marked": [], "denied": []}


def visit(number: int, start: float, end: float | None, is_again: bool = False) -> dict[str, Any]:
    return {"step": number, "name": NAMES[number], "again": is_again, "start": start, "end": end}


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
    told = Alert(number, 61.0, kind, about, None, "warning", "")  # type: ignore[arg-type]
    todo, shows = advice_of(told, TASK.name, ())
    return {
        "id": number, "at": 61.0, "kind": kind, "step": about, "name": NAMES[about], "severity": severity,
        "evidence": "came first in 12 of 12", "acknowledged": False, "snoozed": False, "snapshot": False,
        "title": title_of(kind, NAMES[about]), "reason": REASONS[kind], "todo": todo, "shows": shows,
        "spoken": f"{TITLES[kind]}. {todo}.", **more,
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
        "progress": PROGRESS,
        "timeline": [visit(1, 0.0, 4.0), visit(2, 5.0, None)],
        "alerts": [], "question": None, "questions": [], "actions": [], "paused": False, "health": HEALTH,
        "ending": None, "language": "", "watching": "",
        "steps": [{"step": one, "name": name, "say": name, "optional": one == 4, "stills": 2}
                  for one, name in NAMES.items()],
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
        ({"label": {"step": None, "confidence": 0.9}}, "No step recognised"),
        ({}, "open case"),  # it was done last, and nothing has begun since
        ({"next": [], "progress": PROGRESS | {"lacking": []}}, "All steps done"),
        ({"paused": True}, "Paused"),
    ],
)
def test_without_a_step_the_page_says_what_it_waits_for(more: dict[str, Any], words: str) -> None:
    assert view(step=None, **more).now.name == words


def test_what_is_not_watched_is_told() -> None:
    words = "Warns when step 1 is left out, does not watch 2. Labelling more recordings helps."
    assert (view(watching=words).watching, view().watching) == (words, "")


def test_the_timeline_tells_done_current_missed_and_to_come() -> None:
    shown = view(alerts=[alert(about=3)])
    assert [(item.step, item.standing, item.words) for item in shown.timeline] == [
        (1, "done", "4 s"), (2, "current", ""), (3, "missed", "not seen"), (4, "may come", "optional"),
    ]  # fmt: skip
    assert len({item.icon for item in shown.timeline}) == 4
    assert shown.progress == "1 of 4 steps done"


def test_the_voice_has_words_of_its_own() -> None:
    steps = [{**one, "say": f"now {one['name']}"} for one in state()["steps"]]
    before, after = view(steps=steps), view(steps=steps, step=step(3), language="de")
    assert spoken(before, after) == (Saying("now fit board"),)
    assert (after.now.name, before.next[0].say, after.language) == ("fit board", "now fit board", "de")


def test_out_of_order_and_done_again_stand_in_the_timeline() -> None:
    shown = view(alerts=[alert(1, "out_of_order", 1), alert(2, "repeated", 2)])
    assert [(item.step, item.standing, item.words) for item in shown.timeline[:2]] == [
        (1, "out of order", "4 s"), (2, "current", "done again"),
    ]  # fmt: skip


def test_the_order_of_work_keeps_repeats_apart() -> None:
    turns = [visit(1, 0.0, 4.0), visit(2, 5.0, 9.0), visit(1, 9.0, 12.0, True), visit(3, 12.0, None)]
    wrong = alert(kind="out_of_order", about=2)
    shown = view(timeline=turns, alerts=[wrong]).visits
    assert [(one.name, one.sign, one.words) for one in shown] == [
        ("lay mat", "", "4 s"), ("open case", "⇅", "4 s"), ("lay mat", "↻", "again, 3 s"), ("fit board", "▶", "now"),
    ]  # fmt: skip
    assert shown[0].colour == shown[2].colour != shown[1].colour
    long = view(timeline=[visit(1 + at % 2, at, at + 1.0, at > 1) for at in range(20)])
    assert len(long.visits) + long.earlier == 20
    assert long.earlier > 0
    ended = view(timeline=[visit(1, at, at + 1.0) for at in range(20)], state="ended")
    assert (len(ended.visits), ended.earlier) == (20, 0)
    assert long.visits[0].words == "again, 1 s"


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
    for kind in ("missed", "out_of_order", "repeated", "unknown", "too_long", "too_short", "stalled"):
        [shown] = view(alerts=[alert(kind=kind)]).alerts
        assert shown.reason.endswith(".")
        assert "_" not in shown.title


def test_actions_that_count_can_be_taken_back_the_newest_first() -> None:
    actions = [
        action(1, "acknowledge", target=1, comment="seen it"), action(2, "mark_done", step=3),
        action(3, "undo", target=2), action(4, "answer", target=2, answer=False),
    ]  # fmt: skip
    assert [(one.number, one.words) for one in view(actions=actions).undoable] == [
        (4, "Answered no"), (1, "Acknowledged (seen it)"),
    ]  # fmt: skip


def test_an_action_says_which_alert_it_was_about_even_when_that_stands_no_more() -> None:
    titles: dict[int, str] = {}
    view_live(state(alerts=[alert(7)]), titles)
    assert titles == {7: "Missed: lay mat"}
    after = view_live(state(alerts=[], actions=[action(1, "false_alarm", target=7)]), titles)
    assert [one.words for one in after.undoable] == ["Marked as a false alarm: Missed: lay mat"]
    unknown = view_live(state(alerts=[], actions=[action(1, "false_alarm", target=8)]), titles)
    assert [one.words for one in unknown.undoable] == ["Marked as a false alarm"]


def test_the_strip_of_health() -> None:
    assert {one.name: one.value for one in view().health} == {
        "Frames in": "120", "Processed": "60", "Dropped": "4", "Age": "0.3 s", "Time a frame": "31 / 48 ms",
        "Runs on": "CPU, mixed precision",
    }  # fmt: skip
    recording = {**HEALTH, "is_live": False, "received": 0, "p50_ms": None, "p95_ms": None}
    shown = {one.name: one.value for one in view(health=recording).health}
    assert (shown["Frames in"], shown["Age"], shown["Time a frame"]) == ("60", "recording", "– / – ms")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"reason": "no GPU was found"}, "no GPU was found"),
        ({"recording": "the disk is full"}, "the disk is full"),
        ({"notices": [{"text": "camera lost"}, {"text": "headset:line 2 is back"}]}, "Line 2 is back"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], words: str) -> None:
    assert view(health={**HEALTH, **more}).notice == words


def test_the_title_names_the_file_alone_and_an_address_as_it_came() -> None:
    assert view(person="shift 2").title == "demo · new.mp4 · shift 2"
    assert view(source="rtsp://***@10.0.0.7/live").title == "demo · rtsp://***@10.0.0.7/live"


MISSED = {"kind": "not_complete", "words": "Not complete: fit board missed"}


def test_a_session_that_is_over_says_how_it_ended() -> None:
    over = view(state="finished", ending=MISSED)  # the alert was called false: the step is not done all the same
    assert (over.now.name, over.ending) == ("Not complete: fit board missed", "not_complete")
    assert over.remark == "2 of 4 steps done; not done: fit board, close lid."
    assert [(item.step, item.standing) for item in over.timeline[2:]] == [(3, "missed"), (4, "not done")]
    usual = PROGRESS | {"done": [1], "lacking": [3, 2]}  # as people do it, not as the steps are numbered
    assert view(state="finished", ending=MISSED, progress=usual).remark == (
        "1 of 4 steps done; not done: fit board, open case, close lid."
    )
    done = PROGRESS | {"done": [1, 2, 3, 4], "lacking": []}
    complete = view(state="finished", progress=done, ending={"kind": "complete", "words": "Complete"})
    assert (complete.now.name, complete.remark) == ("Complete", "4 of 4 steps done.")
    free = view(state="finished", progress=done | {"done": [1, 2]}, ending={"kind": "complete", "words": "Complete"})
    assert "not done" not in (free.remark or "")
    assert "no rule asks for it: fit board, close lid" in (free.remark or "")
    assert view(state="failed", problem="the camera was lost.").remark == "the camera was lost."


def test_an_alert_takes_the_place_of_the_step_until_it_is_answered() -> None:
    loud = view(alerts=[alert(1, "repeated", 2), alert(2, about=3, severity="alarm")]).loud
    assert loud is not None
    assert (loud.id, loud.todo, loud.shows) == (2, "Go back: fit board", 3)
    for more in ({"acknowledged": True}, {"snoozed": True}, {"severity": "info"}):
        assert view(alerts=[alert(**more)]).loud is None
    assert view(alerts=[alert()], state="finished", ending=MISSED).loud is None
    gone = {"at": 1.0, "kind": "gone", "text": "away."}
    assert view(alerts=[alert()], health={**HEALTH, "notices": [gone]}).loud is None


def test_an_answer_that_the_end_raised_can_be_taken_back() -> None:
    answered = view(state="finished", ending=MISSED, actions=[action(1, "answer", target=9, answer=False)])
    assert [one.words for one in answered.undoable] == ["Answered no"]


def test_a_headset_is_awaited_until_its_first_frame() -> None:
    assert view(client="helmet", health={**HEALTH, "processed": 0}).headset == "helmet"
    assert view(client="helmet").headset is None


def test_a_voice_says_what_is_new_and_nothing_at_first() -> None:
    before, after = view(), view(alerts=[alert()], step=step(3), question={"id": 9, "text": "Did you do it?"})
    assert spoken(None, after) == ()
    missed = Saying("Missed. Go back: lay mat.", True, "warning")
    assert spoken(before, after) == (missed, Saying("Did you do it?", True), Saying("fit board"))
    assert spoken(after, after) == ()
    graver = view(alerts=[alert(severity="alarm")], step=step(3))
    assert spoken(after, graver) == (Saying("Missed. Go back: lay mat.", True, "alarm"),)
    over = view(state="finished", ending=MISSED, alerts=[alert(9)])
    assert spoken(before, over) == (Saying("Not complete: fit board missed.", True),)
    assert spoken(over, over) == ()
    assert spoken(before, view(session="20300102-030405-00fe", alerts=[alert()])) == ()


def test_the_view_models_need_no_streamlit() -> None:
    code = "import sys, guide.ui.state.live, guide.ui.state.live_start; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_step_that_has_just_begun_is_current_and_not_done() -> None:
    """The look back is ahead of the labels: the newest label is still of the step before."""
    begun = step(3, 0.0) | {"starting": True, "confidence": None}
    visits = [visit(1, 0.0, 4.0), visit(2, 5.0, 9.0), visit(3, 9.0, None)]
    shown = view(step=begun, timeline=visits, progress=PROGRESS | {"done": [1, 2, 3]})
    assert (shown.now.name, shown.now.mood, shown.now.confidence) == ("fit board", "starting", "")
    assert [(item.step, item.standing, item.words) for item in shown.timeline[:3]] == [
        (1, "done", "4 s"), (2, "done", "4 s"), (3, "current", "just begun"),
    ]  # fmt: skip
    assert shown.progress == "2 of 4 steps done"


def test_between_two_steps_the_one_before_stands_as_done() -> None:
    shown = view(step=None, timeline=[visit(1, 0.0, 4.0)], progress=PROGRESS | {"done": [1]})
    assert (shown.now.name, shown.now.step, shown.now.mood) == ("lay mat", None, "rest")
    assert shown.timeline[0].standing == "done"


def test_a_step_set_by_hand_has_no_percentage_of_what_the_camera_sees() -> None:
    shown = view(step=step(3) | {"confidence": None}, label={"step": 1, "confidence": 0.95})
    assert (shown.now.mood, shown.now.confidence) == ("unsure", "")


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ({}, 1),  # the one being done is not done yet
        ({"step": None}, 2),
        ({"progress": PROGRESS | {"marked": [2]}}, 2),
        ({"timeline": [visit(2, 0.0, 1.0), visit(1, 1.0, 4.0), visit(2, 5.0, None)]}, 2),  # done again
        ({"state": "finished"}, 2),
    ],
)
def test_steps_done_are_counted(more: dict[str, Any], count: int) -> None:
    assert view(**more).progress == f"{count} of 4 steps done"
    assert view(**more).share == count / 4


def test_what_a_person_said_of_the_current_step_is_shown() -> None:
    assert view(progress=PROGRESS | {"marked": [2]}).timeline[1].words == "marked done"
    assert view(progress=PROGRESS | {"denied": [2], "done": [1]}).timeline[1].words == "marked not done"


def test_next_says_what_was_missed_and_what_comes_first() -> None:
    missed = {"step": 1, "name": NAMES[1], "count": 0, "total": 12, "ready": True, "missed": True, "after": []}
    later = {"step": 4, "name": NAMES[4], "count": 9, "total": 12, "ready": False, "missed": False, "after": [3]}
    shown = view(next=[missed, later]).next
    assert [one.count for one in shown] == ["missed: go back to it", "9 of 12, first: fit board"]
    assert [one.is_missed for one in shown] == [True, False]


def test_steps_of_another_variant_are_told_as_such() -> None:
    other = {"step": 4, "name": NAMES[4], "count": 0, "total": 5, "ready": True, "missed": False, "strange": True}
    written = {"step": 3, "name": NAMES[3], "count": 0, "total": 0, "ready": True, "missed": False, "strange": False}
    shown = view(next=[other, written], progress=PROGRESS | {"strange": [1, 2]})
    assert [one.count for one in shown.next] == ["another variant", "as written"]
    assert [item.words for item in shown.timeline[:2]] == ["of another variant", "of another variant"]


def test_alerts_of_the_end_stand_in_the_order_of_the_task() -> None:
    """A warning that was raised early and became an alarm has a lower number than what is lacking before it."""
    raised = [
        alert(1, about=4, severity="alarm"),
        alert(2, about=1, severity="alarm"),
        alert(3, about=3, severity="alarm"),
    ]
    over = view(state="finished", alerts=raised, progress=PROGRESS | {"done": [2], "lacking": [1, 3, 4]})
    assert [one.title for one in over.alerts] == ["Missed: lay mat", "Missed: fit board", "Missed: close lid"]
    assert over.lacking == ("lay mat", "fit board", "close lid")


def test_only_of_a_missed_step_somebody_can_say_that_it_was_done() -> None:
    shown = view(alerts=[alert(1), alert(2, "out_of_order", 2)])
    assert {one.title: one.can_be_done for one in shown.alerts} == {
        "Missed: lay mat": True, "Out of order: open case": False,
    }  # fmt: skip


def test_a_pause_needs_no_undo() -> None:
    assert view(actions=[action(1, "pause"), action(2, "resume")]).undoable == ()


@pytest.mark.parametrize(
    ("kinds", "name"),
    [(["lost"], "No pictures come"), (["lost", "reopened"], "open case"), (["lost", "recording"], "No pictures come")],
)
def test_a_camera_that_is_lost_takes_the_place_of_the_step(kinds: list[str], name: str) -> None:
    notices = [{"at": 1.0, "kind": kind, "text": f"{kind}."} for kind in kinds]
    seen = view(health={**HEALTH, "notices": notices})
    assert (seen.now.name, seen.now.mood == "lost", bool(seen.remark)) == (name, "No" in name, "No" in name)
    assert [one.words for one in spoken(view(), seen)] == (["No pictures come"] if "No" in name else [])


def test_a_lost_camera_hides_no_other_trouble_and_is_told_when_all_is_over() -> None:
    gone = {"at": 1.0, "kind": "gone", "text": "headset:helmet did not come back within 60 s."}
    health = {**HEALTH, "notices": [gone]}
    assert view(health=health).notice == ""  # it stands in the place of the step
    assert view(health={**health, "recording": "the disk is full."}).notice == "the disk is full."
    assert view(health={**health, "notices": [gone, {**gone, "kind": "recording", "text": "late."}]}).notice == "Late."
    assert view(health=health, state="finished").notice == "Helmet did not come back within 60 s."


def test_what_a_person_called_not_done_is_not_shown_as_done_last() -> None:
    """Next to step 1, Not yet, Pause, Go on: the visit is there, but nothing is done."""
    progress = {**PROGRESS, "done": [], "denied": [1]}
    shown = view(step=None, label={"step": 0, "confidence": 0.9}, timeline=[visit(1, 0.0, 4.0)], progress=progress)
    assert (shown.now.name, shown.now.mood) == ("Waiting for the first step", "calm")
    visits = [visit(1, 0.0, 4.0), visit(2, 5.0, 9.0)]
    progress = {**PROGRESS, "done": [1], "denied": [2]}
    later = view(step=None, label={"step": 0, "confidence": 0.9}, timeline=visits, progress=progress)
    assert (later.now.name, later.now.mood) == (NAMES[1], "rest")


def test_a_question_that_the_end_raised_can_still_be_answered() -> None:
    over = view(state="finished", step=None, question={"id": 9, "text": "Did you do it?"})
    assert over.question is not None
    assert over.question.id == 9
