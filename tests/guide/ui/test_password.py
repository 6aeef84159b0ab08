"""The password: kept as a hash alone, slow to be guessed, and remembered for a while once it was given."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from guide.errors import InputError
from guide.serve import guard
from guide.ui import password
from guide.ui.password import MOST_TRIES, STAY_S, BusyError, Login, PasswordHash, kept_line

KEPT = PasswordHash.of("correct horse")


def test_the_hash_tells_nothing_of_the_password_and_differs_each_time() -> None:
    assert "correct" not in KEPT.line()
    assert PasswordHash.of("correct horse").line() != KEPT.line()
    assert PasswordHash.read(KEPT.line()).matches("correct horse")
    assert not PasswordHash.read(KEPT.line()).matches("Correct horse")


@pytest.mark.parametrize(
    "line",
    [
        "hunter2",
        "scrypt$1$2$3$a",
        "scrypt$99999999$8$1$AAAA$AAAA",
        "md5$16384$8$1$AAAA$AAAA",
        "scrypt$x$8$1$AA==$AA==",
        "",
    ],
)
def test_what_is_no_hash_is_refused_without_being_shown(line: str) -> None:
    with pytest.raises(InputError) as refused:
        PasswordHash.read(line)
    assert "hunter2" not in str(refused.value)


def test_a_login_ends() -> None:
    now = [0.0]
    login = Login(KEPT, clock=lambda: now[0])
    token = asyncio.run(login.log_in("correct horse", "192.0.2.7"))
    assert token is not None
    assert login.is_valid(token)
    assert not Login(KEPT).is_valid(token)
    now[0] = STAY_S + 1
    assert not login.is_valid(token)


def test_a_right_password_waits_for_no_wrong_ones_of_its_address() -> None:
    async def crowd() -> tuple[str | None, int]:
        login = Login(KEPT)
        guesses = [asyncio.create_task(login.log_in("wrong", "192.0.2.7")) for _ in range(5)]
        async with asyncio.timeout(20.0):  # all are looked at, and all wait
            while sum(login._delays._waiting.values()) < len(guesses):
                await asyncio.sleep(0.01)
        handed = await asyncio.wait_for(login.log_in("correct horse", "192.0.2.7"), 5.0)
        still = sum(not guess.done() for guess in guesses)
        for guess in guesses:
            guess.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
        return handed, still

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "FIRST_DELAY_S", 60.0)
        patch.setattr(guard, "LONGEST_DELAY_S", 60.0)
        handed, still = asyncio.run(crowd())
    assert handed is not None
    assert still == 5


def test_a_crowd_of_guesses_is_cut_short_and_holds_up_nobody_who_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred at once from the address of the right one, which comes last; each takes a while to be looked at."""
    looked_at: list[str] = []

    def match(kept: PasswordHash, given: str) -> bool:
        looked_at.append(given)
        time.sleep(0.01)
        return given == "right"

    async def crowd(address: str) -> tuple[int, bool, str | None]:
        looked_at.clear()
        login = Login(KEPT)
        guesses = [asyncio.create_task(login.log_in("wrong", "192.0.2.7")) for _ in range(200)]
        while not looked_at:
            await asyncio.sleep(0)
        already = len(looked_at)
        handed = await login.log_in("right", address)
        before = len(looked_at) - already
        answers = await asyncio.gather(*guesses, return_exceptions=True)
        assert await login.log_in("right", address), "the next one has its turn"
        refused = sum(isinstance(answer, BusyError) for answer in answers)
        assert refused + answers.count(None) == 200
        return before, refused >= 200 - MOST_TRIES - already - before, handed

    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)
    monkeypatch.setattr(PasswordHash, "matches", match)
    for address in ("192.0.2.7", "192.0.2.8"):
        before, are_refused, handed = asyncio.run(crowd(address))
        assert handed is not None
        assert before <= 2, "one may be looked at when it comes"
        assert are_refused


def test_who_goes_away_while_waiting_keeps_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.0)

    def match(*_: object) -> bool:
        time.sleep(0.02)
        return True

    monkeypatch.setattr(PasswordHash, "matches", match)

    async def leave(after_s: float) -> str | None:
        login = Login(KEPT)
        tries = [asyncio.create_task(login.log_in("right", "192.0.2.7")) for _ in range(3)]
        await asyncio.sleep(after_s)
        for each in tries[1:]:
            each.cancel()
        await asyncio.gather(*tries, return_exceptions=True)
        return await asyncio.wait_for(login.log_in("right", "192.0.2.7"), 5.0)

    assert all(asyncio.run(leave(after_s)) for after_s in (0.005, 0.02, 0.03))


def test_the_variable_comes_before_the_file(tmp_path: Path) -> None:
    environment = {"CNC_DATA": str(tmp_path)}
    assert kept_line(environment) == ""
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "password").write_text(KEPT.line() + "\n")
    assert kept_line(environment) == KEPT.line()
    assert kept_line({**environment, "CNC_PASSWORD": "other"}) == "other"


def test_the_command_keeps_a_private_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CNC_DATA", str(tmp_path / "sessions"))
    monkeypatch.delenv("CNC_PASSWORD", raising=False)
    monkeypatch.setattr("getpass.getpass", lambda _: "correct horse")
    password.main()
    assert "asks for the password from now on" in capsys.readouterr().out
    path = tmp_path / "sessions" / "dashboard" / "password"
    assert path.stat().st_mode & 0o077 == 0
    assert PasswordHash.read(kept_line(os.environ)).matches("correct horse")


@pytest.mark.parametrize("answers", [["short", "short"], ["correct horse", "other horse"]])
def test_a_short_or_mistyped_password_is_refused(
    answers: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CNC_DATA", str(tmp_path))
    monkeypatch.setattr("getpass.getpass", lambda _: answers.pop(0))
    with pytest.raises(InputError):
        password.main()
    assert list(tmp_path.iterdir()) == []


def test_an_input_that_ends_and_options_get_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(question: str) -> str:
        raise EOFError

    monkeypatch.setattr("getpass.getpass", ended)
    with pytest.raises(InputError, match="run the command in a terminal"):
        password.main()
    with pytest.raises(InputError, match="takes no options"):
        password.main(["--help"])
