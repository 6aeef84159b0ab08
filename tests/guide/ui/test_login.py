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
from guide.ui.login import COOKIE, LONGEST_FORM, LoginGuard
from guide.ui.password import PasswordHash
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


def ask(method: str, path: str, body: bytes = b"", cookie: str = "", kind: str = "http") -> Answer:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": kind, "method": method, "path": path, "query_string": b"", "scheme": "http", "client": ("192.0.2.7", 1),
        "server": ("192.0.2.1", 80), "headers": [(b"host", b"192.0.2.1"), (b"cookie", cookie.encode())],
    }  # fmt: skip
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


def test_the_dashboard_takes_no_upload_before_the_password(tmp_path: Path) -> None:
    with serve(tmp_path, CNC_PASSWORD=KEPT) as address:
        for method, path in (("PUT", "/_stcore/upload_file/x/y"), ("GET", "/_stcore/stream"), ("GET", "/")):
            connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30.0)
            connection.request(method, path, b"x" * 1000)
            answer = connection.getresponse()
            assert (answer.status, b"Password" in answer.read()) == (401, True)
            connection.close()
