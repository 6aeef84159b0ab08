"""Authentication: everything but `/health` needs a token. Wrong tokens are answered late and alike.

A view token (`?look=`) is weaker: it opens one session's pictures and state for reading only.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from guide.serve.connections import Connections
from guide.serve.metrics import Metrics
from guide.serve.tokens import Identity, Role, Tokens

OPEN_PATH = "/health"
NO_TOKEN = "a token is needed: use the address that the server printed, which ends in ?token=..."
NO_TOKEN_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>CnC Guide</title><style>body { margin: 0 auto; max-width: 30rem; padding: 2rem 1.2rem; "
    "background: #10191d; color: #f1f5f4; font: 18px/1.45 system-ui, sans-serif; } "
    "code { color: #59d3a8; overflow-wrap: anywhere; }</style><h1>A token is needed</h1><p>Open the address that the "
    "server printed, which ends in <code>?token=...</code>, or scan its code again. On the machine where it runs, "
    "<code>python -m guide tokens</code> makes another token.</p></html>"
)
READING = ("GET", "HEAD")
IDENTITY = "guide.identity"
COOKIE = "guide_look"
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 8.0
FORGET_S = 300.0
MOST_ADDRESSES = 1_000
MOST_WAITING = 16
"""Of one address at the same time."""
MOST_WAITING_IN_ALL = 256


class FailureDelays:
    """Delays before a wrong token or password is answered: doubled with each failure, by address.

    Right ones are never delayed: behind a proxy others share the address.

    >>> delays = FailureDelays(clock=lambda: 0.0)
    >>> [delays.failed("192.0.2.7") for _ in range(6)]
    [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}
        self._waiting: Counter[str] = Counter()

    def failed(self, address: str) -> float:
        """Counts a failure; gives the delay in seconds before it is answered."""
        now = self._clock()
        count, last = self._failures.pop(address, (0, now))
        count = 0 if now - last > FORGET_S else count
        self._failures[address] = count + 1, now
        if len(self._failures) > MOST_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        return float(min(FIRST_DELAY_S * 2 ** min(count, 10), LONGEST_DELAY_S))

    async def wait_after_failure(self, address: str) -> None:
        """Counts a failure and waits, unless many do already: waiting requests use memory."""
        delay_s = self.failed(address)
        if self._waiting[address] >= MOST_WAITING or self._waiting.total() >= MOST_WAITING_IN_ALL:
            return
        self._waiting[address] += 1
        try:
            await asyncio.sleep(delay_s)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]


def is_right_token(given: object, token: str) -> bool:
    """Whether a token is the right one, compared in constant time.

    >>> is_right_token("secret", "secret"), is_right_token(None, "secret")
    (True, False)
    """
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(text.encode("utf-8", "replace"), token.encode())


def view_token(token: str, session: str) -> str:
    """A token to view one session and nothing else: `?look=` in the address of its pictures.

    >>> view_token("secret", "20300102-030405-00ff") == view_token("secret", "20300102-030405-00fe")
    False
    """
    return hmac.new(token.encode(), f"look {session}".encode(), hashlib.sha256).hexdigest()[:32]


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


class Guard:
    """Lets requests with a token through whose role allows them: as Authorization or `?token=`.

    The page's cookie and view tokens only allow reading. All others get the same answer, whatever they asked for.
    Whoever is let through stands in the scope as IDENTITY.
    """

    def __init__(
        self, app: ASGIApp, tokens: Tokens, delays: FailureDelays, metrics: Metrics, connections: Connections
    ) -> None:
        self._app, self._tokens, self._delays, self._metrics = app, tokens, delays, metrics
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == OPEN_PATH:
            await self._app(scope, receive, send)
            return
        identity = self._identify(scope)
        if identity is not None:
            needed = _needed(scope)
            scope[IDENTITY] = identity
            with self._connections.admitted(scope):
                words = f"this token is for {identity.role}, {needed} was expected: ask for another one."
                app = self._app if identity.may(needed) else JSONResponse({"error": words}, 403)
                await app(scope, receive, send)
            return
        self._metrics.count("guide_refusals_total", why="token")
        await self._delays.wait_after_failure(address_of(scope))
        # The answer never depends on the path: not even whether a page exists is revealed.
        headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store", "Connection": "close"}
        is_browser = "text/html" in Headers(scope=scope).get("accept", "")
        response = HTMLResponse(NO_TOKEN_PAGE) if is_browser else JSONResponse({"error": NO_TOKEN})
        response.status_code = 401
        response.headers.update(headers)
        await response(scope, receive, send)

    def _identify(self, scope: Scope) -> Identity | None:
        found = [identity for one in _tokens(scope) if (identity := self._tokens.identify(one)) is not None]
        if found or scope["method"] not in READING:  # cookies come unasked, addresses are shared: they change nothing
            return found[0] if found else None
        cookies = _cookies(Headers(scope=scope).get("cookie", ""))
        found = [identity for one in cookies if (identity := self._tokens.of_cookie(one)) is not None]
        if any(one.may("watch") for one in found) or not self._may_look(scope):
            return found[0] if found else None
        return Identity("watch")  # a camera's page brings its cookie as well, which allows less

    def _may_look(self, scope: Scope) -> bool:
        """Whether the address bears the view token of the session that it is about."""
        _, first, *rest = f"{scope['path']}/".split("/")
        if first != "sessions" or not rest[0]:
            return False
        wanted = view_token(self._tokens.token, rest[0])
        return any(is_right_token(one, wanted) for one in _query_values(scope, "look"))


def _needed(scope: Scope) -> Role:
    """What a request needs: the page, with its choice of bundles, is for cameras too, reading for viewers, the rest for
    operators."""
    if scope["method"] not in READING:
        return "operate"
    return "camera" if scope["path"] in ("/", "/bundles") or scope["path"].startswith("/page/") else "watch"


def _tokens(scope: Scope) -> list[str]:
    """The tokens a request brings."""
    kind, _, value = Headers(scope=scope).get("authorization", "").partition(" ")
    found = [value.strip()] if kind.lower() == "bearer" else []
    return found + _query_values(scope, "token")


def _query_values(scope: Scope, name: str) -> list[str]:
    """The values of a query parameter."""
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
