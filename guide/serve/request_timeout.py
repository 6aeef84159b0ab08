"""A time-out for HTTP requests: connections that stay silent must not use up those of others."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0


class RequestTimeoutProtocol(H11Protocol):
    """Uvicorn's HTTP protocol that closes a connection whose request head is not complete within REQUEST_S.

    >>> RequestTimeoutProtocol.__mro__[1].__name__
    'H11Protocol'
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # an incomplete head; between two requests uvicorn's own time-out applies
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
