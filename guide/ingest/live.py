"""A camera or stream as a source of frames: a thread reads it, the newest frame wins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from guide.domain import Frame
from guide.ingest.base import OpenDevice, Tell, Wanted, log_notice
from guide.ingest.capture import Capture, CaptureSettings
from guide.ingest.clock import SteadyClock
from guide.ingest.mailbox import DeviceReader, Mailbox, SourceHealth, deliver

Pause = Callable[[threading.Event, float], object]


class LiveSource:
    """Frames of a device as they come, `at` in seconds after the first; `tell` hears what happens to the device.

    Reading it again opens the device again and starts a new session. After `close`, which may be called from anywhere,
    frames end and no new ones begin.
    """

    is_live = True

    def __init__(
        self, name: str, open_device: OpenDevice, settings: CaptureSettings | None = None, tell: Tell = log_notice,
        clock: Callable[[], float] = time.monotonic, pause: Pause = threading.Event.wait,
    ) -> None:  # fmt: skip
        self.name = name
        self._open, self._settings, self._tell = open_device, settings or CaptureSettings(), tell
        self._clock, self._pause = clock, pause
        self._mailbox: Mailbox | None = None
        self._closed = threading.Event()
        self._reader: DeviceReader | None = None

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def frames(self, wanted: Wanted | None = None) -> Iterator[Frame]:
        """The newest frames whose time `wanted` approves, until the device stays away or `close` is called.

        Raises InputError where the device cannot be opened to begin with.
        """
        clock = SteadyClock(self._clock)
        capture = Capture(self.name, self._open, self._settings, clock, self._pause)
        self._mailbox = mailbox = Mailbox(clock)
        self._reader = DeviceReader(self.name, mailbox, capture.run)
        with self._reader:
            yield from deliver(mailbox, wanted, self._tell, self._closed.is_set)

    def health(self) -> SourceHealth:
        """What went through so far; also after the end."""
        return SourceHealth() if self._mailbox is None else self._mailbox.health()

    def close(self) -> None:
        """Ends the frames; safe in a signal handler, since it takes no lock of the mailbox."""
        self._closed.set()
        if self._reader is not None:
            self._reader.stop.set()
