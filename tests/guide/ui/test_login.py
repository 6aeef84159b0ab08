"""The login in front of everything: pages, files, sockets and uploads are reached after it alone."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.types import Receive, Scope, Send

from guide.serve import guard
from guide.ui.login import COOKIE, FOREIGN, LONGEST_FORM, STRANGE, LoginGuard
from guide.ui.password import BusyError, Login, PasswordHash
from tests.dashboard import serve

KEPT = PasswordHash.of("correct horse").line()


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    """What lies behind the login: it answers requests and accepts sockets."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


class Answer:
    """What came back: its status, headers and words; of a socket the type of the first message."""

    def __init__(self, sent: list[MutableMapping[str, Any]]) -> None:
        self.kind: str = sent[0]["type"]
        self.status: int = sent[0].get("status", 0)
        self.headers = {name.decode(): value.decode() for name, value in sent[0].get("headers", [])}
        self.text = b"".join(one.get("body", b"") for one in sent[1:]).decode()


def ask(
    method: str, path: str, body: bytes = b"", cookie: str = "", kind: str = "http", host: str = "192.0.2.1",
    origin: str | None = None,
) -> Answer:  # fmt: skip
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": kind, "method": method, "path": path, "query_string": b"", "scheme": "http", "client": ("192.0.2.7", 1),
        "server": ("192.0.2.1", 80), "headers": [(b"host", host.encode()), (b"cookie", cookie.encode())],
    }  # fmt: skip
    if origin is not None:
        scope["headers"].append((b"origin", origin.encode()))
    asyncio.run(LoginGuard(inside)(scope, receive, send))
    return Answer(sent)


def give(password: str, path: str = "/") -> Answer:
    return ask("POST", path, urlencode({"password": password}).encode())


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CNC_DATA", str(tmp_path))
    monkeypatch.setenv("CNC_PASSWORD", KEPT)
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)


@pytest.mark.parametrize("path", ["/", "/sessions", "/_stcore/host-config", "/static/js/index.js", "/media/x.jpg"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_without_a_login_everything_is_the_form(method: str, path: str) -> None:
    answer = ask(method, path)
    assert (answer.status, "inside" in answer.text) == (401, False)
    assert ask(method, path, cookie=f"{COOKIE}=guessed").status == 401


def test_without_a_login_no_socket_is_opened() -> None:
    assert ask("GET", "/_stcore/stream", kind="websocket").kind == "websocket.close"


def test_health_needs_none() -> None:
    assert ask("GET", "/_stcore/health").text == "inside"


def test_the_right_password_opens_everything() -> None:
    assert "Wrong password" in give("wrong horse", "/sessions").text
    answer = give("correct horse", "/sessions")
    assert (answer.status, answer.headers["location"]) == (303, "/sessions")
    assert "HttpOnly" in answer.headers["set-cookie"]
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert ask("PUT", "/_stcore/upload_file/x/y", cookie=cookie).text == "inside"
    assert ask("GET", "/_stcore/stream", cookie=cookie, kind="websocket").kind == "websocket.accept"


@pytest.mark.parametrize("origin", ["http://192.0.2.1:9000", "http://elsewhere.example", "null", "http://[x"])
def test_no_page_of_another_port_uses_a_login(origin: str) -> None:
    """Cookies know no ports, and strict ones are sent between the sites of one machine."""
    cookie = give("correct horse").headers["set-cookie"].partition(";")[0]
    for method, path in (("GET", "/"), ("PUT", "/_stcore/upload_file/x/y"), ("POST", "/")):
        assert ask(method, path, cookie=cookie, origin=origin).status == 403
    assert ask("GET", "/_stcore/stream", cookie=cookie, kind="websocket", origin=origin).kind == "websocket.close"
    own = ask("GET", "/_stcore/stream", cookie=cookie, kind="websocket", origin="https://192.0.2.1")
    assert own.kind == "websocket.accept"


def test_a_login_leads_to_no_other_host() -> None:
    assert give("correct horse", "//elsewhere.example/x").headers["location"].startswith("/elsewhere")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"password", b"&" * 100, b"password=" + b"x" * 2 * LONGEST_FORM])
def test_any_other_form_is_a_wrong_password(data: bytes) -> None:
    assert ask("POST", "/", data).status == 401


def test_a_password_kept_unhashed_keeps_everybody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNC_PASSWORD", "hunter2")
    answer = give("hunter2")
    assert (answer.status, "hunter2" in answer.text) == (503, False)
    assert ask("GET", "/_stcore/stream", kind="websocket").kind == "websocket.close"


def test_without_a_password_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CNC_PASSWORD")
    assert ask("GET", "/").text == "inside"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("elsewhere.example:8501", "http://elsewhere.example:8501"),  # a name that was made to mean this machine
        ("elsewhere.example", None),
        ("", None),
        ("[::1", None),
        ("localhost:8501", "http://elsewhere.example"),
        ("localhost:8501", "http://localhost:9000"),  # another program's page
        ("localhost:8501", "null"),
    ],
)
def test_without_a_password_no_page_of_others_reaches_anything(
    monkeypatch: pytest.MonkeyPatch, host: str, origin: str | None
) -> None:
    monkeypatch.delenv("CNC_PASSWORD")
    for method in ("GET", "PUT", "POST"):
        answer = ask(method, "/_stcore/upload_file/x/y", host=host, origin=origin)
        assert (answer.status, answer.text) == (403, STRANGE if origin is None or origin.endswith(host) else FOREIGN)
    assert ask("GET", "/_stcore/stream", kind="websocket", host=host, origin=origin).kind == "websocket.close"


def test_with_a_password_the_dashboard_may_have_any_name() -> None:
    cookie = give("correct horse").headers["set-cookie"].partition(";")[0]
    assert ask("GET", "/", cookie=cookie, host="guide.example").text == "inside"


@pytest.mark.parametrize("kept", [KEPT, ""])
def test_no_page_of_others_shows_it_in_a_frame(monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    monkeypatch.setenv("CNC_PASSWORD", kept)
    assert ask("GET", "/").headers["x-frame-options"] == "SAMEORIGIN"


def test_too_many_tries_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*_: object) -> str:
        raise BusyError("Too many: try again.")

    monkeypatch.setattr(Login, "log_in", busy)
    answer = give("correct horse")
    assert (answer.status, "Too many: try again." in answer.text) == (429, True)


def test_no_other_page_opens_the_socket_of_a_dashboard_without_a_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CNC_PASSWORD")
    with serve(tmp_path) as address:
        place = address.removeprefix("http://")
        socket = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "streamlit"}  # fmt: skip
        for host, status in ((place, 101), (f"elsewhere.example:{place.rpartition(':')[2]}", 403)):
            connection = http.client.HTTPConnection(place, timeout=30.0)
            connection.request("GET", "/_stcore/stream", headers={**socket, "Host": host, "Origin": f"http://{host}"})
            assert connection.getresponse().status == status
            connection.close()


def test_the_dashboard_takes_no_upload_before_the_password(tmp_path: Path) -> None:
    with serve(tmp_path, CNC_PASSWORD=KEPT) as address:
        for method, path in (("PUT", "/_stcore/upload_file/x/y"), ("GET", "/_stcore/stream"), ("GET", "/")):
            connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30.0)
            connection.request(method, path, b"x" * 1000)
            answer = connection.getresponse()
            assert (answer.status, b"Password" in answer.read()) == (401, True)
            connection.close()
