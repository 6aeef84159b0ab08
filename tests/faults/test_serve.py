"""The fault table, rows of the server: whatever a client does, the others and what was recorded are not touched."""

from __future__ import annotations

import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import ConnectionClosed

from guide.commands import serve as command
from guide.domain import Guidance
from guide.procedure.actions import Action
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.store import Store
from guide.serve import guard
from guide.serve.connections import GREETING_BYTES, MOST_PARTS, MOST_PINGS, PART, BoundedProtocol
from guide.serve.limits import Limits
from guide.serve.run import Run
from guide.session import Session
from tests.postgres import SECRET, Cluster
from tests.server import TOKEN, Headset, Served, frame_message, running, settled, step_picture
from tests.tiny import Learned, requiring_all

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("data")
    with running(frames_task.folder, data, most_clients=8, most_rate=200.0, give_up_s=20.0) as server:
        yield server


def require_sound(served: Served) -> None:
    """A newcomer is served as ever."""
    with served.connect("newcomer") as headset:
        headset.wait_for("hello")
        headset.frame(step_picture(1))
        assert headset.wait_for("ack")["fate"] == "seen"
        headset.finish()


def require_stored(served: Served, session: str, headset: Headset) -> None:
    """Every alert and step that a client was told of is stored."""
    with Store(served.data) as store:
        contents = store.contents(session)
        assert store.find(session).state == "finished"
    assert {alert.id for alert in contents.alerts} == {alert["id"] for alert in headset.said("alert")}
    assert len(contents.steps) == len(headset.said("step"))


