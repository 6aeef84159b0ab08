"""The protocol of docs/protocol.md, spoken with a real server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from guide.record.keeping import FILE, Keeping, write_keeping
from guide.record.store import Store
from guide.serve import guard
from guide.serve.channel import Channel
from tests.server import TOKEN, Headset, Served, running, step_picture
from tests.tiny import Learned


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), give_up_s=20.0) as server:
        yield server


def test_a_session_from_greeting_to_summary(served: Served) -> None:
    with served.connect("helmet", person="shift 2") as headset:
        hello = headset.wait_for("hello")
        assert (hello["client"], hello["rate"], hello["in_flight"]) == ("helmet", 5.0, 2)
        assert [step["step"] for step in hello["steps"]] == [1, 2, 3, 4]
        headset.show((1, 4), 1.8)
        summary = headset.finish()
        assert headset.hear() is None
        assert headset.code == 1000
    assert summary["state"] == "finished"
    assert summary["frames"] >= 14
    assert headset.said("step")
    assert {"at", "step", "next", "progress"} <= headset.said("now")[-1].keys()
    assert len(headset.acks) == headset.sent
    assert {ack["fate"] for ack in headset.acks} <= {"seen", "passed", "dropped"}
    seen = [ack["at"] for ack in headset.acks if ack["fate"] == "seen"]
    assert len(seen) == summary["frames"]
    assert seen == sorted(seen)
    with Store(served.data) as store:
        stored = store.find(hello["session"])
        assert (stored.state, stored.facts.person, stored.facts.source) == ("finished", "shift 2", "headset:helmet")
        kinds = [alert.kind for alert in store.contents(hello["session"]).alerts]
    assert sorted(set(kinds)) == sorted({alert["kind"] for alert in headset.said("alert")})


def test_an_action_is_answered_to_and_counts_at_once(served: Served) -> None:
    with served.connect("visor") as headset:
        headset.wait_for("hello")
        headset.show((1,), 1.2)
        headset.send({"type": "action", "kind": "mark_done", "step": 3, "person": "chief", "comment": "by hand"})
        taken = headset.wait_for("action")
        assert (taken["number"], taken["kind"], taken["step"], taken["person"]) == (1, "mark_done", 3, "chief")
        headset.send({"kind": "undo", "target": 1})
        assert headset.wait_for("action")["number"] == 2
        headset.finish()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "7", '{"kind": 3}', '{"type": "dance"}', '{"type": "action"}', '{"kind": "undo", "target": 99}',
     '{"kind": "mark_done", "step": 77}', "[" * 5000, '{"type": ["action"]}', "x" * 9000, '{"a":' + "9" * 5000 + "}"],
)  # fmt: skip
def test_nonsense_is_answered_in_a_sentence_and_the_session_goes_on(served: Served, text: str) -> None:
    with served.connect("phone") as headset:
        headset.wait_for("hello")
        headset.send(text)
        error = headset.wait_for("error")["text"]
        assert error.endswith(".")
        assert "Traceback" not in error
        headset.frame(step_picture(1))
        assert headset.wait_for("ack")["fate"] in ("seen", "passed")


@pytest.mark.parametrize(
    "greeting",
    [{"token": "wrong" * 5, "client": "x"}, {"client": "x"}, {"token": None}, {"token": [TOKEN], "client": "x"},
     "no json", b"\x00\x01", "[]", "{}"],
)  # fmt: skip
def test_without_the_token_nothing_is_said(served: Served, monkeypatch: pytest.MonkeyPatch, greeting: object) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    with Headset(served.port, greeting) as headset:
        assert headset.hear() is None
        assert (headset.code, headset.heard) == (4401, [])


@pytest.mark.parametrize("client", ["", " ", "x" * 65, "a\nb", None, 7, "\u0007"])
def test_a_name_that_cannot_be_shown_is_refused(served: Served, client: object) -> None:
    with Headset(served.port, {"token": TOKEN, "client": client}) as headset:
        headset.wait_for("error")
        assert headset.hear() is None
        assert headset.code == 4400


def test_a_bundle_that_is_not_there_is_refused(served: Served) -> None:
    for name in ("nothing", "../..", "/etc"):
        with served.connect("glasses", bundle=name) as headset:
            assert "no bundle" in headset.wait_for("error")["text"]
            assert headset.hear() is None
            assert headset.code == 4400


def test_a_client_that_comes_back_goes_on_where_it_was(served: Served) -> None:
    with served.connect("tablet") as headset:
        first = headset.wait_for("hello")
        headset.show((1,), 1.5)
    with served.connect("tablet") as headset:
        second = headset.wait_for("hello")
        assert second["session"] == first["session"]
        assert second["state"]["at"] > 0.4
        headset.frame(step_picture(1))
        assert headset.wait_for("ack")["fate"] in ("seen", "passed")
        headset.finish()


def test_what_is_said_while_the_greeting_is_made_comes_after_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served.connect("early") as headset:
        session = headset.wait_for("hello")["session"]
    greet, may_go_on, is_asked = Channel._hello, threading.Event(), threading.Event()

    def greet_slowly(channel: Channel) -> dict[str, Any]:
        hello = greet(channel)
        is_asked.set()
        assert may_go_on.wait(20.0)
        return hello

    monkeypatch.setattr(Channel, "_hello", greet_slowly)
    with served.connect("early") as headset:
        try:
            assert is_asked.wait(20.0)
            assert served.ask(f"/sessions/{session}/actions", {"kind": "mark_done", "step": 2}).status == 201
            assert served.ask("/health", token=None).status == 200  # nobody else waits for it
        finally:
            may_go_on.set()
        assert headset.wait_for("action")["step"] == 2
        assert [one["type"] for one in headset.heard[:2]] == ["hello", "action"]
        headset.finish()


def test_a_second_client_of_the_same_name_takes_over(served: Served) -> None:
    with served.connect("goggles") as old:
        session = old.wait_for("hello")["session"]
        with served.connect("goggles") as new:
            assert new.wait_for("hello")["session"] == session
            while old.hear() is not None:
                pass
            assert old.code == 4409
            new.frame(step_picture(1))
            new.wait_for("ack")
            new.finish()


def test_a_third_frame_in_flight_is_refused_and_no_more(served: Served) -> None:
    with served.connect("gerd") as headset:
        headset.wait_for("hello")
        for number in range(10):
            headset.send(b"\0" * 8 + step_picture(1, number))
            headset.sent += 1
        while len(headset.acks) < 10:
            headset.wait_for("ack")
        fates = [ack["fate"] for ack in headset.acks]
        assert "seen" in fates
        headset.finish()


def test_a_message_goes_to_the_session_in_plain_json(served: Served) -> None:
    with served.connect("größe ✓") as headset:
        assert json.dumps(headset.wait_for("hello")["client"], ensure_ascii=False) == '"größe ✓"'
        headset.finish()
    time.sleep(0.05)
    assert served.ask("/health").status == 200


def test_a_session_stores_no_pictures_once_the_dashboard_says_so(served: Served) -> None:
    stored = []
    for pictures in (True, False):
        write_keeping(served.data, Keeping(pictures=pictures))
        with served.connect("shy") as headset:
            session = headset.wait_for("hello")["session"]
            headset.show((1,), 1.2)
            headset.finish()
        stored.append({path.suffix for path in (served.data / session).iterdir()})
    (served.data / FILE).unlink()
    assert stored == [{".jpg", ".bin", ""}, {".bin", ""}]


def test_a_restart_is_taken_back_after_the_end_and_the_record_tells_what_counts(served: Served) -> None:
    with served.connect("again") as headset:
        session = headset.wait_for("hello")["session"]
        headset.show((1, 2), 1.2)
        before = served.ask(f"/sessions/{session}").json["progress"]["done"]
        headset.send({"kind": "restart"})
        headset.show((3,), 1.2)
        headset.finish()
    assert not {*before} <= {*served.ask(f"/sessions/{session}").json["progress"]["done"]}
    assert served.ask(f"/sessions/{session}/actions", {"kind": "undo", "target": 1}).status == 201
    after = served.ask(f"/sessions/{session}").json
    assert {*before} <= {*after["progress"]["done"]}
    with Store(served.data) as store:
        contents = store.contents(session)
    assert {*before} <= {*json.loads(contents.outcomes[-1].done)}
    assert [one.kind for one in contents.actions] == ["restart", "undo"]
