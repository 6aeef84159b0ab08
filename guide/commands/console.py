"""What a command says about a live source besides guidance, and how it ends one properly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from guide.ingest.base import FrameSource, SourceNotice
from guide.ingest.live import LiveSource
from guide.ingest.pulse import Pulse


class Aside:
    """What is said about a live source besides guidance: its notices, how the loop keeps up, and totals at the end.

    With `is_brief` there is no line about the pace, for output that another program reads.

    >>> import sys
    >>> aside = Aside(Console(file=sys.stdout), is_brief=True)
    >>> aside.note(SourceNotice(3.0, "lost", "camera 0 was lost (unplugged); trying to reopen it."))
         3.0 s  ! lost: camera 0 was lost (unplugged); trying to reopen it.
    """

    def __init__(self, console: Console, is_brief: bool) -> None:
        self.source: LiveSource | None = None
        self.heard: Callable[[float, str], None] | None = None
        """Who else hears the notices, with their time: a recording of the session."""
        self._console, self._is_brief = console, is_brief
        self._pulse: Pulse | None = None
        self._processed = 0

    def note(self, notice: SourceNotice) -> None:
        if notice.kind == "reopened":
            self._pulse = None  # the time it was away says nothing of the pace
        self._print(f"  {notice.at:6.1f} s  ! {notice.kind}: {notice.text}", None if self._is_brief else "magenta")
        if self.heard is not None:
            self.heard(notice.at, f"{notice.kind}: {notice.text}")

    def say(self, words: str) -> None:
        """Anything else, such as a disk that refuses a recording."""
        self._print(f"  {words}")

    def pulse(self, at: float, rate: float) -> None:
        """A frame taken at `at` was processed, of a loop that wants `rate` a second."""
        if self.source is None:
            return
        self._pulse = self._pulse or Pulse(rate)
        self._processed += 1
        line = self._pulse.push(at, self.source.health())
        if line is not None and not self._is_brief:
            self._print(f"  {at:6.1f} s  ~ {line}", "dim")

    def end(self) -> None:
        if self.source is not None:
            health = self.source.health()
            counts = f"{health.received} frames came, {self._processed} were processed, {health.dropped} were dropped"
            self._print(f"  {self.source.name}: {counts} for newer ones")

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def ending_on_signals(source: FrameSource | None) -> Iterator[None]:
    """Within it, the first Ctrl-C (or SIGTERM) ends a live source, so that the session is finished; a second one stops.

    Recordings are left alone: stopping in the middle of one is no end of a session.
    """
    if source is None or not source.is_live or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        signal.signal(number, earlier[signal.Signals(number)])
        source.close()

    earlier = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
