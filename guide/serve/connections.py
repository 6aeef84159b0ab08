"""Connections that have not shown a token: few, small and short-lived, so that they use up nothing others need."""

from __future__ import annotations

import contextlib
import math
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

STRANGER_S = 20.0  # to connect, agree on TLS, ask, and be told late that the token was wrong
GREETING_BYTES = 32 * 1024
STRANGERS_PART, PART = 1024, 64 * 1024  # of what came, looked at in one go
MOST_PINGS = 100  # and pongs, between two messages or in a minute without any
MOST_PARTS = 1_000  # of a message
MINUTE_S = 60.0
RESERVED_SHARE = 0.5  # of the files that a process may open: for recordings, cameras and networks
GREETED = "guide.greeted"

_Peer: TypeAlias = tuple[str, int, int]  # address and port there, port here


class Connections:
    """All open connections. Those not being served with a token are strangers.

    Where there are too many strangers, the oldest of the address that has most of them goes: whoever knows the token
    shows it at once.

    >>> connections = Connections(most_strangers=256)
    >>> with connections.admitted({"client": ("192.0.2.7", 4711), "server": ("192.0.2.1", 8765)}):
    ...     connections.strangers
    0
    """

    def __init__(self, most_strangers: int, clock: Callable[[], float] = time.monotonic) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = math.inf if files == resource.RLIM_INFINITY else (1 - RESERVED_SHARE) * files
        self._most_strangers, self._clock = min(most_strangers, self._most / 2), clock
        self._open: dict[_Peer, _Connection] = {}
        self._strangers: dict[_Peer, float] = {}  # since when, oldest first

    @property
    def strangers(self) -> int:
        return len(self._strangers)

    def listen(self, listening: socket.socket) -> socket.socket:
        """The same listening socket; what it accepts is counted here."""
        return _Listener(listening, self)

    @contextlib.contextmanager
    def admitted(self, scope: Scope) -> Iterator[None]:
        """Within it a request or WebSocket is served whose token was right."""
        peer = (*scope["client"], scope["server"][1]) if scope.get("client") and scope.get("server") else None
        if peer in self._strangers:
            del self._strangers[peer]
        try:
            yield
        finally:
            if peer in self._open:
                self._strangers[peer] = self._clock()

    async def close_silent(self) -> None:
        """Closes the connections of those who have been strangers for too long; to be called every second."""
        now = self._clock()
        for peer in [peer for peer, since in self._strangers.items() if now - since > STRANGER_S]:
            self._close(peer)

    def take(self, accepted: socket.socket, address: Any) -> socket.socket | None:
        """A connection just accepted, from now on counted; None where it was closed for want of descriptors."""
        if len(self._open) >= self._most:
            accepted.close()
            return None
        peer = address[0], address[1], accepted.getsockname()[1]
        self._open[peer] = connection = _Connection(accepted, partial(self._forget, peer))
        self._strangers[peer] = self._clock()
        if len(self._strangers) > self._most_strangers:
            crowds = Counter(host for host, *_ in self._strangers)
            largest = max(crowds.values())
            self._close(next(peer for peer in self._strangers if crowds[peer[0]] == largest))
        return connection

    def _close(self, peer: _Peer) -> None:
        """The event loop then reads its end and closes it."""
        del self._strangers[peer]
        with contextlib.suppress(OSError):
            self._open[peer].shutdown(socket.SHUT_RDWR)

    def _forget(self, peer: _Peer, connection: socket.socket) -> None:
        if self._open.get(peer) is connection:  # else another one has its port already
            del self._open[peer]
            self._strangers.pop(peer, None)


class _Connection(socket.socket):
    """An accepted connection that tells when it is closed."""

    def __init__(self, accepted: socket.socket, tell: Callable[[socket.socket], None]) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self._tell = tell

    def close(self) -> None:
        super().close()
        self._tell(self)


class _Listener(socket.socket):
    """A listening socket whose connections are counted before anything is read from them, TLS included."""

    def __init__(self, listening: socket.socket, connections: Connections) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        while True:
            accepted, address = super().accept()
            connection = self._connections.take(accepted, address)
            if connection is not None:
                return connection, address


class BoundedProtocol(WebSocketsSansIOProtocol):
    """Uvicorn's WebSocket protocol that reads no further while a message waits to be taken.

    Until the scope's extension GREETED is called it reads GREETING_BYTES in all. Pings without an end close it.

    >>> BoundedProtocol.__mro__[1].__name__
    'WebSocketsSansIOProtocol'
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._unread = bytearray()
        self._left: float = GREETING_BYTES
        self._pings = self._parts = 0
        self._counted_from = time.monotonic()

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while self._unread and not self.read_paused and not self.transport.is_closing():
            # A stranger's message may be followed by thousands that are empty.
            part = bytes(self._unread[: STRANGERS_PART if self._is_stranger else PART])
            del self._unread[: len(part)]
            if self.handshake_initiated:
                self._left -= len(part)
            if self._left < 0 or (self._is_stranger and self.close_sent):
                self.transport.close()
            else:
                super().data_received(part)

    @property
    def _is_stranger(self) -> bool:
        return self._left < math.inf

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):  # else it was no proper handshake
            self.scope["extensions"][GREETED] = self._greeted  # type: ignore[assignment]

    def handle_ping(self) -> None:
        if not self._is_flooded():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if not self._is_flooded():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:  # empty ones add up to no size that would be refused
            self.transport.close()
        else:
            super().handle_cont(event)

    def _is_flooded(self) -> bool:
        """Whether one ping or pong too many came, for which the connection is closed."""
        now = time.monotonic()
        if now - self._counted_from > MINUTE_S:  # who only looks on sends nothing else
            self._counted_from, self._pings = now, 0
        self._pings += 1
        if self._pings > MOST_PINGS:
            self.transport.close()
        return self._pings > MOST_PINGS

    async def receive(self) -> Any:
        message = await super().receive()
        self._pings = self._parts = 0
        if not self._is_stranger:
            self.data_received(b"")
        return message

    def _greeted(self) -> None:
        self._left = math.inf
        self.data_received(b"")
