"""A real server on a free port, in a thread of the test, and a client that speaks the protocol by hand."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import numpy as np
import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from guide.commands.serve import serving
from guide.domain import Image
from guide.record.store import Store
from guide.record.values import SessionFilter
from guide.recording import RecordingOptions
from guide.serve.options import ServeOptions
from guide.settings import LiveSettings
from tests.synth import COLOURS, plain
from tests.waiting import until

TOKEN = "a-token-for-the-tests"
QUICK = LiveSettings(lag_s=0.4, confirm_s=0.3, bridge_s=0.3)


def jpeg(image: Image) -> bytes:
    return cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1].tobytes()


def step_picture(step: int, number: int = 0, times: int = 1) -> bytes:
    """A JPEG as the demonstrations of the tiny task show a step: its colour, a moving patch and noise.

    It is 64 x 48 pixels, or so many times as wide and high.
    """
    image = plain(COLOURS[step]).astype(np.float64)
    left = int(20 * (1 + np.sin(0.4 * number)))
    image[10:30, left : left + 12] = 255 - np.array(COLOURS[step])
    noise = np.random.default_rng(number).normal(0, 6, image.shape)
    shown = np.clip(image + noise, 0, 255).astype(np.uint8)
    return jpeg(np.repeat(np.repeat(shown, times, axis=0), times, axis=1))


def frame_message(picture: bytes, stamp: float | None = None) -> bytes:
    return struct.pack("<d", time.time() if stamp is None else stamp) + picture


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: where, and how to ask it."""

    port: int
    data: Path
    token: str = TOKEN

    def ask(
        self, path: str, plain: object = None, method: str | None = None, token: str | None = TOKEN,
        data: bytes | None = None, headers: dict[str, str] | None = None,
    ) -> Answer:  # fmt: skip
        sent = data if data is not None or plain is None else json.dumps(plain).encode()
        sent_headers = dict(headers or {}) | ({} if token is None else {"Authorization": f"Bearer {token}"})
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", sent, sent_headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), dict(error.headers))

    def connect(self, client: str = "helmet", token: str = TOKEN, **more: object) -> Headset:
        return Headset(self.port, {"token": token, "client": client, **more})

    def count(self, name: str) -> float:
        """The value of a metric, its labels in the name."""
        for line in self.ask("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        return 0.0


class Headset:
    """A client of the server; `heard` is all it was told besides acknowledgements, `acks` those."""

    def __init__(self, port: int, greeting: object, sock: socket.socket | None = None) -> None:
        self._held = ExitStack()
        address = f"ws://127.0.0.1:{port}/frames"
        self.socket: ClientConnection = self._held.enter_context(
            connect(address, compression=None, max_size=None, sock=sock, close_timeout=1.0, ping_interval=None)
        )
        self.heard: list[dict[str, Any]] = []
        self.acks: list[dict[str, Any]] = []
        self.sent = 0
        self.code: int | None = None
        self._number = 0
        with contextlib.suppress(ConnectionClosed):  # refused before it could speak: told by the code
            self.socket.send(greeting if isinstance(greeting, str | bytes) else json.dumps(greeting))

    def __enter__(self) -> Headset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._held.close()

    def hear(self, timeout_s: float = 10.0) -> dict[str, Any] | None:
        """The next message; nothing when the connection was closed, which `code` then says. Raises TimeoutError."""
        try:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout_s))
        except ConnectionClosed as closed:
            self.code = closed.rcvd.code if closed.rcvd is not None else 1006
            return None
        (self.acks if message["type"] == "ack" else self.heard).append(message)
        return message

    def wait_for(self, kind: str, timeout_s: float = 10.0) -> dict[str, Any]:
        """The next message of this kind."""
        deadline = time.monotonic() + timeout_s
        while (message := self.hear(max(0.01, deadline - time.monotonic()))) is not None:
            if message["type"] == kind:
                return message
        raise AssertionError(f"the connection was closed with {self.code} before any {kind}: {self.heard}")

    def send(self, message: object) -> None:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def frame(self, picture: bytes, stamp: float | None = None) -> None:
        """Sends a frame once fewer than two are in flight."""
        while self.sent - len(self.acks) >= 2:
            self.wait_for("ack")
        self.sent += 1
        self.socket.send(frame_message(picture, stamp))

    def show(self, steps: tuple[int, ...], step_s: float, rate: float = 7.5) -> None:
        """Shows steps to the server, each for so long, in real time."""
        for step in steps:
            began = time.monotonic()
            while (passed := time.monotonic() - began) < step_s:
                self._number += 1
                self.frame(step_picture(step, self._number))
                time.sleep(max(0.0, 1 / rate - (time.monotonic() - began - passed)))

    def finish(self) -> dict[str, Any]:
        """Ends the session and gives its summary."""
        self.send({"type": "end"})
        return self.wait_for("summary", 30.0)

    def said(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.heard if message["type"] == kind]


def settled(served: Served, headset: Headset, records: str | None = None) -> dict[str, Any]:
    """Where a headset's session stands once all that it sent is seen, and all that followed from it is stored."""
    while len(headset.acks) < headset.sent:
        headset.wait_for("ack")
    session = headset.said("hello")[0]["session"]
    state: dict[str, Any] = served.ask(f"/sessions/{session}").json
    wanted = state["health"]["processed"], len(state["actions"])
    with Store(served.data, is_new=False, records=records) as store:

        def is_stored() -> bool:
            found = store.sessions(SessionFilter(id=session))
            return [(one.frames, len(store.contents(session).actions)) for one in found] == [wanted]

        until(is_stored)
    return state


@contextmanager
def running(bundle: Path, data: Path, record: bool = True, is_fleet: bool = False, **options: Any) -> Iterator[Served]:
    """A server in a thread, or one of a fleet; leaving ends it and all its sessions."""
    chosen: dict[str, Any] = {"port": 0, "token": TOKEN, "threads": 1, "device": "cpu", "live": QUICK, **options}
    recording = RecordingOptions(record=record, data=data, video=False, is_fleet=is_fleet)
    with in_thread(serving(ServeOptions(bundle, recording=recording, **chosen))) as port:
        yield Served(port, data)


@contextmanager
def in_thread(made: AbstractContextManager[tuple[uvicorn.Server, socket.socket, str]]) -> Iterator[int]:
    """Runs a server in a thread; its port."""
    with made as (server, sock, _):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield int(sock.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(30.0)
            assert not thread.is_alive(), "the server did not stop"
