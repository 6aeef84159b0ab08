"""Anything at all, sent to the WebSocket and to the JSON addresses: no crash, no traceback, no file elsewhere.

A few hundred inputs by default; CNC_FUZZ says how many each test tries, CNC_FUZZ_SEED which ones.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from guide.benchmarks.figures import peak_mb
from guide.benchmarks.memory import held_mb
from guide.procedure.actions import KINDS
from guide.serve import guard
from tests.server import TOKEN, Headset, Served, frame_message, running, step_picture
from tests.tiny import Learned

COUNT, SEED = int(os.environ.get("CNC_FUZZ", "60")), int(os.environ.get("CNC_FUZZ_SEED", "0"))
MOST_MB = 1000.0  # more than the process held before, which has learned a task
tried = settings(
    deadline=None, max_examples=COUNT, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


def fuzzed(test: Any) -> Any:
    """The same inputs in every run with the same seed."""
    return seed(SEED)(tried(test))


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "sqlite3.connect", "shutil.rmtree")
written: list[str] = []
is_listening = [False, False]  # whether the hook was added, whether it is to note anything


class Faults(logging.Handler):
    """Keeps what the server logs as an error: nothing that comes from outside may be one."""

    heard: tuple[str, ...] = ()

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "websockets.client":  # the test's own end; the server's has another name
            return
        trace = "" if record.exc_info is None else logging.Formatter().formatException(record.exc_info)
        self.heard += (f"{record.name}: {record.getMessage()}\n{trace}",)


def note_writing(event: str, arguments: tuple[object, ...]) -> None:
    """Notes each path opened for writing, made, renamed or removed; a descriptor was noted when it was opened."""
    if not is_listening[1] or (event == "open" and isinstance(arguments[0], int)):
        return
    is_opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
    if is_opened or event in CHANGES:
        written.append(str(arguments[0]))


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that takes any number of messages, watched for what it writes and for faults of its own."""
    data = tmp_path_factory.mktemp("data")
    listener = Faults(logging.ERROR)
    logging.getLogger().addHandler(listener)
    if not is_listening[0]:
        sys.addaudithook(note_writing)  # it cannot be taken back, so it asks whether anyone listens
    is_listening[:] = [True, True]
    patch = pytest.MonkeyPatch()
    patch.setattr(guard, "FIRST_DELAY_S", 0.0)
    before_mb = held_mb()
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    try:
        with running(frames_task.folder, data, most_rate=1e5, most_clients=4, give_up_s=600.0) as server:
            yield server
            assert peak_mb() - before_mb < MOST_MB
    finally:
        patch.undo()
        is_listening[1] = False
        logging.getLogger().removeHandler(listener)
    assert listener.heard == ()
    ours = [path for path in written if not path.startswith(("/dev/", "/proc/", "<")) and "/.hypothesis" not in path]
    assert [path for path in ours if not Path(path).resolve().is_relative_to(data.resolve())] == []


@pytest.fixture
def headset(served: Served) -> Iterator[Headset]:
    with served.connect("fuzz") as client:
        client.wait_for("hello")
        yield client
        client.finish()


texts = st.text(max_size=60)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
numbers = st.integers(-2, 9) | st.integers() | st.floats() | st.none() | texts
actions = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS) | values},
    optional={
        "type": st.just("action") | values,
        "target": numbers,
        "step": numbers,
        "answer": st.booleans() | values,
        "snooze_s": numbers,
        "person": texts | values,
        "comment": texts | values,
    },
).filter(lambda action: action.get("type") != "end")
strangers = st.fixed_dictionaries({"token": values}, optional={"client": values, "bundle": texts, "person": texts})
methods = st.sampled_from(["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD", "X"]) | st.text("ABCXYZ", min_size=1)
wishes: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["source", "bundle", "person", "rate", "realtime"]) | texts, values | texts, max_size=5
).filter(lambda wish: not _opens_a_device(wish))


