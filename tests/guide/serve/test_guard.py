"""The token: for everything but /health, told apart in no way, and slow to be guessed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from guide.serve import guard
from guide.serve.guard import (
    FORGET_S,
    MOST_ADDRESSES,
    MOST_WAITING,
    MOST_WAITING_IN_ALL,
    FailureDelays,
    view_token,
)
from tests.server import TOKEN, Served, running
from tests.tiny import Learned


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), record=False) as server:
        yield server


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"), ("GET", "/page/page.js"), ("GET", "/metrics"), ("GET", "/sessions"), ("POST", "/sessions"),
        ("GET", "/sessions/x"), ("DELETE", "/sessions/x"), ("GET", "/nowhere"), ("PATCH", "/health/x"),
        ("GET", "/?token=wrong"),
    ],
)  # fmt: skip
def test_without_the_token_every_answer_is_the_same(
    served: Served, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    answer = served.ask(path, method=method, token=None)
    assert (answer.status, answer.json) == (401, {"error": guard.NO_TOKEN})
    assert served.ask(path, method=method, token=TOKEN + "x").body == answer.body


def test_a_browser_without_a_token_is_told_the_way_in_words(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    pages = [served.ask(path, token=None, headers={"Accept": "text/html"}) for path in ("/", "/sessions", "/nowhere")]
    assert {(page.status, page.body) for page in pages} == {(401, guard.NO_TOKEN_PAGE.encode())}
    assert b"Open the address that the server printed" in pages[0].body


def test_health_needs_none(served: Served) -> None:
    assert served.ask("/health", token=None).json == {"status": "ok"}


def test_the_token_comes_as_header_query_or_cookie(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    page = served.ask(f"/?token={TOKEN}", token=None)
    assert page.status == 200
    cookie = page.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    by_cookie = {"Cookie": cookie.partition(";")[0]}
    assert served.ask("/sessions", token=None, headers=by_cookie).status == 200
    # A cookie comes with whatever another page makes the browser send: it must not change anything.
    assert served.ask("/sessions", {}, token=None, headers=by_cookie).status == 401
    assert served.ask("/sessions", token=None, headers={"Cookie": "guide_look=wrong; a=\x01b"}).status == 401
    # It comes to other servers of the same machine as well: they must not learn the token from it.
    assert TOKEN not in cookie
    assert served.ask("/sessions", token=cookie.partition(";")[0].partition("=")[2]).status == 401


def test_a_wrong_token_waits_longer_each_time_and_the_right_one_never(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LONGEST_DELAY_S", 0.5)
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.001)
    for _ in range(5):
        served.ask("/sessions", token="x" * 20)
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.02)
    began = time.monotonic()
    served.ask("/sessions", token="x" * 20)
    assert time.monotonic() - began > 0.3
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 60.0)
    monkeypatch.setattr(guard, "LONGEST_DELAY_S", 60.0)
    began = time.monotonic()
    assert served.ask("/sessions").status == 200
    assert time.monotonic() - began < 20.0  # however busy the machine is


def test_failures_are_forgotten_and_never_pile_up() -> None:
    now = [0.0]
    delays = FailureDelays(lambda: now[0])
    assert [delays.failed("a"), delays.failed("a"), delays.failed("b")] == [0.5, 1.0, 0.5]
    now[0] = FORGET_S + 1
    assert delays.failed("a") == 0.5
    for number in range(2 * MOST_ADDRESSES):
        delays.failed(str(number))
    assert len(delays._failures) == MOST_ADDRESSES


def waiting(delays: FailureDelays, addresses: list[str]) -> int:
    """How many of so many wrong ones at once are made to wait."""

    async def guess() -> int:
        guesses = [asyncio.create_task(delays.wait_after_failure(address)) for address in addresses]
        await asyncio.sleep(0.01)
        count = sum(not one.done() for one in guesses)
        for one in guesses:
            one.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
        return count

    return asyncio.run(guess())


def test_only_so_many_wait_at_once() -> None:
    delays = FailureDelays()
    assert waiting(delays, ["192.0.2.7"] * 5 * MOST_WAITING) == MOST_WAITING
    assert waiting(delays, [str(number) for number in range(2 * MOST_WAITING_IN_ALL)]) == MOST_WAITING_IN_ALL
    assert delays._waiting.total() == 0


@pytest.mark.parametrize("wrong", [1, 2 * MOST_WAITING])  # beyond MOST_WAITING nobody waits, right or wrong
def test_a_right_token_waits_for_no_wrong_ones_of_its_address(
    served: Served, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 60.0)
    monkeypatch.setattr(guard, "LONGEST_DELAY_S", 60.0)
    with ExitStack() as held:
        for _ in range(wrong):
            held.enter_context(served.connect("guesser", token="x" * 20))
        time.sleep(0.2)
        for number in range(5):
            assert served.ask("/sessions").status == 200
            with served.connect(f"helmet-{number}") as headset:
                headset.wait_for("hello", 5.0)
                headset.finish()


def test_a_look_opens_one_session_and_changes_nothing(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    session = served.ask("/sessions", {"source": "headset:helmet"}).json["session"]
    look = view_token(TOKEN, session)
    assert served.ask(f"/sessions/{session}?look={look}", token=None).status == 200
    for path, method in (
        (f"/sessions/{session}", "DELETE"), (f"/sessions/{session}/actions", "POST"), ("/sessions", "GET"),
        ("/sessions/", "GET"), ("/sessions/20300102-030405-00ff", "GET"), ("/metrics", "GET"), ("/", "GET"),
        (f"/bundles/{session}", "GET"), (f"//sessions/{session}", "GET"),
    ):  # fmt: skip
        assert served.ask(f"{path}?look={look}", method=method, token=None).status == 401, path
    assert served.ask(f"/sessions/{session}?look={TOKEN}", token=None).status == 401
    assert served.ask(f"/sessions/{session}", method="DELETE").status == 200
