"""A recording that is played at its own pace, and stands still while it is paused."""

from __future__ import annotations

import threading
import time


class Playing:
    """Waits for the moment of each frame; the time of a pause does not count. `stop` ends every wait.

    >>> playing = Playing(threading.Event())
    >>> playing.wait_for(0.0)
    >>> playing.is_held
    False
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._free = threading.Event()
        self._free.set()
        self._began: float | None = None

    @property
    def is_held(self) -> bool:
        return not self._free.is_set()

    def hold(self, is_held: bool) -> None:
        """Stands still from the next frame on, or goes on; any thread may say so."""
        if is_held and not self._stop.is_set():
            self._free.clear()
        else:
            self._free.set()

    def wait_for(self, at: float) -> None:
        """Until the frame taken at `at` seconds is due, and longer while it is held."""
        if self._began is None:
            self._began = time.monotonic() - at
        self._stop.wait(max(0.0, at - (time.monotonic() - self._began)))
        held = time.monotonic()
        if self.is_held:
            self._free.wait()
            self._began += time.monotonic() - held
