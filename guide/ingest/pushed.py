"""Frames that somebody else brings: a headset or phone sends them, the server pushes them in here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from guide.domain import Frame, Image
from guide.errors import InputError
from guide.ingest.base import Shot, SourceNotice, Tell, Wanted, log_notice
from guide.ingest.capture import CaptureSettings, Stamper
from guide.ingest.clock import SteadyClock
from guide.ingest.mailbox import Mailbox, PendingFrame, SourceHealth, deliver


class PushedFrames:
    """A source fed from outside: `push` from any thread, `frames` in one; the newest frame wins.

    `stamp` is the sender's capture time in seconds, counted from anywhere; it may jump. `at` counts from the first
    frame pushed, which is at `begin`. A sender that falls silent is reported lost, and reported back with its next
    frame; `end` ends it.

    >>> import numpy as np
    >>> headset = PushedFrames("helmet", clock=lambda: 50.0)
    >>> headset.push(np.zeros((4, 6, 3), np.uint8), stamp=1.7e9)
    0.0
    >>> headset.end()
    >>> [(frame.number, frame.image.shape) for frame in headset]
    [(0, (4, 6, 3))]
    """

    is_live = True

    def __init__(
        self, name: str, settings: CaptureSettings | None = None, tell: Tell = log_notice,
        clock: Callable[[], float] = time.monotonic, begin: float = 0.0,
    ) -> None:  # fmt: skip
        self.name = f"headset:{name}"
        self._settings, self._tell = settings or CaptureSettings(), tell
        self._clock = SteadyClock(clock)
        self._mailbox = Mailbox(self._clock)
        self._stamper = Stamper(self.name, self._settings, begin)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._seen: float | None = None
        self._is_lost = self._is_gone = self._has_come = False

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def push(self, image: Image, stamp: float | None = None) -> float:
        """Takes a picture that has just arrived and gives its `at`."""
        with self._lock:
            now = self._clock()
            for item in self._arrive(Shot(lambda: image, stamp), now):
                if isinstance(item, PendingFrame):
                    self._mailbox.put(item)
                    at = item.at
                else:
                    self._mailbox.note(item)
            if self._stamper.behind_s > self._settings.silent_s:
                self._stamper.catch_up()
            return at

    def damaged(self) -> None:
        """A picture arrived that cannot be decoded: the consumer is told, now and then."""
        with self._lock:
            for notice in self._stamper.damaged(self._clock()):
                self._mailbox.note(notice)

    def end(self, error: Exception | None = None) -> None:
        """No more frames will come; an error is raised to the consumer."""
        self._mailbox.close(error)

    def frames(self, wanted: Wanted | None = None) -> Iterator[Frame]:
        """The newest frames whose time `wanted` approves, until `end` or `close`, or nothing came for too long."""
        return deliver(self._mailbox, wanted, self._tell, self._is_over)

    def health(self) -> SourceHealth:
        """What went through so far."""
        return self._mailbox.health()

    def close(self) -> None:
        """Ends the frames from the consumer's side."""
        self._closed.set()

    def _arrive(self, shot: Shot, now: float) -> Iterator[PendingFrame | SourceNotice]:
        if self._is_lost and self._seen is not None:
            fate = f"is back after {now - self._seen:.1f} s" if self._has_come else "has come"
            yield SourceNotice(self._stamper.at(now), "reopened", f"{self.name} {fate}.")
        self._is_lost, self._has_come, self._seen = False, True, now
        yield from self._stamper.push(shot, now, self._clock.leaps)

    def _is_over(self) -> bool:
        """Whether to stop; asked again and again by the consumer, so this is where silence is noticed."""
        with self._lock:
            now = self._clock()
            self._seen = now if self._seen is None else self._seen
            silent_s = now - self._seen
            if silent_s > self._settings.silent_s and not self._is_lost:
                self._is_lost = True
                silent = "sends nothing any more" if self._has_come else "has not sent anything yet"
                text = f"{self.name} {silent}; waiting for it."
                self._mailbox.note(SourceNotice(self._stamper.at(now), "lost", text))
            if silent_s > self._settings.give_up_s and not self._is_gone:
                self._is_gone = True
                text = f"{self.name} did not come back within {self._settings.give_up_s:g} s."
                self._mailbox.note(SourceNotice(self._stamper.at(now), "gone", text))
                self._mailbox.close()
            return self._closed.is_set()


class Headsets:
    """The headsets known by name: the server registers each, a SOURCE `headset:NAME` finds it.

    >>> headsets = Headsets()
    >>> headsets.register("helmet") is headsets.find("helmet")
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sources: dict[str, PushedFrames] = {}

    def register(
        self, name: str, settings: CaptureSettings | None = None, tell: Tell = log_notice, begin: float = 0.0
    ) -> PushedFrames:
        """A new source under this name; an earlier one of the same name is ended."""
        with self._lock:
            if (earlier := self._sources.get(name)) is not None:
                earlier.end()
            self._sources[name] = source = PushedFrames(name, settings, tell, begin=begin)
            return source

    def remove(self, name: str) -> None:
        """Ends and forgets a source; nothing happens where there is none."""
        with self._lock:
            if (source := self._sources.pop(name, None)) is not None:
                source.end()

    def find(self, name: str) -> PushedFrames:
        """The source of this name; raises InputError where none is registered."""
        with self._lock:
            if name in self._sources:
                return self._sources[name]
            known = ", ".join(sorted(self._sources)) or "none"
        raise InputError(
            f"headset:{name} was expected, but the headsets known here are: {known}; "
            "headsets send their frames to the server, so connect it there first."
        )
