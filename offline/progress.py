"""Progress of long work, with rate and time left: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_EVERY_S = 10.0

Advance = Callable[[float, str], None]  # how much is done, and a few words on it


@contextmanager
def progress(console: Console, what: str, total: float) -> Iterator[Advance]:
    """A way to say how far the work has come; `total` is in the same unit.

    >>> with progress(Console(quiet=True), "counting", 2) as advance:
    ...     advance(1, "half")
    """
    if console.is_terminal:
        with _bar(console, what, total) as advance:
            yield advance
    else:
        yield _lines(console, what, total)


@contextmanager
def _bar(console: Console, what: str, total: float) -> Iterator[Advance]:
    columns = (TextColumn("{task.description:<18}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    words = TextColumn("{task.fields[words]}")
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), words, console=console) as bars:
        task = bars.add_task(what, total=total, words="")
        yield lambda done, words: bars.update(task, completed=done, words=words)


def _lines(console: Console, what: str, total: float) -> Advance:
    began = spoke = time.monotonic()

    def advance(done: float, words: str) -> None:
        nonlocal spoke
        now = time.monotonic()
        is_done = done >= total
        if not is_done and now - spoke < LINE_EVERY_S:
            return
        spoke = now
        left = "" if is_done or done <= 0 else f", {(now - began) * (total - done) / done:.0f} s left"
        percent = 100 * done / total if total else 100
        console.print(f"{what}: {percent:.0f} %{left} {words}".rstrip(), highlight=False, soft_wrap=True)

    return advance
