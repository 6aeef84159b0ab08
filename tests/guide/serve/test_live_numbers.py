"""A session's beat: numbers every second, a new mark with all else, right after a frame, for who may look."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from guide.serve.guard import view_token
from guide.serve.live_numbers import UpdateWaiter, live_numbers_object, state_fingerprint
from tests.server import TOKEN, Served, running
from tests.tiny import Learned, write_steps

TIMES = {"shortest": 2.0, "low": 3.0, "usual": 5.0, "high": 8.0, "longest": 9.0}
STATE: dict[str, Any] = {
    "session": "20300102-030405-00ff", "state": "running", "problem": "", "at": 12.4, "paused": False,
    "label": {"step": 2, "confidence": 0.9}, "step": {"step": 2, "name": "open case", "confidence": 0.9,
    "unsure": False, "elapsed_s": 4.0, "expected_s": TIMES}, "next": [{"step": 3, "count": 4}],
    "progress": {"done": [1], "share": 0.25}, "timeline": [{"step": 1, "start": 0.0, "end": 4.2}], "alerts": [],
    "question": None, "questions": [], "actions": [],
    "health": {"received": 70, "processed": 60, "dropped": 3, "age_s": 0.1, "p50_ms": 40.0, "p95_ms": 60.0,
               "reason": "", "recording": "ok", "notices": []},
}  # fmt: skip


def changed(path: str, value: object) -> dict[str, Any]:
    state = deepcopy(STATE)
    *way, last = path.split(".")
    place: Any = state
    for name in way:
        place = place[int(name) if name.isdecimal() else name]
    place[last] = value
    return state


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("at", 12.6), ("step.elapsed_s", 9.5), ("step.confidence", 0.2), ("label.step", 3), ("health.processed", 61),
        ("health.age_s", 4.0), ("health.p95_ms", None), ("timeline.0.end", 4.3),
    ],
)  # fmt: skip
def test_numbers_leave_the_mark_as_it_is(path: str, value: object) -> None:
    assert state_fingerprint(changed(path, value)) == state_fingerprint(STATE)


def test_the_gravest_alert_that_waits_comes_with_the_numbers() -> None:
    words = {"title": "Missed: lay mat", "todo": "Go back: lay mat", "reason": "It was not seen."}
    plain = {"acknowledged": False, "snoozed": False, "kind": "missed", **words}
    alerts = [
        {**plain, "id": 1, "severity": "warning"}, {**plain, "id": 2, "severity": "alarm", "acknowledged": True},
        {**plain, "id": 3, "severity": "warning"}, {**plain, "id": 4, "severity": "info"},
    ]  # fmt: skip
    assert live_numbers_object(changed("alerts", alerts))["loud"] == {"id": 3, "severity": "warning", **words}
    graver = [*alerts, {**alerts[0], "id": 5, "severity": "alarm"}]
    assert live_numbers_object(changed("alerts", graver))["loud"]["id"] == 5
    assert live_numbers_object(changed("alerts", alerts[1:2]))["loud"] is None
    assert live_numbers_object(STATE | {"alerts": alerts, "state": "finished"})["loud"] is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("step", None), ("step.step", 3), ("step.name", "open box"), ("paused", True), ("state", "finished"),
        ("alerts", [{"id": 1}]), ("question", {"id": 1}), ("actions", [{"number": 1}]), ("progress.done", [1, 2]),
        ("timeline.0.end", 5.2), ("next", []), ("label", None), ("health.processed", 0), ("health.recording", "full"),
        ("health.notices", [{"text": "lost"}]),
    ],
)  # fmt: skip
def test_all_else_changes_it(path: str, value: object) -> None:
    assert state_fingerprint(changed(path, value)) != state_fingerprint(STATE)


def test_a_mark_outlives_the_way_through_json() -> None:
    assert state_fingerprint(json.loads(json.dumps(STATE))) == state_fingerprint(STATE)


def test_what_a_beat_tells() -> None:
    beat = live_numbers_object(STATE)
    assert (beat["at"], beat["elapsed_s"], beat["confidence"], beat["over"]) == (12.4, 4.0, 0.9, False)
    assert (beat["unsure"], beat["late"]) == (False, False)
    assert beat["health"] == {
        "received": 70, "processed": 60, "dropped": 3, "age_s": 0.1, "p50_ms": 40.0, "p95_ms": 60.0,
    }  # fmt: skip
    assert live_numbers_object(changed("step.elapsed_s", 8.1))["late"]
    assert live_numbers_object(changed("label.step", 3))["unsure"]
    assert not live_numbers_object(changed("label.step", 0))["unsure"]  # between two steps
    assert live_numbers_object(changed("step", None))["elapsed_s"] is None


def test_a_waiter_wakes_for_a_frame_that_was_seen_and_for_nothing_less() -> None:
    async def watch() -> list[bool]:
        waiter, found = UpdateWaiter(), []
        for event in (lambda: waiter.on_message("x"), lambda: waiter.on_frame(0.0, "passed"), lambda: None,
                     lambda: waiter.on_frame(0.2, "seen"), waiter.on_end):  # fmt: skip
            threading.Thread(target=event).start()
            began = time.monotonic()
            await waiter.wait(0.2)
            found.append(time.monotonic() - began < 0.19)
        return found

    assert asyncio.run(watch()) == [False, False, False, True, True]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    times = [number / 10 for number in range(200)]
    return write_steps(tmp_path_factory.mktemp("video") / "new.mp4", (1, 3, 0, 4, 2, 1, 3, 0, 4, 2), times)


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), most_clients=3) as server:
        yield server


@pytest.fixture
def session(served: Served, video: Path) -> Iterator[str]:
    name = str(served.ask("/sessions", {"source": str(video)}).json["session"])
    yield name
    served.ask(f"/sessions/{name}", method="DELETE")


class Hearer:
    """A connection that reads the beats of a session."""

    def __init__(self, served: Served, session: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", served.port), 10.0)
        asked = f"GET /sessions/{session}/beats?look={view_token(TOKEN, session)} HTTP/1.1"
        self._socket.sendall(f"{asked}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        self.data = b""

    def beats(self, count: int) -> list[dict[str, Any]]:
        while self.data.count(b"\n\n") < count and (part := self._socket.recv(65536)):
            self.data += part
        lines = self.data.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]

    def close(self) -> None:
        self._socket.close()


def test_beats_are_heard_until_the_end_and_an_action_changes_the_mark(served: Served, session: str) -> None:
    hearer = Hearer(served, session)
    first = hearer.beats(2)[-1]
    assert b"access-control-allow-origin: *" in hearer.data.lower()
    assert b"text/event-stream" in hearer.data
    before = state_fingerprint(served.ask(f"/sessions/{session}").json)
    served.ask(f"/sessions/{session}/actions", {"kind": "mark_done", "step": 2})
    assert state_fingerprint(served.ask(f"/sessions/{session}").json) != before
    served.ask(f"/sessions/{session}", method="DELETE")
    found = hearer.beats(1_000)
    assert found[-1]["over"]
    assert found[-1]["at"] >= first["at"]
    assert [one["over"] for one in found[:-1]] == [False] * (len(found) - 1)
    assert found[-1]["mark"] == state_fingerprint(served.ask(f"/sessions/{session}").json)
    hearer.close()


def test_without_a_look_there_are_no_beats(served: Served, session: str) -> None:
    for query in ("", f"?look={view_token(TOKEN, 'another')}", "?look="):
        answer = served.ask(f"/sessions/{session}/beats{query}", token=None)
        assert answer.status == 401
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_look_changes_nothing(served: Served, session: str) -> None:
    answer = served.ask(f"/sessions/{session}/beats?look={view_token(TOKEN, session)}", {"kind": "next"}, token=None)
    assert answer.status == 401


def test_more_hearers_than_agreed_are_refused_and_places_come_free(served: Served, session: str) -> None:
    hearers = [Hearer(served, session) for _ in range(16)]
    for hearer in hearers:
        hearer.beats(1)
    assert served.ask(f"/sessions/{session}/beats").status == 503
    assert served.ask(f"/sessions/{session}/picture").status == 200
    for hearer in hearers:
        hearer.close()
    deadline = time.monotonic() + 10
    while True:  # the server notices with the next beat
        last = Hearer(served, session)
        if last.beats(1):
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)
    last.close()
