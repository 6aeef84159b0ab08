"""Playback of a recording at its own speed, with pauses."""

from __future__ import annotations

import threading
import time


class PacedPlayback:
    """Waits until each frame is due; time spent paused does not count. `stop` ends every wait.

    >>> playback = PacedPlayback(threading.Event())
    >>> playback.wait_for(0.0)
    >>> playback.is_paused
    False
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._resumed = threading.Event()
        self._resumed.set()
        self._began: float | None = None

    @property
    def is_paused(self) -> bool:
        return not self._resumed.is_set()

    def set_paused(self, is_paused: bool) -> None:
        """Pauses from the next frame on, or resumes; any thread may call it."""
        if is_paused and not self._stop.is_set():
            self._resumed.clear()
        else:
            self._resumed.set()

    def wait_for(self, at: float) -> None:
        """Waits until the frame taken at `at` seconds is due, and longer while paused."""
        if self._began is None:
            self._began = time.monotonic() - at
        self._stop.wait(max(0.0, at - (time.monotonic() - self._began)))
        paused_at = time.monotonic()
        if self.is_paused:
            self._resumed.wait()
            self._began += time.monotonic() - paused_at
