"""The login in front of the dashboard, where a password is set: without it no page, socket or upload is reached."""

from __future__ import annotations

import ipaddress
import os
import socket
from html import escape
from string import Template
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from guide.errors import InputError
from guide.serve.guard import address_of
from guide.ui.password import STAY_S, BusyError, Login, current_login

COOKIE = "guide_pass"
OPEN_PATH = "/_stcore/health"
LONGEST_FORM = 4_096
STRANGE = (
    "Without a password this page opens by its machine's IP address or as localhost only: to open it by another name, "
    "set a password with `python -m guide.ui.password`."
)
FOREIGN = "A page of another address asked for this: open this one itself; a proxy has to pass on Host as it came."
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Connection": "close",  # what was sent besides, such as a file, is not read
}
PAGE = Template("""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Guide</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light dark } body { font: 1rem sans-serif; max-width: 22rem; margin: 18vh auto; padding: 0 1rem }
label, input, button { display: block; width: 100%; box-sizing: border-box; margin-top: .5rem; font: inherit }
input, button { padding: .6rem } [role=alert] { color: #c82828 }
</style></head><body><h1>CnC Guide</h1><form method="post"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" autofocus required>
<button>Log in</button></form><p role="alert">$words</p></body></html>""")


class LoginGuard:
    """Lets through whoever brings a login's cookie; all others get the form, or nothing.

    Whatever is asked for with a login's cookie, or without a password, is done, so the page itself must ask: none of
    another origin, nor, without a password, one whose name was made to mean this machine. No page of others may show it
    in a frame.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] == OPEN_PATH:
            await self._app(scope, receive, send)
            return
        answer: ASGIApp
        is_socket, asked = scope["type"] == "websocket", HTTPConnection(scope)
        try:
            login, host = current_login(os.environ), asked.headers.get("host", "")
            is_own = is_own_page(host, asked.headers.get("origin"))
            if not is_own or (login is None and not is_own_name(host)):
                words = STRANGE if is_own else FOREIGN
                answer = WebSocketClose() if is_socket else PlainTextResponse(words, 403, {"Connection": "close"})
            elif login is None or login.is_valid(asked.cookies.get(COOKIE)):
                answer = self._app
            elif is_socket:
                answer = WebSocketClose()
            else:
                answer = await _answer(login, Request(scope, receive))
        except InputError as error:
            answer = WebSocketClose() if is_socket else _page(str(error), 503)
        await answer(scope, receive, _unframed(send))


def is_own_page(host: str, origin: str | None) -> bool:
    """Whether a request for a `host` comes from a page of that host, if from any. Ports count: cookies ignore them.

    >>> is_own_page("localhost:8501", "http://localhost:8501"), is_own_page("localhost:8501", "http://localhost:9000")
    (True, False)
    """
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False


def is_own_name(host: str) -> bool:
    """Whether nobody else can name a `host` so: names with a dot are given out by others, who may let them mean us.

    >>> [is_own_name(host) for host in ("localhost:8501", "127.0.0.1", "[::1]:8501", "bench", "elsewhere.example")]
    [True, True, True, True, False]
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name and ("." not in name or name.endswith(".localhost") or name == socket.gethostname().lower()):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _unframed(send: Send) -> Send:
    """Sends answers that no page of another origin may show in a frame: whoever clicks there would click here."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Frame-Options"] = "SAMEORIGIN"
        await send(message)

    return sent


async def _answer(login: Login, request: Request) -> Response:
    if request.method != "POST":
        return _page()
    try:
        token = await login.log_in(await _password(request), address_of(request.scope))
    except BusyError as error:
        return _page(str(error), 429)
    if token is None:
        return _page("Wrong password.")
    response = RedirectResponse("/" + request.url.path.lstrip("/"), 303)  # two slashes would lead to another host
    is_secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
    response.set_cookie(COOKIE, token, round(STAY_S), httponly=True, samesite="strict", secure=is_secure)
    return response


async def _password(request: Request) -> str:
    """The password of the form; nothing where something else or far too much was sent."""
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > LONGEST_FORM:
            return ""
    try:
        return parse_qs(data.decode(), max_num_fields=5).get("password", [""])[0]
    except ValueError:
        return ""


def _page(words: str = "", status: int = 401) -> Response:
    return HTMLResponse(PAGE.substitute(words=escape(words)), status, HEADERS)
