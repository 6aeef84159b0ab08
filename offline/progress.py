"""Progress of long work, with rate and time left: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_EVERY_S = 10.0
LINE_EVERY_VARIABLE = "CNC_PROGRESS_EVERY_S"  # how a page that reads the log asks for more of them
SIGN_EVERY_S = 60.0  # of life, from work of unknown length
SPEED_OVER_S = 60.0  # what came before says little of what is left: caches are quick, long videos slow
LEAST_SPAN_S = 3.0  # a shorter look gives no speed to trust

LOG_WIDTH = 150  # of tables in a log: nothing wraps

Advance = Callable[[float, str], None]  # how much is done, and a few words on it


def open_console() -> Console:
    """A console for long work that ends in tables: as wide as the terminal, or wide enough for them in a log."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=LOG_WIDTH)


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
def working(console: Console, what: str) -> Iterator[None]:
    """Says that something of unknown length is going on, in a log once a minute, and at the end how long it took.

    >>> with working(Console(quiet=True), "thinking"):
    ...     pass
    """
    began = time.monotonic()
    if console.is_terminal:
        with Progress(
            TextColumn("{task.description} ..."), SpinnerColumn(), TimeElapsedColumn(), console=console
        ) as bar:
            bar.add_task(what, total=None)
            yield
    else:
        console.print(f"{what} ...", highlight=False, soft_wrap=True)
        with _signs_of_life(console, what, began):
            yield
        console.print(f"{what}: took {_span(time.monotonic() - began)}", highlight=False, soft_wrap=True)


@contextmanager
def _signs_of_life(console: Console, what: str, began: float) -> Iterator[None]:
    """Says now and then that the work goes on: a log that is silent for minutes looks like one of a dead process."""
    is_done = threading.Event()
    # A stream of its own: some of the work silences what libraries print by turning stdout aside for a while.
    voice = Console(file=console.file, quiet=console.quiet, highlight=False, markup=False)

    def speak() -> None:
        while not is_done.wait(SIGN_EVERY_S):
            voice.print(f"{what}: {_span(time.monotonic() - began)} so far", soft_wrap=True)

    speaker = threading.Thread(target=speak, name="signs of life", daemon=True)
    speaker.start()
    try:
        yield
    finally:
        is_done.set()
        speaker.join()


@contextmanager
def _bar(console: Console, what: str, total: float) -> Iterator[Advance]:
    columns = (TextColumn("{task.description:<18}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    words = TextColumn("{task.fields[words]}")
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), words, console=console) as bars:
        task = bars.add_task(what, total=total, words="")
        yield lambda done, words: bars.update(task, completed=done, words=words)


def _lines(console: Console, what: str, total: float) -> Advance:
    spoke, has_ended, every_s = time.monotonic(), False, _line_every_s()
    heard: deque[tuple[float, float]] = deque()  # moments of the last while, and how much was done at each

    def advance(done: float, words: str) -> None:
        nonlocal spoke, has_ended
        now = time.monotonic()
        heard.append((now, done))
        while now - heard[0][0] > SPEED_OVER_S and len(heard) > 2:
            heard.popleft()
        if has_ended or (done < total and now - spoke < every_s):
            return
        spoke, has_ended = now, done >= total
        percent = 100 * done / total if total else 100
        line = f"{what}: {percent:.0f} %{_left(heard, total)} {words}".rstrip()
        console.print(line, highlight=False, soft_wrap=True)

    return advance


def _line_every_s() -> float:
    try:
        return float(os.environ[LINE_EVERY_VARIABLE])
    except (KeyError, ValueError):
        return LINE_EVERY_S


def _left(heard: Sequence[tuple[float, float]], total: float) -> str:
    """The time left at the speed of the last while; nothing as long as that says too little.

    What was done before the first word (kept from an earlier run, or while things were started) tells no speed.
    """
    (since, before), (now, done) = heard[0], heard[-1]
    if done >= total or done <= before or now - since < LEAST_SPAN_S:
        return ""
    return f", {_span((now - since) * (total - done) / (done - before))} left"


def _span(seconds: float) -> str:
    """A time to read.

    >>> _span(7.4), _span(150.0), _span(9000.0)
    ('7 s', '2 min 30 s', '2 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