def _opens_a_device(wish: Mapping[str, object]) -> bool:
    """Cameras and headsets would be waited for; those have tests of their own."""
    source = str(wish.get("source", "")).strip()
    return source.isdecimal() or source.startswith(("name:", "headset:", "rtsp", "http"))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A frame with a few bytes changed, cut out or put in."""
    data = bytearray(frame_message(step_picture(draw(st.integers(0, 4))), draw(st.floats())))
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(data)))
        kind, piece = draw(st.integers(0, 2)), draw(st.binary(max_size=6))
        if kind == 0:
            data[place : place + len(piece)] = piece
        elif kind == 1:
            del data[place : place + draw(st.integers(0, 200))]
        else:
            data[place:place] = piece
    return bytes(data)


def heard_nothing_odd(headset: Headset) -> None:
    """Everything so far was answered in plain words; an action that must be answered is."""
    headset.send({"kind": "pause"})
    headset.wait_for("action", 30.0)
    headset.send({"kind": "resume"})
    headset.wait_for("action", 30.0)
    for message in headset.heard:
        assert "Traceback" not in json.dumps(message)
    headset.heard.clear()


@fuzzed
@given(st.binary(max_size=300) | mutated())
@example(b"")
def test_any_bytes_as_frames(headset: Headset, data: bytes) -> None:
    headset.send(data)
    assert headset.wait_for("ack", 30.0)["fate"] in ("seen", "passed", "dropped", "damaged", "refused")
    headset.acks.clear()


@fuzzed
@given(texts | values.map(json.dumps) | actions.map(json.dumps))
@example('{"kind": "restart"}')
def test_any_text_as_action(headset: Headset, text: str) -> None:
    headset.send(text.encode("utf-8", "replace").decode() if isinstance(text, str) else text)
    heard_nothing_odd(headset)


@fuzzed
@given(texts | st.binary(max_size=40) | values.map(json.dumps) | strangers.map(json.dumps))
def test_any_first_message_without_the_token(served: Served, first: str | bytes) -> None:
    greeting = first.encode("utf-8", "replace").decode() if isinstance(first, str) else first
    with Headset(served.port, greeting) as stranger:
        assert stranger.hear(30.0) is None
        assert (stranger.heard, stranger.code) == ([], 4401)


@fuzzed
@given(st.fixed_dictionaries({"client": values}, optional={"bundle": values, "person": values, "more": values}))
@example({"client": float("inf")})
def test_any_greeting_with_the_token(served: Served, greeting: dict[str, object]) -> None:
    with Headset(served.port, {**greeting, "token": TOKEN}) as guest:
        first = guest.hear(30.0)
        if first is None:  # what is no JSON brings no token either
            assert guest.code == 4401
            assert re.search(r"\b(NaN|Infinity)\b", json.dumps(greeting))
            return
        assert first["type"] in ("hello", "error")
        if first["type"] == "hello":
            guest.finish()


@fuzzed
@given(wishes | values, st.sampled_from(["/sessions", "/sessions/x/actions", "/sessions/x"]))
def test_any_json_to_the_sessions(served: Served, plain: object, path: str) -> None:
    answer = served.ask(path, data=json.dumps(plain).encode(), method="POST")
    assert answer.status in (201, 400, 404, 405, 409, 413, 503)
    assert b"Traceback" not in answer.body
    assert answer.json
    if answer.status == 201:
        served.ask(f"/sessions/{answer.json['session']}", method="DELETE")


@fuzzed
@given(actions)
def test_any_action_by_http(served: Served, headset: Headset, action: dict[str, object]) -> None:
    session = served.ask("/sessions").json["sessions"][-1]["session"]
    answer = served.ask(f"/sessions/{session}/actions", data=json.dumps(action).encode(), method="POST")
    assert answer.status in (201, 400)
    assert answer.json
    heard_nothing_odd(headset)


@fuzzed
@given(
    methods,
    st.sampled_from(["/", "/sessions/", "/page/", "/frames", "/metrics", "/sessions/..%2f..%2f", "/%00", "//"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=30),
    st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=30), max_size=3),
    st.binary(max_size=60),
)  # fmt: skip
def test_any_request_at_all(served: Served, method: str, start: str, path: str, lines: list[str], body: bytes) -> None:
    head = "\r\n".join([f"{method} {start}{path} HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}", *lines])
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as raw:
        raw.sendall(head.encode("latin-1") + b"\r\nConnection: close\r\n\r\n" + body)
        raw.shutdown(socket.SHUT_WR)
        answer = b""
        while part := raw.recv(65536):
            answer += part
    assert b"Traceback" not in answer
    assert not answer.startswith(b"HTTP/1.1 5")


def test_it_is_as_sound_as_before(served: Served, headset: Headset) -> None:
    assert served.ask("/health", token=None).json == {"status": "ok"}
    headset.send({"kind": "restart"})
    headset.wait_for("action", 30.0)
    headset.frame(step_picture(1))
    assert headset.wait_for("ack")["fate"] == "seen"
