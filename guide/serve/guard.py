"""Who may come in: a token for everything but `/health`. A wrong one learns nothing and waits.

A look is less than the token: it opens one session's pictures and state, and nothing that changes something.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from guide.serve.metrics import Metrics

OPEN_PATH = "/health"
COOKIE = "guide_token"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
FORGET_S = 300.0
MOST_ADDRESSES = 1_000
MOST_WAITING = 64


class Pauses:
    """How long somebody with a wrong token waits for the answer: twice as long each time, by address.

    >>> pauses = Pauses(clock=lambda: 0.0)
    >>> [pauses.failed("192.0.2.7") for _ in range(6)]
    [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}
        self._waiting = 0

    def failed(self, address: str) -> float:
        """Notes a failure and gives the pause in seconds before it is answered."""
        now = self._clock()
        count, last = self._failures.pop(address, (0, now))
        count = 0 if now - last > FORGET_S else count
        self._failures[address] = count + 1, now
        if len(self._failures) > MOST_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        return float(min(FIRST_PAUSE_S * 2 ** min(count, 10), LONGEST_PAUSE_S))

    async def punish(self, address: str) -> None:
        """Waits; where very many wait already the answer comes at once, so that they take up no room."""
        pause_s = self.failed(address)
        if self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(pause_s)
        finally:
            self._waiting -= 1


def is_right(given: object, token: str) -> bool:
    """Whether a token is the right one, in a time that does not tell how much of it is.

    >>> is_right("secret", "secret"), is_right(None, "secret")
    (True, False)
    """
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(text.encode("utf-8", "replace"), token.encode())


def look_of(token: str, session: str) -> str:
    """What lets somebody look at one session, to be put as `?look=` into the address of its pictures.

    >>> look_of("secret", "20300102-030405-00ff") == look_of("secret", "20300102-030405-00fe")
    False
    """
    return hmac.new(token.encode(), f"look {session}".encode(), hashlib.sha256).hexdigest()[:32]


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


class Guard:
    """Lets requests through that bring the token: as Authorization, as `?token=`, or (only to look) as cookie."""

    def __init__(self, app: ASGIApp, token: str, pauses: Pauses, metrics: Metrics) -> None:
        self._app, self._token, self._pauses, self._metrics = app, token, pauses, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        if not is_http or scope["path"] == OPEN_PATH or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        self._metrics.count("guide_refusals_total", why="token")
        await self._pauses.punish(address_of(scope))
        # Whatever was asked for, the answer is the same: not even whether there is such a page is told.
        headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store", "Connection": "close"}
        await JSONResponse({"error": "a token is needed."}, 401, headers)(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        if any(is_right(one, self._token) for one in _tokens(scope)):
            return True
        _, first, *rest = f"{scope['path']}/".split("/")
        if scope["method"] not in ("GET", "HEAD") or first != "sessions" or not rest[0]:
            return False
        wanted = look_of(self._token, rest[0])
        return any(is_right(one, wanted) for one in _asked(scope, "look"))


def _tokens(scope: Scope) -> list[str]:
    """The tokens a request brings; a cookie comes by itself, so it opens nothing that changes something."""
    headers = Headers(scope=scope)
    kind, _, value = headers.get("authorization", "").partition(" ")
    found = [value.strip()] if kind.lower() == "bearer" else []
    found += _asked(scope, "token")
    if scope["method"] in ("GET", "HEAD"):
        found += _cookies(headers.get("cookie", ""))
    return found


def _asked(scope: Scope, name: str) -> list[str]:
    """What the query says under a name."""
    query = scope.get("query_string", b"").decode("latin-1")
    try:
        return parse_qs(query, max_num_fields=20).get(name, [])
    except ValueError:  # too many fields
        return []


def _cookies(text: str) -> list[str]:
    try:
        cookies = SimpleCookie(text)
    except CookieError:
        return []
    return [cookies[COOKIE].value] if COOKIE in cookies else []
