"""The Live page in Streamlit's own test runner, against a real server on a tiny task."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from guide.record.store import Store
from guide.serve.tokens import camera_token
from guide.ui import live, one_video
from guide.ui.client import Client, LostError
from guide.ui.server import ServerKeeper
from tests.live_task import LiveTask, make_live_task, serving_dashboard
from tests.server import Served
from tests.tiny import Learned

APP = "from guide.ui import live\nlive.page()"


@pytest.fixture(scope="module")
def task(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> LiveTask:
    return make_live_task(frames_task, tmp_path_factory.mktemp("live"), repeats=40)  # outlasts each test


@pytest.fixture(scope="module")
def served(task: LiveTask) -> Iterator[Served]:
    with serving_dashboard(task) as server:
        yield server


@pytest.fixture
def page(task: LiveTask, served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The page; sessions it started are ended."""
    for name, value in task.environment.items():
        monkeypatch.setenv(name, value)
    live._keeper.clear()
    yield AppTest.from_string(APP, default_timeout=30)
    for one in served.ask("/sessions").json["sessions"]:
        if one["state"] == "running":
            served.ask(f"/sessions/{one['session']}", method="DELETE")


def run(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception, page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in page.get("html"))


def until(page: AppTest, is_so: Callable[[AppTest], bool], patience_s: float = 20.0) -> AppTest:
    """Draws the page again until it shows what is waited for."""
    deadline = time.monotonic() + patience_s
    while not is_so(run(page)):
        assert time.monotonic() < deadline, html(page)
        time.sleep(0.05)
    return page


