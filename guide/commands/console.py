"""What commands print about a live source besides guidance: notices, throughput, totals; and its end on Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import fill

from rich.console import Console

from guide.ingest.base import BY_HAND, FrameSource, SourceNotice
from guide.ingest.live import LiveSource
from guide.ingest.mailbox import SourceHealth

REPORT_EVERY_S = 10.0
HANGING = " " * 14  # under the words, beside the time
WIDE = 1000
SLOW = 0.8  # below this share of the rate it could have, a loop counts as too slow


class ThroughputReport:
    """How the loop keeps up with a live source, a line every ten seconds of session time; `rate` is the wanted one.

    >>> throughput = ThroughputReport(rate=5.0)
    >>> throughput.push(0.0, SourceHealth(received=1))
    >>> throughput.push(8.0, SourceHealth(received=270, dropped=0, age_s=0.03))
    >>> throughput.push(10.0, SourceHealth(received=301, dropped=7, age_s=0.04))
    '0.2 of 30.0 frames a second processed, 7 dropped so far, the last one 40 ms old; too slow for 5 a second'
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._processed = 0
        self._since: tuple[float, int, int] | None = None  # session time, frames processed, frames received

    def push(self, at: float, health: SourceHealth) -> str | None:
        """The line, when one is due; called once for each processed frame."""
        if self._since is None:
            self._since = at, 0, health.received
            return None
        self._processed += 1
        began, processed, received = self._since
        passed_s = at - began
        if passed_s < REPORT_EVERY_S:
            return None
        self._since = at, self._processed, health.received
        rate, came = (self._processed - processed) / passed_s, (health.received - received) / passed_s
        slow = f"; too slow for {self._rate:g} a second" if rate < SLOW * min(self._rate, came) else ""
        return (
            f"{rate:.1f} of {came:.1f} frames a second processed, {health.dropped} dropped so far, "
            f"the last one {1000 * health.age_s:.0f} ms old{slow}"
        )


class RecordingProgress:
    """How far a recording has been watched, a line every ten seconds, and whether a camera could be followed.

    `length_s` is the recording's, 0 where it is unknown; `now` counts real seconds from anywhere.

    >>> recording = RecordingProgress(length_s=120.0)
    >>> recording.push(0.0, now=50.0)
    >>> recording.push(30.0, now=60.0)
    '25 % watched, about 30 s left'
    """

    def __init__(self, length_s: float) -> None:
        self._length_s = length_s
        self._began: float | None = None
        self._at = self._now = self._spoke = 0.0

    def push(self, at: float, now: float) -> str | None:
        """The line, when one is due; called once for each processed frame."""
        if self._began is None:
            self._began = self._spoke = now
        self._at, self._now = at, now
        if now - self._spoke < REPORT_EVERY_S:
            return None
        self._spoke = now
        if not 0 < at < self._length_s:
            return f"{at:.0f} s watched"
        left_s = (now - self._began) * (self._length_s - at) / at
        about = f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min"
        return f"{100 * at / self._length_s:.0f} % watched, about {about} left"

    def slow_words(self) -> str:
        """That this machine would not keep up with a camera, if it took so long."""
        took_s = 0.0 if self._began is None else self._now - self._began
        if self._at < REPORT_EVERY_S or SLOW * took_s < self._at:
            return ""
        return (
            f"this machine took {took_s / self._at:.1f} s for each second of the recording: with a camera it would "
            "skip frames. Close other programs, or use a bundle with a smaller network."
        )


def table_console() -> Console:
    """For tables: a terminal gets them as wide as it is, a file or a program with every line whole."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=WIDE)


def print_line(console: Console, text: str, style: str | None = None) -> None:
    """Prints a line; brackets in names are no markup. A terminal gets it broken between words, a file gets it whole."""
    if console.is_terminal:
        text = fill(text, console.width, subsequent_indent=HANGING, break_long_words=False, break_on_hyphens=False)
    console.print(text, style=style, markup=False, emoji=False, soft_wrap=True)


class SourceConsole:
    """Prints a live source's notices, the throughput of the loop, and totals at the end.

    With `is_brief` throughput is left out, for output that another program reads.

    >>> import sys
    >>> source_console = SourceConsole(Console(file=sys.stdout), is_brief=True)
    >>> source_console.note(SourceNotice(3.0, "lost", "camera 0 was lost (unplugged); trying to reopen it."))
         3.0 s  ! lost: camera 0 was lost (unplugged); trying to reopen it.
    """

    def __init__(self, console: Console, is_brief: bool) -> None:
        self.source: LiveSource | None = None
        self.heard: Callable[[float, str], None] | None = None
        """Also receives the notices with their times: the recording of the session, if there is one."""
        self._console, self._is_brief = console, is_brief
        self._throughput: ThroughputReport | None = None
        self._recording: RecordingProgress | None = None
        self._processed = 0

    def note(self, notice: SourceNotice) -> None:
        if notice.kind == "reopened":
            self._throughput = None  # the time without the device says nothing about throughput
        self._print(f"  {notice.at:6.1f} s  ! {notice.kind}: {notice.text}", None if self._is_brief else "magenta")
        if self.heard is not None:
            self.heard(notice.at, f"{notice.kind}: {notice.text}")

    def say(self, words: str) -> None:
        """Prints any other message, such as a disk that refuses a recording."""
        self._print(f"  {words}")

    def frame_processed(self, at: float, rate: float) -> None:
        """Counts the frame taken at `at`, in a loop that should process `rate` frames a second."""
        if self.source is None or self.source.name == BY_HAND:
            return
        self._throughput = self._throughput or ThroughputReport(rate)
        self._processed += 1
        line = self._throughput.push(at, self.source.health())
        if line is not None and not self._is_brief:
            self._print(f"  {at:6.1f} s  ~ {line}", "dim")

    def recording_watched(self, at: float, length_s: float) -> None:
        """Counts the frame taken at `at` of a recording of `length_s`, 0 where that is unknown."""
        self._recording = self._recording or RecordingProgress(length_s)
        line = self._recording.push(at, time.monotonic())
        if line is not None and not self._is_brief:
            self._print(f"  {at:6.1f} s  ~ {line}", "dim")

    def end(self) -> None:
        if self._recording is not None and (slow := self._recording.slow_words()):
            self._print(f"  {slow}")
        if self.source is not None and self.source.name != BY_HAND:
            health = self.source.health()
            counts = f"{health.received} frames came, {self._processed} were processed, {health.dropped} were dropped"
            self._print(f"  {self.source.name}: {counts} for newer ones")

    def _print(self, text: str, style: str | None = None) -> None:
        print_line(self._console, text, style)


@contextmanager
def ending_on_signals(source: FrameSource | None) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) ends a live source, so that its session is finished; a second one exits.

    Recordings are not ended so: stopping in the middle of one is no end of a session.
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
