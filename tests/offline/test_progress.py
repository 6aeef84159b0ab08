"""Progress in a log: a line now and then with the time left, a bar in a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from offline.progress import progress


def test_a_line_every_ten_seconds_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Iterator[float] = iter([0.0, 4.0, 12.0, 15.0, 40.0])
    monkeypatch.setattr("offline.progress.time.monotonic", lambda: next(clock))
    said = io.StringIO()
    with progress(Console(file=said, width=100), "training", 10.0) as advance:
        for done in (1.0, 3.0, 4.0, 10.0):
            advance(done, f"loss {done:g}")
    assert said.getvalue().splitlines() == ["training: 30 %, 28 s left loss 3", "training: 100 % loss 10"]


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
