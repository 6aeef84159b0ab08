"""Who connects must ask for something: silence and heads that never end are cut off, requests are not."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from guide.serve import request_timeout
from tests.server import TOKEN, Served, running
from tests.tiny import Learned

LONG_S = 0.4


@pytest.fixture
def served(
    frames_task: Learned, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    monkeypatch.setattr(request_timeout, "REQUEST_S", LONG_S)
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
            while time.monotonic() - began < 20 * LONG_S:
                raw.sendall(b"X")
                time.sleep(0.1 * LONG_S)
        assert time.monotonic() - began < 10 * LONG_S


def test_who_asked_may_take_time_and_ask_again(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as raw:
        for _ in range(2):
            raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while b"}" not in answer:
                answer += raw.recv(1000)
            time.sleep(1.5 * LONG_S)  # longer than a head may take, shorter than a connection is kept
        raw.sendall(f"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode())
        raw.sendall(b"Content-Length: 2\r\n\r\n{")
        time.sleep(1.5 * LONG_S)
        raw.sendall(b"}")
        assert b" 400 " in raw.recv(1000)


def test_a_headset_is_not_hurried(served: Served) -> None:
    with served.connect("helmet") as headset:
        headset.wait_for("hello")
        time.sleep(2 * LONG_S)
        headset.send({"kind": "pause"})
        assert headset.wait_for("action")["kind"] == "pause"
        headset.finish()
