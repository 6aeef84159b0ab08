"""The webhook against a small server: there, down, slow, failing, refusing; and no secret in any log."""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from guide.errors import InputError
from guide.record.webhook import Webhook, WebhookSettings, check_address
from tests.waiting import until

QUICK = WebhookSettings(timeout_s=0.3, first_pause_s=0.01, longest_pause_s=0.05, patience_s=5.0)


class Target:
    """A server that answers as told and remembers what came."""

    def __init__(self, port: int = 0) -> None:
        self.answers: list[int] = []
        self.delay_s = 0.0
        self.got: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._gate = threading.Event()
        target = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = target.answers.pop(0) if target.answers else 200
                if target.delay_s:
                    target._gate.wait(target.delay_s)
                if status < 300:
                    target.got.append(json.loads(body))
                    target.paths.append(self.path)
                    target.headers.append(dict(self.headers))
                self.send_response(status)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Answering)
        self.port = self.server.server_address[1]
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._gate.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join(5.0)


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.close()


def test_alerts_arrive_in_order(target: Target) -> None:
    hook = Webhook(f"http://127.0.0.1:{target.port}/a/b?key=1", QUICK)
    for number in range(5):
        hook.post({"type": "alert", "id": number, "name": "Schraube ✖"})
    hook.close()
    assert [one["id"] for one in target.got] == list(range(5))
    assert target.got[0]["name"] == "Schraube ✖"
    assert target.paths[0] == "/a/b?key=1"
    assert "Authorization" not in target.headers[0]
    assert (hook.delivered, hook.given_up) == (5, 0)


def test_nobody_waits_for_a_target_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer_late(*_: object) -> int:
        is_asked.set()
        assert may_answer.wait(20.0)
        return 200

    monkeypatch.setattr(Webhook, "_send", answer_late)
    hook = Webhook("http://127.0.0.1:9/", QUICK)
    hook.post({"id": 0})
    assert is_asked.wait(20.0)
    for number in range(1, 20):
        hook.post({"id": number})
    assert (hook.waiting, hook.delivered) == (20, 0)
    may_answer.set()
    until(lambda: hook.delivered == 20)
    hook.close()


def test_a_target_that_is_down_gets_everything_once_it_is_up() -> None:
    first = Target()
    first.close()
    told: list[str] = []
    hook = Webhook(f"http://127.0.0.1:{first.port}/", QUICK, told.append)
    for number in range(20):
        hook.post({"id": number})
    until(lambda: bool(told))
    again = Target(first.port)
    hook.close()
    again.close()
    assert [one["id"] for one in again.got] == list(range(20))
    assert "cannot be reached" in told[0]
    assert "answers again" in told[1]
    assert len(told) == 2, "one sentence for the trouble, one for its end"


def test_errors_are_tried_again_with_growing_pauses(target: Target) -> None:
    target.answers = [500, 503, 429, 408, 200]
    hook = Webhook(f"http://127.0.0.1:{target.port}/", QUICK, [].append)  # type: ignore[arg-type]
    hook.post({"id": 1})
    until(lambda: hook.delivered == 1)
    hook.close()
    assert [one["id"] for one in target.got] == [1]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 410])
def test_a_refusal_is_told_of_and_not_repeated(target: Target, status: int) -> None:
    told: list[str] = []
    target.answers = [status]
    hook = Webhook(f"http://127.0.0.1:{target.port}/", QUICK, told.append)
    hook.post({"id": 1})
    hook.post({"id": 2})
    hook.close()
    assert [one["id"] for one in target.got] == [2]
    assert f"status {status}" in told[0]


def test_a_slow_target_is_not_waited_for_beyond_the_timeout(target: Target) -> None:
    told: list[str] = []
    target.delay_s = 30.0
    hook = Webhook(f"http://127.0.0.1:{target.port}/", QUICK, told.append)
    hook.post({"id": 1})
    until(lambda: bool(told))
    target.delay_s = 0.0
    until(lambda: hook.delivered == 1)
    hook.close()


def test_the_list_is_bounded_and_the_oldest_goes_first() -> None:
    first = Target()
    first.close()
    hook = Webhook(
        f"http://127.0.0.1:{first.port}/",
        WebhookSettings(0.2, 5.0, most_waiting=3, patience_s=0.0),
        [].append,  # type: ignore[arg-type]
    )
    for number in range(10):
        hook.post({"id": number})
    assert hook.waiting == 3
    assert json.loads(hook._waiting[0])["id"] == 7
    hook.close()


def test_the_end_does_not_wait_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    first = Target()
    first.close()
    told: list[str] = []
    hook = Webhook(f"http://127.0.0.1:{first.port}/", WebhookSettings(0.2, 60.0, patience_s=0.05), told.append)
    hook.post({"id": 1})
    began = time.monotonic()
    hook.close()
    assert time.monotonic() - began < 2.0
    assert "1 alert could not be delivered" in told[-1]


def test_names_and_passwords_go_to_the_target_alone(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    target.answers = [500, 403]
    url = f"http://desk:s%40cret-word@127.0.0.1:{target.port}/hook/PATHTOKEN?key=QUERYTOKEN"
    hook = Webhook(url, QUICK, told.append)
    for number in range(2):
        hook.post({"id": number})
    hook.close()
    wanted = "Basic " + base64.b64encode(b"desk:s@cret-word").decode()
    assert target.headers[0]["Authorization"] == wanted
    everything = "\n".join([*told, caplog.text, repr(hook)])
    for secret in ("s%40cret", "s@cret", "PATHTOKEN", "QUERYTOKEN", "desk:"):
        assert secret not in everything
    assert f"127.0.0.1:{target.port}" in everything


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org/", "file:///etc/passwd", "http://", "http://h:99999999/", "http://[1/",
            "http://u:TOPSECRET@/", "javascript:TOPSECRET", "http://a b/", "http://a/\r\nX: y"],
)  # fmt: skip
def test_only_the_web_is_posted_to(url: str) -> None:
    with pytest.raises(InputError, match="a webhook needs an address") as caught:
        check_address(url)
    assert "TOPSECRET" not in str(caught.value)