def press(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click()
    return run(page)


def choose_source(page: AppTest, words: str) -> None:
    [choice] = page.get("button_group")
    assert isinstance(choice, ButtonGroup)
    choice.set_value(words)
    run(page)


def state(served: Served) -> Any:
    session = served.ask("/sessions").json["sessions"][-1]["session"]
    return served.ask(f"/sessions/{session}").json


def play(page: AppTest) -> AppTest:
    press(run(page), "play_demo")
    return until(page, lambda page: any(str(one.key).startswith("acknowledge_") for one in page.button))


def test_the_first_page_offers_the_demo_and_a_form(page: AppTest) -> None:
    run(page)
    assert page.button(key="play_demo").label == "Play the demo"
    assert page.selectbox(key="live_bundle").options == ["demo"]
    assert page.button(key="start").disabled


def test_what_make_demo_leaves_keeps_the_demo_on_top(
    page: AppTest, task: LiveTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It makes two bundles: neither is one of somebody's own."""
    exported = tmp_path / "exported"
    for name in ("demo", "demo-unlabelled"):
        shutil.copytree(task.exported / "demo", exported / name)
    monkeypatch.setenv("CNC_EXPORTED", str(exported))
    monkeypatch.setattr(ServerKeeper, "warm_up", lambda self: None)
    run(page)
    assert page.subheader[0].value == "See it work"
    assert page.selectbox(key="live_bundle").value == "demo"
    shutil.copytree(task.exported / "demo", exported / "lamp")
    run(page)
    assert page.subheader[0].value == "Guide someone"
    assert page.selectbox(key="live_bundle").options == ["lamp", "demo", "demo-unlabelled"]


def test_one_click_leads_to_a_flagged_fault(page: AppTest, task: LiveTask, served: Served) -> None:
    play(page)
    shown = html(page)
    assert f"Missed: {task.names[task.missed - 1]}" in shown
    assert "/stream?look=" in shown
    assert served.token not in shown  # the page's pictures open nothing else
    assert "Frames in" in shown
    assert "Runs on" in shown


def test_a_reload_and_a_second_browser_find_the_session(page: AppTest, served: Served) -> None:
    play(page)
    for second in (AppTest.from_string(APP, default_timeout=30) for _ in range(2)):
        run(second)
        assert "guide-now" in html(second)
        assert state(served)["session"] in html(second)


def test_an_alert_is_acknowledged_with_a_comment_and_taken_back(page: AppTest, served: Served) -> None:
    play(page)
    alert = state(served)["alerts"][0]["id"]
    page.text_input(key="comment").set_value("glove in *view*")
    press(page, f"acknowledge_{alert}")
    assert "· acknowledged" in html(page)
    [action] = state(served)["actions"]
    assert (action["kind"], action["comment"]) == ("acknowledge", "glove in *view*")
    assert any("glove in \\*view\\*" in caption.value for caption in page.caption)
    press(page, f"undo_{action['number']}")
    assert "· acknowledged" not in html(page)
    assert not state(served)["alerts"][0]["acknowledged"]


@pytest.mark.parametrize("kind", ["was_done", "false_alarm", "snooze"])
def test_an_alert_can_be_answered_otherwise(page: AppTest, served: Served, kind: str) -> None:
    play(page)
    alert = state(served)["alerts"][0]["id"]
    press(page, f"{kind}_{alert}")
    standing = {one["id"]: one["snoozed"] for one in state(served)["alerts"]}
    assert standing.get(alert) is (True if kind == "snooze" else None)


def test_the_operator_corrects_the_tracker(page: AppTest, task: LiveTask, served: Served) -> None:
    play(page)
    press(page, "pause")
    assert "paused" in html(page)
    press(page, "pause")
    for key in ("do_next", "do_previous"):
        press(page, key)
    page.selectbox(key="marked_step").set_value(task.missed)
    run(page)
    press(page, "mark_done")
    assert task.missed in state(served)["progress"]["done"]
    press(page, "not_yet")
    assert task.missed not in state(served)["progress"]["done"]
    kinds = [one["kind"] for one in state(served)["actions"]]
    assert kinds == ["pause", "resume", "next", "previous", "mark_done", "not_yet"]


def test_a_comment_by_itself_acknowledges_as_the_box_says(page: AppTest, served: Served) -> None:
    play(page)
    alert = state(served)["alerts"][0]["id"]
    press(page, "keep_comment")
    assert not state(served)["actions"]  # there was nothing to keep
    assert page.text_input(key="comment").placeholder == "Add a comment (Enter saves it and acknowledges the alert)"
    page.text_input(key="comment").set_value("glove in view")
    press(page, "keep_comment")
    [kept] = state(served)["actions"]
    assert (kept["kind"], kept["target"], kept["comment"]) == ("acknowledge", alert, "glove in view")
    assert page.text_input(key="comment").placeholder == "Add a comment (Enter saves it)"
    page.text_input(key="comment").set_value("no, a sleeve")
    press(page, "keep_comment")
    assert state(served)["actions"][-1]["comment"] == "no, a sleeve"


def test_without_an_alert_nothing_asks_for_a_comment(page: AppTest, served: Served) -> None:
    play(page)
    session, alert = state(served)["session"], state(served)["alerts"][0]["id"]
    page.text_input(key="comment").set_value("glove in view")
    page.button(key="keep_comment").click()
    served.ask(f"/sessions/{session}/actions", {"kind": "false_alarm", "target": alert})  # in another browser
    run(page)
    assert [one["kind"] for one in state(served)["actions"]] == ["false_alarm"]
    assert any("the comment was not saved" in one.value.replace("\\", "") for one in page.warning)
    until(page, lambda page: any("No alert" in one.value for one in page.success))
    assert "comment" not in [one.key for one in page.text_input]


def test_a_second_click_on_acknowledge_changes_nothing(page: AppTest, served: Served) -> None:
    play(page)
    session, alert = state(served)["session"], state(served)["alerts"][0]["id"]
    page.button(key=f"acknowledge_{alert}").click()
    served.ask(f"/sessions/{session}/actions", {"kind": "acknowledge", "target": alert})  # the first of the two
    run(page)
    assert [one["kind"] for one in state(served)["actions"]] == ["acknowledge"]


def test_a_recording_is_played_again_from_its_beginning(page: AppTest, served: Served) -> None:
    play(page)
    before = state(served)
    press(page, "ask_restart")
    assert state(served)["session"] == before["session"]  # it asks first
    press(page, "restart")
    after = state(served)
    assert after["session"] != before["session"]
    assert (after["source"], after["state"]) == (before["source"], "running")
    assert after["session"] in html(page)
    assert served.ask(f"/sessions/{before['session']}").json["state"] == "finished"


def test_muting_is_remembered(page: AppTest) -> None:
    play(page)
    press(page, "mute")
    assert page.button(key="mute").label == "Sound is off"


def test_an_ended_session_says_how_it_ended_and_another_can_be_started(page: AppTest, served: Served) -> None:
    play(page)
    assert state(served)["progress"]["lacking"]
    press(page, "ask_end")
    assert any("will count as missed" in one.value for one in page.markdown)  # said before it is done
    press(page, "end")
    until(page, lambda page: "Not complete: " in html(page))
    press(page, "again")
    assert page.button(key="play_demo")


def test_alerts_are_answered_when_all_is_over_and_the_answers_are_kept(page: AppTest, served: Served) -> None:
    play(page)
    press(page, "ask_end")
    press(page, "end")
    until(page, lambda page: "Not complete: " in html(page))
    over = state(served)
    alert = next(one for one in over["alerts"] if one["kind"] == "missed")
    page.text_input(key="comment").set_value("glove in view")
    press(page, f"was_done_{alert['id']}")
    assert alert["id"] not in [one["id"] for one in state(served)["alerts"]]
    assert alert["step"] in state(served)["progress"]["done"]
    with Store(served.data) as store:
        contents = store.contents(over["session"])
        assert store.find(over["session"]).state == "finished"
    assert (contents.actions[-1].kind, contents.actions[-1].comment) == ("was_done", "glove in view")
    assert (contents.final[-1].id, contents.final[-1].is_withdrawn) == (alert["id"], True)
    press(page, f"undo_{contents.actions[-1].number}")
    assert alert["id"] in [one["id"] for one in state(served)["alerts"]]
    with Store(served.data) as store:
        assert alert["id"] not in [one.id for one in store.contents(over["session"]).final]
    refused = served.ask(f"/sessions/{over['session']}/actions", {"kind": "next"})
    assert refused.json == {"error": "this session is over: start another one."}


def test_a_source_that_cannot_be_opened_is_said_in_a_sentence(page: AppTest) -> None:
    run(page)
    page.text_input(key="live_path").set_value("no/such/*file*.mp4")
    run(page)
    press(page, "start")
    assert "no\\/such\\/\\*file\\*\\.mp4" in page.error[0].value


def test_a_dropped_video_is_stored_and_played(page: AppTest, task: LiveTask, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CNC_RECORDINGS", str(tmp_path))
    run(page)
    page.file_uploader[0].set_value(("my work.mp4", task.video.read_bytes(), "video/mp4"))
    run(page)
    [stored] = (tmp_path / one_video.DROPPED).glob("*.mp4")
    assert page.text_input(key="live_path").value == str(stored)
    press(page, "start")
    assert stored.name in html(page)


def test_a_text_file_called_mp4_is_refused(page: AppTest, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CNC_RECORDINGS", str(tmp_path))
    run(page)
    page.file_uploader[0].set_value(("notes.mp4", b"no video", "video/mp4"))
    run(page)
    assert "notes" in page.error[0].value
    assert not list(tmp_path.rglob("*.mp4"))


def test_a_headset_is_awaited_with_a_code_to_scan(page: AppTest, served: Served) -> None:
    run(page)
    choose_source(page, "Phone or headset")
    page.text_input(key="live_name").set_value("helmet")
    run(page)
    press(page, "start")
    assert state(served)["client"] == "helmet"
    code = camera_token(served.token)
    assert code not in html(page)  # nobody sees it by chance
    assert any("show it to nobody else" in caption.value for caption in page.caption)
    press(page, "show_code")
    assert "QR code" in html(page)
    assert code in html(page)
    assert served.token not in html(page)  # it opens nothing else
    press(page, "hide_code")
    assert code not in html(page)


def test_without_a_camera_steps_are_marked_as_done(page: AppTest, task: LiveTask, served: Served) -> None:
    run(page)
    choose_source(page, "No camera")
    press(page, "start")
    first = state(served)["next"][0]["step"]
    press(page, "mark_done")
    shown = state(served)
    assert (shown["source"], shown["progress"]["done"]) == ("by hand", [first])
    assert shown["next"][0]["step"] != first
    assert "1 of 4 steps done" in html(until(page, lambda page: "1 of 4" in html(page)))


def test_an_address_with_a_password_is_never_shown_whole(page: AppTest, served: Served) -> None:
    run(page)
    choose_source(page, "Network stream")
    page.text_input(key="live_address").set_value("http://me:secret@127.0.0.1:9/video?key=hidden")
    run(page)
    press(page, "start")
    assert page.text_input(key="live_address").proto.type == page.text_input(key="live_address").proto.PASSWORD  # dots
    assert "secret" not in html(page)
    assert "hidden" not in html(page)
    assert not any("secret" in error.value or "hidden" in error.value for error in page.error)


def test_without_any_bundle_the_page_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CNC_EXPORTED", str(tmp_path / "nothing"))
    monkeypatch.setenv("CNC_DATA", str(tmp_path / "data"))
    page = run(AppTest.from_string(APP, default_timeout=30))
    assert "make demo-bundle" in [code.value for code in page.code]
    assert not (tmp_path / "data").exists()


def test_an_unknown_session_is_said_to_be_gone(page: AppTest) -> None:
    page.query_params["session"] = "20300102-030405-00ff"
    run(page)
    assert "no longer" in page.info[0].value
    press(page, "unknown")
    assert page.button(key="play_demo")


def test_a_server_that_does_not_answer_is_waited_for(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(_: Client) -> list[dict[str, Any]]:
        raise LostError("the guide's server does not answer just now: wait a moment and try again.")

    with monkeypatch.context() as patch:
        patch.setattr(Client, "sessions", silent)
        run(page)
        assert "does not answer" in page.warning[0].value
        assert not page.subheader  # nothing can be started meanwhile
    run(page)
    assert not page.warning
