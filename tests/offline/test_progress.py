"""Progress in a log: a line now and then with the time left, a bar in a terminal."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator

import pytest
from rich.console import Console

from offline.progress import progress, working


def said_at(monkeypatch: pytest.MonkeyPatch, steps: list[tuple[float, float]], total: float = 10.0) -> list[str]:
    """The lines of a log whose work stood at `done` at each moment; the clock starts at 0."""
    clock: Iterator[float] = iter([0.0, *(at for at, _ in steps)])
    monkeypatch.setattr("offline.progress.time.monotonic", lambda: next(clock))
    said = io.StringIO()
    with progress(Console(file=said, width=100), "training", total) as advance:
        for _, done in steps:
            advance(done, f"loss {done:g}")
    return said.getvalue().splitlines()


def test_a_line_every_ten_seconds_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = said_at(monkeypatch, [(4.0, 1.0), (12.0, 3.0), (15.0, 4.0), (40.0, 10.0)])
    assert lines == ["training: 30 %, 28 s left loss 3", "training: 100 % loss 10"]


def test_what_an_earlier_run_did_tells_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = said_at(monkeypatch, [(11.0, 8.0), (31.0, 9.0), (51.0, 10.0)])
    assert lines == ["training: 80 % loss 8", "training: 90 %, 20 s left loss 9", "training: 100 % loss 10"]


def test_only_the_last_minute_tells_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = said_at(monkeypatch, [(1.0, 0.0), (2.0, 500.0), (70.0, 520.0), (130.0, 530.0)], total=1000.0)
    assert lines[-1] == "training: 53 %, 47 min 0 s left loss 530"


def test_the_end_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said_at(monkeypatch, [(1.0, 10.0), (2.0, 10.0)]) == ["training: 100 % loss 10"]


def test_nothing_to_do_is_done() -> None:
    said = io.StringIO()
    with progress(Console(file=said), "nothing", 0.0) as advance:
        advance(0.0, "")
    assert "100 %" in said.getvalue()


def test_a_terminal_gets_a_bar() -> None:
    said = io.StringIO()
    with progress(Console(file=said, force_terminal=True, width=100), "training", 4.0) as advance:
        advance(4.0, "loss 0.5")
    assert "training" in said.getvalue()
    assert "100 %" in said.getvalue()


@pytest.mark.parametrize("is_terminal", [False, True])
def test_work_of_unknown_length_says_what_it_is(is_terminal: bool) -> None:
    said = io.StringIO()
    with working(Console(file=said, force_terminal=is_terminal, width=100), "finding key-steps"):
        pass
    assert "finding key-steps ..." in said.getvalue()
    assert is_terminal or "finding key-steps: took 0 s" in said.getvalue()


def test_work_of_unknown_length_gives_signs_of_life_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    spoken = threading.Event()

    class Heard(io.StringIO):
        def write(self, text: str) -> int:
            if "so far" in text:
                spoken.set()
            return super().write(text)

    monkeypatch.setattr("offline.progress.SIGN_EVERY_S", 0.001)
    said = Heard()
    before = set(threading.enumerate())
    with working(Console(file=said, width=100), "finding key-steps"):
        assert spoken.wait(20)
    lines = said.getvalue().splitlines()
    assert lines[0] == "finding key-steps ..."
    assert lines[1] == "finding key-steps: 0 s so far"
    assert lines[-1].startswith("finding key-steps: took")
    assert set(threading.enumerate()) <= before


def test_signs_of_life_are_not_silenced_with_the_libraries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exporting and quantizing turn stdout aside for as long as they take."""
    spoken = threading.Event()
    monkeypatch.setattr("offline.progress.SIGN_EVERY_S", 0.001)
    monkeypatch.setattr("offline.progress._span", lambda seconds: spoken.set() or "a while")  # type: ignore[func-returns-value]
    with working(Console(width=100), "writing the bundle"), contextlib.redirect_stdout(io.StringIO()) as aside:
        assert spoken.wait(20)
        spoken.clear()
        assert spoken.wait(20), "the first has been printed when the second begins"
    assert aside.getvalue() == ""
    assert "writing the bundle: a while so far" in capsys.readouterr().out


def test_work_that_fails_says_no_more() -> None:
    said = io.StringIO()
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), working(Console(file=said, width=100), "finding key-steps"):
        raise KeyboardInterrupt
    assert said.getvalue() == "finding key-steps ...\n"
    assert set(threading.enumerate()) <= before
