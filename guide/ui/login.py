"""The login in front of the dashboard, where a password is set: without it no page, socket or upload is reached."""

from __future__ import annotations

import os
from html import escape
from string import Template
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from guide.errors import InputError
from guide.serve.guard import address_of
from guide.ui.password import STAY_S, Login, current_login

COOKIE = "guide_pass"
OPEN_PATH = "/_stcore/health"
LONGEST_FORM = 4_096
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
    """Lets through whoever brings a login's cookie; all others get the form, or nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] == OPEN_PATH:
            await self._app(scope, receive, send)
            return
        answer: ASGIApp
        try:
            login = current_login(os.environ)
            if login is None or login.is_valid(HTTPConnection(scope).cookies.get(COOKIE)):
                answer = self._app
            elif scope["type"] == "websocket":
                answer = WebSocketClose()
            else:
                answer = await _answer(login, Request(scope, receive))
        except InputError as error:
            answer = _page(str(error), 503) if scope["type"] == "http" else WebSocketClose()
        await answer(scope, receive, send)


async def _answer(login: Login, request: Request) -> Response:
    if request.method != "POST":
        return _page()
    token = await login.log_in(await _password(request), address_of(request.scope))
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
