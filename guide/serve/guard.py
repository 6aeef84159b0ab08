"""Who may come in: a token for everything but `/health`. A wrong one learns nothing and waits.

A look is less than the token: it opens one session's pictures and state, and nothing that changes something.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import math
import time
from collections import Counter
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from guide.serve.metrics import Metrics

OPEN_PATH = "/health"
COOKIE = "guide_look"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
FORGET_S = 300.0
MOST_ADDRESSES = 1_000
MOST_WAITING = 16
"""Of one address at the same time."""
MOST_WAITING_IN_ALL = 256
LOOK_S = 0.5
"""Between two looks at tokens of an address where too many wait: others may share it, behind a proxy."""


class Pauses:
    """How long somebody with a wrong token waits for the answer: twice as long each time, by address.

    Where too many of an address wait, of further tokens from there one is looked at now and then: many at once guess
    no faster than that, and whoever knows the token still comes in.

    >>> pauses = Pauses(clock=lambda: 0.0)
    >>> [pauses.failed("192.0.2.7") for _ in range(6)]
    [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}
        self._waiting: Counter[str] = Counter()
        self._looked: dict[str, float] = {}  # when a token of a crowded address was looked at last

    def failed(self, address: str) -> float:
        """Notes a failure and gives the pause in seconds before it is answered."""
        now = self._clock()
        count, last = self._failures.pop(address, (0, now))
        count = 0 if now - last > FORGET_S else count
        self._failures[address] = count + 1, now
        if len(self._failures) > MOST_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        return float(min(FIRST_PAUSE_S * 2 ** min(count, 10), LONGEST_PAUSE_S))

    def may_look(self, address: str) -> bool:
        """Whether a token from there is looked at now; otherwise it is turned away unseen, and at once."""
        if not self.is_crowded(address):
            return True
        now = self._clock()
        if now - self._looked.get(address, -math.inf) < LOOK_S:
            return False
        self._looked.pop(address, None)
        self._looked[address] = now
        if len(self._looked) > MOST_ADDRESSES:
            del self._looked[next(iter(self._looked))]
        return True

    def is_crowded(self, address: str) -> bool:
        """Whether so many wait already that no more are let wait."""
        is_full = self._waiting.total() >= MOST_WAITING_IN_ALL and address in self._failures
        return is_full or self._waiting[address] >= MOST_WAITING

    async def punish(self, address: str) -> None:
        """Waits, unless it is crowded there: they should take up no room."""
        is_crowded = self.is_crowded(address)
        pause_s = self.failed(address)
        if is_crowded:
            return
        self._waiting[address] += 1
        try:
            await asyncio.sleep(pause_s)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]


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


def pass_of(token: str) -> str:
    """What the page's cookie holds. Browsers bring it to every port of a machine, so it is less than the token.

    >>> pass_of("secret") == look_of("secret", "")
    False
    """
    return hmac.new(token.encode(), b"cookie", hashlib.sha256).hexdigest()[:32]


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


class Guard:
    """Lets requests through that bring the token: as Authorization, as `?token=`, or, to look only, the page's cookie.

    What is not let through gets the same answer whatever it asked for.
    """

    def __init__(self, app: ASGIApp, token: str, pauses: Pauses, metrics: Metrics) -> None:
        self._app, self._token, self._pauses, self._metrics = app, token, pauses, metrics
        self._pass = pass_of(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http, address = scope["type"] == "http", address_of(scope)
        if not is_http or scope["path"] == OPEN_PATH or (self._pauses.may_look(address) and self._is_allowed(scope)):
            await self._app(scope, receive, send)
            return
        self._metrics.count("guide_refusals_total", why="token")
        await self._pauses.punish(address)
        # Whatever was asked for, the answer is the same: not even whether there is such a page is told.
        headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store", "Connection": "close"}
        await JSONResponse({"error": "a token is needed."}, 401, headers)(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        if any(is_right(one, self._token) for one in _tokens(scope)):
            return True
        if scope["method"] not in ("GET", "HEAD"):  # what comes by itself or stands in a page changes nothing
            return False
        if any(is_right(one, self._pass) for one in _cookies(Headers(scope=scope).get("cookie", ""))):
            return True
        _, first, *rest = f"{scope['path']}/".split("/")
        if first != "sessions" or not rest[0]:
            return False
        wanted = look_of(self._token, rest[0])
        return any(is_right(one, wanted) for one in _asked(scope, "look"))


def _tokens(scope: Scope) -> list[str]:
    """The tokens a request brings."""
    kind, _, value = Headers(scope=scope).get("authorization", "").partition(" ")
    found = [value.strip()] if kind.lower() == "bearer" else []
    return found + _asked(scope, "token")


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
