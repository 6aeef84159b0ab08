"""Who connects must show a token soon: silence, floods and heads that never end are cut off, others never notice."""

from __future__ import annotations

import contextlib
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guide.serve import connections
from guide.serve.connections import Connections
from tests.server import TOKEN, Served, running
from tests.tiny import Learned

LONG_S = 0.4


@pytest.fixture
def served(
    frames_task: Learned, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    monkeypatch.setattr(connections, "STRANGER_S", LONG_S)
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), record=False) as server:
        yield server


def heard(raw: socket.socket) -> bytes:
    """What was said until the connection ended, however it did."""
    try:
        return raw.recv(100)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("head", [b"", b"G", b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_head_that_does_not_come_is_not_waited_for(served: Served, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as raw:
        raw.sendall(head)
        began = time.monotonic()
        assert heard(raw) == b""
        assert time.monotonic() - began > 0.5 * LONG_S


def test_a_drip_of_bytes_wins_no_time(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as raw:
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 10.0:
                raw.sendall(b"X")
                time.sleep(0.1 * LONG_S)
        assert time.monotonic() - began < 5.0


def test_who_asked_may_take_time_and_ask_again(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as raw:
        raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"}" not in answer:
            answer += raw.recv(1000)
        raw.sendall(f"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode())
        raw.sendall(b"Content-Length: 2\r\n\r\n{")
        time.sleep(4 * LONG_S)
        raw.sendall(b"}")
        assert b" 400 " in raw.recv(1000)


def test_a_headset_is_not_hurried(served: Served) -> None:
    with served.connect("helmet") as headset:
        headset.wait_for("hello")
        time.sleep(4 * LONG_S)
        headset.send({"kind": "pause"})
        assert headset.wait_for("action")["kind"] == "pause"
        headset.finish()


def test_a_tls_handshake_that_does_not_come_is_not_waited_for(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STRANGER_S", LONG_S)
    with (
        running(frames_task.folder, tmp_path, record=False, tls="auto") as served,
        socket.create_connection(("127.0.0.1", served.port), 10.0) as raw,
    ):
        raw.sendall(b"\x16\x03\x01")
        assert heard(raw) == b""


class Accepting:
    """A listening socket with limits, and what it accepted."""

    def __init__(self, most_strangers: int) -> None:
        self.now = 0.0
        self.connections = Connections(most_strangers, clock=lambda: self.now)
        self.listening = self.connections.listen(socket.create_server(("0.0.0.0", 0)))
        self.port = self.listening.getsockname()[1]
        self.held: list[socket.socket] = []

    def connect(self, address: str) -> socket.socket:
        """The far end of a connection from an address of this machine."""
        far = socket.create_connection(("127.0.0.1", self.port), 5.0, source_address=(address, 0))
        self.held += [far, self.listening.accept()[0]]
        return far

    def scope(self, far: socket.socket) -> dict[str, object]:
        return {"client": far.getsockname(), "server": ("127.0.0.1", self.port)}


@pytest.fixture
def accepting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Accepting]:
    """In a process that may open sixteen files."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (16, 16))
    made = Accepting(most_strangers=4)
    yield made
    for one in (*made.held, made.listening):
        one.close()


def is_cut(far: socket.socket) -> bool:
    far.setblocking(False)
    try:
        return far.recv(1) == b""
    except BlockingIOError:
        return False


def test_of_too_many_strangers_the_oldest_of_the_largest_crowd_goes(accepting: Accepting) -> None:
    alone = accepting.connect("127.0.0.2")
    crowd = [accepting.connect("127.0.0.3") for _ in range(5)]
    assert [is_cut(one) for one in (alone, *crowd)] == [False, True, True, False, False, False]
    assert accepting.connections.strangers == 4


def test_who_is_admitted_is_no_stranger_until_its_request_ends(accepting: Accepting) -> None:
    guest = accepting.connect("127.0.0.2")
    with accepting.connections.admitted(accepting.scope(guest)):
        crowd = [accepting.connect("127.0.0.2") for _ in range(4)]
        assert not is_cut(guest)
        assert accepting.connections.strangers == 4
    assert not is_cut(guest)
    assert not any(is_cut(one) for one in crowd[1:])


def test_a_closed_connection_is_forgotten(accepting: Accepting) -> None:
    accepting.connect("127.0.0.2")
    accepting.held[-1].close()
    assert accepting.connections.strangers == 0


def test_descriptors_are_kept_in_reserve(accepting: Accepting) -> None:
    far = [accepting.connect("127.0.0.2") for _ in range(8)]
    late = socket.create_connection(("127.0.0.1", accepting.port), 5.0)
    accepting.held.append(late)
    accepting.listening.setblocking(False)
    with pytest.raises(BlockingIOError):
        accepting.listening.accept()
    assert is_cut(late)
    assert not is_cut(far[-1])
