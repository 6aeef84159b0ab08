"""The token: for everything but /health, told apart in no way, and slow to be guessed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from guide.serve import guard
from guide.serve.guard import (
    CHECK_S,
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
    assert (answer.status, answer.body) == (401, b'{"error":"a token is needed."}')
    assert served.ask(path, method=method, token=TOKEN + "x").body == answer.body


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


def test_many_at_once_guess_no_faster_than_a_few() -> None:
    now = [0.0]
    delays = FailureDelays(lambda: now[0])

    async def guess(count: int, address: str) -> None:
        guesses = [asyncio.create_task(delays.wait_after_failure(address)) for _ in range(count)]
        await asyncio.sleep(0.01)
        assert sum(not one.done() for one in guesses) == MOST_WAITING
        assert delays.is_crowded(address)
        assert not delays.is_crowded("another")
        for one in guesses:
            one.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
        assert not delays.is_crowded(address)

    asyncio.run(guess(5 * MOST_WAITING, "192.0.2.7"))


def test_where_all_room_is_taken_only_newcomers_are_looked_at() -> None:
    delays = FailureDelays()

    async def guess() -> None:
        names = [str(number % (MOST_WAITING_IN_ALL // 2)) for number in range(MOST_WAITING_IN_ALL)]
        guesses = [asyncio.create_task(delays.wait_after_failure(name)) for name in names]
        await asyncio.sleep(0.01)
        assert delays.is_crowded("0")
        assert not delays.is_crowded("another")
        for one in guesses:
            one.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)

    asyncio.run(guess())


def test_where_it_is_crowded_one_token_is_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    delays = FailureDelays(clock=lambda: now[0])
    assert [delays.may_try("192.0.2.7") for _ in range(3)] == [True] * 3
    monkeypatch.setattr(FailureDelays, "is_crowded", lambda _, address: address != "another")
    assert [delays.may_try("192.0.2.7") for _ in range(3)] == [True, False, False]
    assert [delays.may_try("192.0.2.8"), delays.may_try("another"), delays.may_try("another")] == [True] * 3
    now[0] += CHECK_S
    assert [delays.may_try("192.0.2.7") for _ in range(2)] == [True, False]
    for number in range(2 * MOST_ADDRESSES):
        delays.may_try(str(number))
    assert len(delays._checked) <= MOST_ADDRESSES


def test_where_it_is_crowded_and_nobody_looks_even_the_right_token_waits(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FailureDelays, "is_crowded", lambda *_: True)
    monkeypatch.setattr(FailureDelays, "may_try", lambda *_: False)
    assert served.ask("/sessions").body == b'{"error":"a token is needed."}'
    assert served.ask("/health", token=None).status == 200
    with served.connect("helmet") as headset:
        assert (headset.hear(), headset.code) == (None, 4401)


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
