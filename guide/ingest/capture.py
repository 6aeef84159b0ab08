"""A device read over and over: frames with their times, and notices when it is lost, comes back or stands still."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Literal

from guide.errors import InputError
from guide.ingest.base import Device, OpenDevice, Shot, SourceLostError, SourceNotice
from guide.ingest.clock import CaptureClock, SteadyClock
from guide.ingest.freeze_detector import FreezeDetector
from guide.ingest.mailbox import PendingFrame

log = logging.getLogger(__name__)

AGAIN_S = 10.0  # the same complaint is made once in this time, with a count

Item = PendingFrame | SourceNotice


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """How patient a live source is.

    >>> CaptureSettings().give_up_s
    60.0
    """

    silent_s: float = 5.0
    """A source that gives no picture for this long, or falls this far behind, counts as lost."""
    give_up_s: float = 60.0
    """A source that does not come back within this time ends the session."""
    freeze_s: float = 10.0
    """A picture that has not changed at all for this long is called frozen."""
    first_pause_s: float = 0.5
    """The pause before the first attempt to reopen; each further one is twice as long."""
    longest_pause_s: float = 8.0
    """No pause is longer than this."""

    def __post_init__(self) -> None:
        times = (self.silent_s, self.freeze_s, self.first_pause_s, self.longest_pause_s)
        if not all(0 < time < math.inf for time in times) or not self.give_up_s >= 0:
            raise InputError(f"times above 0 s were expected for a live source, got {self}.")


class Stamper:
    """Gives shots their number and time, and says what is strange about them; one a session.

    >>> import numpy as np
    >>> stamper = Stamper("camera 0", CaptureSettings())
    >>> [pending] = stamper.push(Shot(lambda: np.zeros((1, 1, 3), np.uint8)), now=812.0)
    >>> pending.number, pending.at
    (0, 0.0)
    """

    def __init__(self, name: str, settings: CaptureSettings, begin: float = 0.0) -> None:
        self._name, self._begin = name, begin
        self._clock = CaptureClock()
        self._still = FreezeDetector(settings.freeze_s)
        self._origin: float | None = None
        self._number = -1
        self._told: dict[str, tuple[float, int]] = {}  # by complaint: when it was made last, how often it held since
        self._leaps = 0

    def at(self, now: float) -> float:
        """Session time at the reading `now`; where it begins before the first frame."""
        return self._begin if self._origin is None else now - self._origin

    @property
    def behind_s(self) -> float:
        """How late the last shot came, by its own stamp."""
        return self._clock.behind_s

    def reopen(self) -> None:
        """The device was opened anew: its stamps may count from elsewhere, and its picture is a new one."""
        self._clock.reopen()
        self._still.reset()

    def catch_up(self) -> None:
        """Ties late stamps anew to the time of arrival, for a source that cannot be opened anew."""
        self._clock.reset()

    def push(self, shot: Shot, now: float, leaps: int = 0) -> Iterator[Item]:
        """The frame, after the notices about it; `leaps` counts those of our own clock so far."""
        resets = self._clock.resets
        moment = self._clock.push(now, shot.stamp)
        self._origin = moment - self._begin if self._origin is None else self._origin
        self._number += 1
        pending = PendingFrame(self._number, moment - self._origin, moment, shot.picture)
        if self._clock.resets > resets:
            yield from self.complain(
                "clock", f"the clock of {self._name} was changed; the session's time goes on without a gap", now
            )
        if leaps > self._leaps:
            self._leaps = leaps
            yield from self.complain("clock", "this machine's clock jumped; time goes on without a gap", now)
        yield from self._look(pending)
        yield pending

    def damaged(self, now: float) -> Iterator[SourceNotice]:
        """The notice about a shot that cannot be decoded."""
        yield from self.complain("damaged", f"{self._name} sent a picture that cannot be decoded; it is left out", now)

    def complain(self, kind: Literal["clock", "damaged"], text: str, now: float) -> Iterator[SourceNotice]:
        """A notice, unless the same was said a moment ago; then it is counted."""
        last, count = self._told.get(text, (-math.inf, 0))
        count += 1
        if now - last < AGAIN_S:
            self._told[text] = last, count
            return
        self._told[text] = now, 0
        times = f" ({count} times)" if count > 1 else ""
        yield SourceNotice(self.at(now), kind, f"{text}{times}.")

    def _look(self, pending: PendingFrame) -> Iterator[SourceNotice]:
        if not self._still.is_due(pending.at):
            return
        match self._still.push(pending.picture(), pending.at):
            case "frozen":
                text = f"the picture of {self._name} does not change: it may be frozen; check the camera."
                yield SourceNotice(pending.at, "frozen", text)
            case "moving":
                yield SourceNotice(pending.at, "moving", f"the picture of {self._name} moves again.")


class Capture:
    """Frames and notices of a device that may be lost and come back; `run` is driven by the thread that owns it.

    The clock and the pause are arguments, so tests need no real time. A device that cannot be opened at the very start
    raises InputError: then the address is wrong, and waiting would not help.
    """

    def __init__(
        self, name: str, open_device: OpenDevice, settings: CaptureSettings, clock: SteadyClock,
        pause: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:  # fmt: skip
        self._name, self._open, self._settings = name, open_device, settings
        self._clock, self._pause = clock, pause
        self._stamper = Stamper(name, settings)
        self._pause_s = settings.first_pause_s
        self._seen = self._opened = 0.0  # when the last good shot came, and when the device was opened
        self._is_lost = False

    def run(self, stop: threading.Event) -> Iterator[Item]:
        """Everything until it is stopped, or the device stays away for good."""
        device: Device | None = self._first()
        while device is not None:
            yield from self._read(device, stop)
            device = yield from self._reopen(stop)

    def _first(self) -> Device:
        try:
            device = self._open()
        except SourceLostError as lost:
            raise InputError(f"{self._name} cannot be used: {lost.reason}; {lost.todo}.") from lost
        self._seen = self._clock()
        return device

    def _read(self, device: Device, stop: threading.Event) -> Iterator[Item]:
        """The shots of an open device until it is lost."""
        self._opened = self._clock()
        try:
            while not stop.is_set():
                shot, now = device.read(), self._clock()
                yield from self._take(shot, now)
                if (
                    now - self._opened > self._settings.longest_pause_s
                ):  # a device that dies at once keeps its long pauses
                    self._pause_s = self._settings.first_pause_s
        except SourceLostError as lost:
            now = self._clock()
            if not self._is_lost:
                text = f"{self._name} was lost ({lost.reason}); trying to reopen it."
                yield SourceNotice(self._stamper.at(now), "lost", text)
            self._is_lost = True
        finally:
            device.close()

    def _take(self, shot: Shot | None, now: float) -> Iterator[Item]:
        silent_s = self._settings.silent_s
        if shot is None:
            yield from self._stamper.damaged(now)
            if now - max(self._seen, self._opened) > silent_s:
                raise SourceLostError(f"no picture could be decoded for {silent_s:g} s")
            return
        if self._is_lost:
            self._is_lost = False
            text = f"{self._name} is back after {now - self._seen:.1f} s."
            yield SourceNotice(self._stamper.at(now), "reopened", text)
        self._seen = now
        yield from self._stamper.push(shot, now, self._clock.leaps)
        if self._stamper.behind_s > silent_s:
            raise SourceLostError(f"its pictures came {self._stamper.behind_s:.0f} s late")

    def _reopen(self, stop: threading.Event) -> Generator[Item, None, Device | None]:
        """The device opened anew after growing pauses; nothing once it was away too long."""
        while not stop.is_set():
            left_s = self._seen + self._settings.give_up_s - self._clock()
            if left_s <= 0:
                text = f"{self._name} did not come back within {self._settings.give_up_s:g} s."
                yield SourceNotice(self._stamper.at(self._clock()), "gone", text)
                break
            self._pause(stop, min(self._pause_s, left_s))
            self._pause_s = min(2 * self._pause_s, self._settings.longest_pause_s)
            try:
                device = None if stop.is_set() else self._open()
            except (SourceLostError, InputError) as error:
                log.debug("%s is still away (%s)", self._name, error)
                continue
            self._stamper.reopen()
            return device
        return None
