"""Connections must say what they want: those that come and keep silent would take up the room of others."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0


class PromptProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, but a request whose head is not there within REQUEST_S ends the connection.

    >>> PromptProtocol.__mro__[1].__name__
    'H11Protocol'
    """

    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # a head has begun and is not whole; between two requests uvicorn waits
            self._expect()
        else:
            self._relax()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._overdue is None:
            self._overdue = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _relax(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