def test_corrupt_pictures_are_left_out_and_told_of(served: Served) -> None:
    rng = np.random.default_rng(0)
    with served.connect("corrupt") as headset:
        session = headset.wait_for("hello")["session"]
        for number in range(40):
            picture = bytearray(step_picture(1 + number // 20, number))
            if number % 2:
                picture = picture[: len(picture) // 2] if number % 4 == 1 else bytearray(rng.bytes(500))
            headset.frame(bytes(picture))
            time.sleep(0.05)
        summary = headset.finish()
    fates = [ack["fate"] for ack in headset.acks]
    assert fates.count("damaged") == 20
    assert len(fates) == 40
    assert summary["state"] == "finished"
    assert [notice["kind"] for notice in headset.said("notice")] == ["damaged"]
    require_stored(served, session, headset)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9])
def test_truncated_messages_are_answered_and_the_session_goes_on(served: Served, length: int) -> None:
    with served.connect("truncated") as headset:
        headset.wait_for("hello")
        headset.send(frame_message(step_picture(1))[:length])
        assert headset.wait_for("ack") == {"type": "ack", "at": None, "fate": "damaged"}
        headset.frame(step_picture(1))
        assert headset.wait_for("ack")["fate"] in ("seen", "passed")


def test_a_connection_cut_in_the_middle_of_a_message_leaves_no_trace(served: Served) -> None:
    for part in (
        b"GET /frames HT",
        b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{",
        b"\x82\x7f\xff",
    ):
        with socket.create_connection(("127.0.0.1", served.port), 5.0) as raw:
            raw.sendall(part)
    with served.connect("cut") as headset:
        headset.wait_for("hello")
        raw = headset.socket.socket
        raw.sendall(b"\x82\xfe\xff\xff")  # the head of a frame whose rest never comes
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
    require_sound(served)


def test_a_frame_of_100_mb_is_refused_unread(served: Served) -> None:
    before = served.count("process_resident_memory_bytes")
    with served.connect("huge") as headset:
        headset.wait_for("hello")
        try:
            headset.send(bytes(100 * 2**20))
            while headset.hear() is not None:
                pass
        except (ConnectionClosed, OSError):
            headset.code = 1009
        assert headset.code == 1009
    assert served.count("process_resident_memory_bytes") - before < 150 * 2**20  # the client is this process too
    require_sound(served)


def deaf(port: int) -> Headset:
    """A client with next to no room for what it is told."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    raw.connect(("127.0.0.1", port))
    return Headset(port, {"token": TOKEN, "client": "deaf"}, raw)


def test_a_client_that_does_not_read_is_cut_off_and_others_never_notice(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "DEAF_S", 3.0)
    slow = 'guide_refusals_total{why="slow"}'
    with running(frames_task.folder, tmp_path, most_rate=5000.0) as served, served.connect("quick") as quick:
        quick.wait_for("hello")
        delays: list[float] = []
        with deaf(served.port) as headset:
            end = time.monotonic() + 60.0
            while not served.count(slow):
                assert time.monotonic() < end, "it was never too slow"
                for _ in range(20):  # each is answered with its comment, with nobody to hear it
                    try:
                        headset.send({"kind": "mark_done", "step": 1, "comment": "x" * 900})
                    except (ConnectionClosed, OSError):
                        break
                began = time.monotonic()
                quick.frame(step_picture(1, len(delays)))
                quick.wait_for("ack")
                delays.append(time.monotonic() - began)
            assert served.count("guide_clients") <= 2
            wait_for_clients(served, 1)  # its connection too: whoever holds it open does not read the goodbye either
        assert max(delays) < 3.0
        assert served.count(slow) == 1
        assert quick.finish()["state"] == "finished"


def wait_for_clients(served: Served, count: int) -> None:
    end = time.monotonic() + 30.0
    while served.count("guide_clients") > count or connections(served.port) > count:
        assert time.monotonic() < end, (served.count("guide_clients"), connections(served.port))
        time.sleep(0.1)


def connections(port: int) -> int:
    """Connections that the server's side holds open."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(line[1].rpartition(":")[2], 16) == port and line[3] == "01" for line in lines)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Room for both ends of 200 connections in this one process; a server alone needs a quarter of it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)) if hard > 0 else 4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_200_clients_at_once_are_all_answered(served: Served) -> None:
    def call(number: int) -> str:
        try:
            with served.connect(f"crowd-{number}") as headset:
                first = headset.hear(30.0)
                if first is None:
                    return f"closed {headset.code}"
                if first["type"] == "error":
                    assert headset.hear() is None
                    return f"refused {headset.code}"
                headset.frame(step_picture(1))
                headset.wait_for("ack", 30.0)
                headset.finish()
                return "served"
        except (ConnectionClosed, OSError, TimeoutError) as error:
            return f"broken {error!r}"

    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(call, range(200)))
    assert set(answers) <= {"served", "refused 1013"}, sorted(set(answers))
    assert answers.count("served") >= 8
    require_sound(served)


UPGRADE = (
    b"GET /frames HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.mark.usefixtures("many_files")
def test_unfinished_messages_of_strangers_fill_no_memory(served: Served) -> None:
    before = served.count("process_resident_memory_bytes")
    part = bytes(2**16)
    with ExitStack() as held:
        for _ in range(60):
            raw = held.enter_context(socket.create_connection(("127.0.0.1", served.port), 5.0))
            raw.sendall(UPGRADE)
            assert b" 101 " in raw.recv(500)
            with suppress(OSError):  # cut off on the way
                raw.sendall(b"\x82\xff" + struct.pack(">Q", 4 * 2**20) + bytes(4))
                for _ in range(63):
                    raw.sendall(part)
        assert served.count("process_resident_memory_bytes") - before < 60 * 2**20  # a quarter of what was sent
        require_sound(served)


def masked(opcode: int, data: bytes = b"") -> bytes:
    """A WebSocket frame of a client."""
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xff" + struct.pack(">Q", len(data))
    return bytes([0x80 | opcode]) + size + bytes(4) + data


@contextmanager
def upgraded(port: int) -> Iterator[socket.socket]:
    """A WebSocket whose frames the test writes byte by byte."""
    with socket.create_connection(("127.0.0.1", port), 10.0) as raw:
        raw.sendall(UPGRADE)
        assert b" 101 " in raw.recv(500)
        yield raw


def heard_until_closed(raw: socket.socket) -> bytes:
    heard = b""
    with suppress(ConnectionError):
        while part := raw.recv(2**16):
            heard += part
    return heard


GREETING = masked(1, f'{{"token": "{TOKEN}", "client": "raw"}}'.encode())


@pytest.mark.parametrize("tiny", [masked(1), masked(9)], ids=["messages", "pings"])
def test_thousands_of_tiny_messages_of_strangers_are_not_even_read(
    served: Served, monkeypatch: pytest.MonkeyPatch, tiny: bytes
) -> None:
    read: list[object] = []
    for name in ("handle_text", "handle_ping"):
        monkeypatch.setattr(BoundedProtocol, name, lambda *_: read.append(None))
    with upgraded(served.port) as raw, suppress(ConnectionError):
        raw.sendall(40_000 * tiny)
        heard_until_closed(raw)
    assert 0 < len(read) <= GREETING_BYTES / len(tiny)
    monkeypatch.undo()
    require_sound(served)


def test_messages_that_nobody_took_yet_are_not_read_either(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a headset that was let in: they would fill the memory, and the time of all others."""
    most_waiting: list[int] = []
    handle_text = BoundedProtocol.handle_text

    def counted(protocol: BoundedProtocol, frame: Any) -> None:
        handle_text(protocol, frame)
        most_waiting.append(protocol.queue.qsize())

    monkeypatch.setattr(BoundedProtocol, "handle_text", counted)
    with upgraded(served.port) as raw:
        raw.sendall(GREETING)
        assert b"hello" in raw.recv(2**16)
        raw.sendall(40_000 * masked(1))
        require_sound(served)
    assert max(most_waiting) <= PART / len(masked(1)) + 1


def test_pings_without_an_end_close_the_connection(served: Served) -> None:
    with upgraded(served.port) as raw:
        raw.sendall(GREETING)
        assert b"hello" in raw.recv(2**16)
        ping = masked(9, b"x" * 125)
        with suppress(ConnectionError):
            raw.sendall(20_000 * ping)
        assert heard_until_closed(raw).count(b"x" * 125) <= MOST_PINGS + PART / len(ping)
    require_sound(served)


@pytest.mark.parametrize("opcode", [0, 10], ids=["parts", "pongs"])
def test_a_message_in_endless_parts_closes_the_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch, opcode: int
) -> None:
    taken: list[object] = []
    name = {0: "handle_cont", 10: "handle_pong"}[opcode]
    monkeypatch.setattr(WebSocketsSansIOProtocol, name, lambda _, frame: taken.append(frame))
    with upgraded(served.port) as raw:
        raw.sendall(GREETING)
        assert b"hello" in raw.recv(2**16)
        with suppress(ConnectionError):
            raw.sendall(bytes([0x01, 0x80, 0, 0, 0, 0]))  # a text that is not over yet
            for _ in range(40):
                raw.sendall(1_000 * bytes([opcode | (0x80 if opcode else 0), 0x80, 0, 0, 0, 0]))
        heard_until_closed(raw)
    assert 0 < len(taken) <= {0: MOST_PARTS, 10: MOST_PINGS}[opcode]
    require_sound(served)


def test_a_large_frame_may_come_right_behind_the_greeting(served: Served) -> None:
    picture = step_picture(1, times=20)
    assert len(picture) > GREETING_BYTES
    with upgraded(served.port) as raw:
        raw.sendall(GREETING + masked(2, frame_message(picture)))
        heard = b""
        while b'"fate"' not in heard:
            part = raw.recv(2**16)
            assert part, heard
            heard += part


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("first", [b"", UPGRADE])
def test_silent_connections_keep_nobody_out(served: Served, first: bytes) -> None:
    with ExitStack() as held:
        for _ in range(300):
            held.enter_context(socket.create_connection(("127.0.0.1", served.port), 5.0)).sendall(first)
        require_sound(served)


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("what", ["stream", "beats"])
def test_of_60_viewers_at_once_as_many_are_let_in_as_there_is_room_for(served: Served, what: str) -> None:
    with served.connect("watched") as headset, ExitStack() as held:
        session = headset.wait_for("hello")["session"]
        request = f"GET /sessions/{session}/{what} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        viewers = [held.enter_context(socket.create_connection(("127.0.0.1", served.port), 10.0)) for _ in range(60)]
        for viewer in viewers:
            viewer.sendall(request.encode())
        answers = [viewer.recv(12).split()[1] for viewer in viewers]
        assert (answers.count(b"200"), answers.count(b"503")) == (Limits().most_viewers, 60 - Limits().most_viewers)
        for viewer in viewers:
            viewer.close()
        headset.finish()
    wait_for_viewers_gone(served)


def wait_for_viewers_gone(served: Served) -> None:
    end = time.monotonic() + 20.0
    while served.count("guide_viewers"):
        assert time.monotonic() < end, "viewers that went away are still counted"
        time.sleep(0.1)


def require_quick(headset: Headset, frames: int = 5) -> None:
    """Its frames are looked at without delay."""
    for number in range(frames):
        began = time.monotonic()
        headset.frame(step_picture(1, number))
        assert headset.wait_for("ack", 5.0)["fate"] in ("seen", "passed", "dropped")
        assert time.monotonic() - began < 2.0


@pytest.mark.usefixtures("many_files")
def test_a_disk_that_hangs_for_viewers_holds_up_no_frames(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    is_back = threading.Event()
    with served.connect("watched") as watched, served.connect("other") as other, ExitStack() as held:
        held.callback(is_back.set)
        session = watched.wait_for("hello")["session"]
        other.wait_for("hello")
        monkeypatch.setattr(Run, "still", lambda *_: is_back.wait(30.0) and None)
        request = f"GET /sessions/{session}/stills/1/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        for _ in range(60):
            viewer = held.enter_context(socket.create_connection(("127.0.0.1", served.port), 10.0))
            viewer.sendall(request.encode())
        time.sleep(0.3)
        require_quick(other)
        require_sound(served)  # nor newcomers, whose sessions are made in other threads
        assert served.ask("/sessions").status == 200  # nor a gateway, which would take this replica for dead
        is_back.set()
        for headset in (watched, other):
            headset.finish()


def test_an_undo_that_takes_seconds_holds_up_neither_viewers_nor_other_headsets(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting, is_done = threading.Event(), threading.Event()
    act = Session.act

    def slow(session: Session, action: Action) -> tuple[Guidance, ...]:
        acting.set()
        is_done.wait(30.0)
        return act(session, action)

    with served.connect("undoing") as undoing, served.connect("other") as other, ExitStack() as held:
        held.callback(is_done.set)
        session = undoing.wait_for("hello")["session"]
        other.wait_for("hello")
        monkeypatch.setattr(Session, "act", slow)
        undoing.send({"kind": "mark_done", "step": 1})
        assert acting.wait(10.0)
        viewer = held.enter_context(socket.create_connection(("127.0.0.1", served.port), 10.0))
        viewer.sendall(f"GET /sessions/{session}/stream?token={TOKEN} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 200 " in viewer.recv(100)
        require_quick(other)
        viewer.close()
        require_quick(other)
        is_done.set()
        undoing.wait_for("action")
        for headset in (undoing, other):
            headset.finish()


def test_a_client_that_vanishes_is_waited_for_then_its_session_is_judged(frames_task: Learned, tmp_path: Path) -> None:
    with running(frames_task.folder, tmp_path, give_up_s=1.0) as served:
        with served.connect("gone") as headset:
            session = headset.wait_for("hello")["session"]
            headset.show((1,), 1.2)
            raw = headset.socket.socket
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.close()
        deadline = time.monotonic() + 20.0
        while served.ask(f"/sessions/{session}").json["state"] == "running":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        shown = served.ask(f"/sessions/{session}").json
        assert shown["state"] == "finished"
        assert [notice["kind"] for notice in shown["health"]["notices"]][-1] == "gone"
        with Store(tmp_path) as store:
            assert store.find(session).state == "finished"
            assert {alert.step for alert in store.contents(session).alerts} == {one["step"] for one in shown["alerts"]}


def test_a_wrong_token_learns_nothing_and_waits(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.05)
    waits = []
    for failures in range(4):
        began = time.monotonic()
        with served.connect("stranger", token="wrong" * 6) as headset:
            assert headset.hear() is None
            assert (headset.code, headset.heard) == (4401, [])
        waits.append(time.monotonic() - began >= 0.05 * 2**failures)
    assert all(waits)
    require_sound(served)


def test_capture_times_may_jump_by_an_hour_or_be_no_times_at_all(served: Served) -> None:
    with served.connect("clock") as headset:
        session = headset.wait_for("hello")["session"]
        began = time.time()
        jumps = (0.0, 3600.0, -3600.0, 1e300, float("nan"), float("inf"), -1e18, 0.0)
        for number, jump in enumerate(jumps * 3):
            headset.frame(step_picture(1, number), time.time() + jump)
            time.sleep(0.06)
        passed = time.time() - began
        summary = headset.finish()
        ats = [ack["at"] for ack in headset.acks]
    assert summary["state"] == "finished"
    assert ats == sorted(ats)
    assert ats[-1] - ats[0] <= passed + 0.5
    assert "clock" in {notice["kind"] for notice in headset.said("notice")}
    require_stored(served, session, headset)


PATIENT_S = 600.0  # for a headset to come back: a server takes its time to start on a busy machine
PATIENT = f"""
import guide.resuming, guide.serve.runs
guide.resuming.RESUME_S = guide.serve.runs.RESUME_S = {PATIENT_S}
from guide.__main__ import main
main()
"""


@contextmanager
def killed_at_the_end(bundle: Path, data: Path) -> Iterator[int]:
    """The port of a server in a process of its own, which is killed at the end."""
    command = [sys.executable, "-c", PATIENT, "serve", "--bundle", str(bundle), "--port", "0",
               "--token", TOKEN, "--data", str(data), "--device", "cpu", "--lag-s", "0.4",
               "--confirm-s", "0.3", "--bridge-s", "0.3", "--threads", "1"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found
        try:
            yield int(found[1])
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(10.0)


@pytest.fixture
def kept_in(records: str | None, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The database of servers that are started from now on; none is SQLite. They wait for long for their headsets."""
    for module in ("guide.resuming", "guide.serve.runs"):
        monkeypatch.setattr(f"{module}.RESUME_S", PATIENT_S)
    if records is not None:
        monkeypatch.setenv("CNC_RECORDS", records)
    return records


def test_a_server_killed_with_sessions_open_loses_nothing_it_said_a_second_ago(
    frames_task: Learned, tmp_path: Path, kept_in: str | None
) -> None:
    with killed_at_the_end(frames_task.folder, tmp_path) as port:
        headsets = [Headset(port, {"token": TOKEN, "client": f"killed-{number}"}) for number in range(2)]
        sessions = [headset.wait_for("hello")["session"] for headset in headsets]
        for step in (1, 4):
            for headset in headsets:
                headset.show((step,), 1.0)
        told = [[dict(step) for step in headset.said("step")] for headset in headsets]
        time.sleep(1.0)
    for headset in headsets:
        headset.close()
    with Store(tmp_path, records=kept_in) as store:
        assert {store.find(session).state for session in sessions} == {"open"}
    with running(frames_task.folder, tmp_path), Store(tmp_path, records=kept_in) as store:
        for session, steps in zip(sessions, told, strict=True):
            assert store.find(session).state == "interrupted"
            assert len(store.contents(session).steps) >= len(steps) > 0


def where(state: dict[str, Any]) -> dict[str, Any]:
    """Where a session stands; pictures and clocks aside."""
    names = ("session", "at", "step", "next", "progress", "timeline", "questions", "alerts", "actions", "paused")
    return {name: state[name] for name in names}


def test_a_session_whose_server_was_killed_goes_on_where_it_stood(
    frames_task: Learned, tmp_path: Path, kept_in: str | None
) -> None:
    """Killed twice: the same progress, the same alerts under the same numbers, actions that count, and one record."""
    bundle = requiring_all(frames_task.bundle, tmp_path / "strict").folder
    data = tmp_path / "data"
    greeting, alerts, left = {"token": TOKEN, "client": "helmet"}, set[int](), dict[str, Any]()
    for shown in ((1, 4), (2,)):
        with killed_at_the_end(bundle, data) as port, Headset(port, greeting) as headset:
            hello = headset.wait_for("hello", 30.0)
            if left:
                assert where(hello["state"]) == left
            headset.show(shown, 1.8)
            if not left:  # step 2 is missed by now
                headset.send({"kind": "mark_done", "step": 3})
                headset.wait_for("action")
            left = where(settled(Served(port, data), headset, kept_in))
            alerts |= {one["id"] for one in left["alerts"]}
            with Store(data, records=kept_in) as store:
                done = store.contents(hello["session"])
            assert alerts, "there is nothing that could be lost or told twice"
    assert alerts <= {one.id for one in done.alerts}
    with running(bundle, data) as served, served.connect("helmet") as headset:
        hello = headset.wait_for("hello", 30.0)
        state = hello["state"]
        assert where(state) == left
        assert [one["kind"] for one in state["actions"]] == ["mark_done"]
        assert [one["kind"] for one in state["health"]["notices"]] == ["resumed"]
        assert state["health"]["processed"] > 10
        headset.show((2,), 0.6)
        assert alerts.isdisjoint(one["id"] for one in headset.said("alert"))
        headset.finish()
    with Store(data, records=kept_in) as store:
        (kept,) = store.sessions()
        contents = store.contents(kept.id)
        seen = list(read_percepts(data / kept.id / PERCEPTS_FILE))
    assert kept.state == "finished"
    assert [one.number for one in seen] == list(range(kept.frames))
    ats = [one.at for one in contents.labels]
    assert ats == sorted(set(ats))
    assert contents.labels[: len(done.labels)] == done.labels
    assert contents.alerts[: len(done.alerts)] == done.alerts
    files = [one.file for one in contents.pictures]
    assert len({*files}) == len(files)
    assert sum(one.of == "video" for one in contents.pictures) == 2
    replayed = subprocess.run(
        [sys.executable, "-m", "guide", "replay", "last", "--data", str(data), "--device", "cpu"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert replayed.returncode == 0, replayed.stdout


@pytest.mark.parametrize("change", ["late", "person", "cut", "another"])
def test_a_session_that_is_another_one_is_not_gone_on_with(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    greeting = {"token": TOKEN, "client": "helmet"}
    with killed_at_the_end(frames_task.folder, tmp_path) as port, Headset(port, greeting) as headset:
        session = headset.wait_for("hello", 30.0)["session"]
        headset.show((1,), 0.6)
        if change == "cut":
            Served(port, tmp_path).ask(f"/sessions/{session}?cut", method="DELETE")
        time.sleep(1.0)
    if change == "late":
        monkeypatch.setattr("guide.resuming.RESUME_S", 0.0)
    person, client = ("shift 2" if change == "person" else ""), ("other" if change == "another" else "helmet")
    with running(frames_task.folder, tmp_path) as served, served.connect(client, person=person) as headset:
        assert headset.wait_for("hello", 30.0)["session"] != session


def test_what_sessions_took_is_given_back(frames_task: Learned, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "guide", "serve", "--bundle", str(frames_task.folder), "--port", "0",
               "--token", TOKEN, "--data", str(tmp_path), "--device", "cpu", "--threads", "1"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found
        served = Served(int(found[1]), tmp_path)

        def run_together(count: int) -> float:
            """The memory, in bytes, after so many headsets at once."""
            headsets = [served.connect(f"helmet-{number}") for number in range(count)]
            for headset in headsets:
                headset.wait_for("hello")
                for number in range(4):
                    headset.frame(step_picture(1, number, times=10))
                    headset.wait_for("ack")
            for headset in headsets:
                headset.finish()
                headset.close()
            time.sleep(0.5)
            return served.count("process_resident_memory_bytes")

        try:
            first = run_together(1)
            for _ in range(2):
                last = run_together(16)
        finally:
            process.terminate()
        assert last < 1.2 * first, (first / 2**20, last / 2**20)


def test_a_server_says_that_its_records_wait_for_their_database(
    frames_task: Learned, tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database hangs, so that only a limit of our own ends the waiting; then it is back."""
    monkeypatch.setattr("guide.record.postgres.ANSWER_S", 0.5)
    monkeypatch.setenv("CNC_RECORDS", postgres.database())
    with running(frames_task.folder, tmp_path) as served, served.connect("helmet") as headset:
        session = headset.wait_for("hello")["session"]

        def wait_for(health: dict[str, str], recording: str) -> None:
            """What a stranger hears of the server, and what the session says of its recording."""
            end = time.monotonic() + 20.0
            while True:
                headset.frame(step_picture(1))
                said = served.ask(f"/sessions/{session}").json["health"]["recording"]
                if served.ask("/health", token=None).json == health and re.search(recording, said):
                    assert SECRET not in said
                    return
                assert time.monotonic() < end, said
                time.sleep(0.1)

        wait_for({"status": "ok"}, "^ok$")
        postgres.freeze()
        try:
            wait_for({"status": "ok", "records": "waiting"}, "cannot be used .*no answer|timeout")
        finally:
            postgres.thaw()
        wait_for({"status": "ok"}, "^ok$")
        headset.finish()
