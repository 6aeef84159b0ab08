"""The working rate: which frames of a source are processed, decided by time and never by counting frames."""

from __future__ import annotations

import math

from guide.errors import InputError

# Matroska rounds timestamps to milliseconds, so a frame that belongs on a tick may arrive a millisecond early.
EARLY_S = 1e-3


class Pace:
    """Picks the frames to process: the first one, then the first at or after each next tick `k / rate`.

    Ticks are counted from the first frame. After a gap the ticks missed in it are not made up for.

    >>> pace = Pace(rate=2.0)
    >>> [at for at in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.9, 2.0) if pace.push(at)]
    [0.0, 0.6, 1.0, 1.9, 2.0]
    """

    def __init__(self, rate: float) -> None:
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(f"the working rate must be a positive number of frames per second, got {rate}.")
        self.rate = rate
        self._early_s = min(EARLY_S, 0.25 / rate)
        self._first: float | None = None
        self._next_tick = 0

    def push(self, at: float) -> bool:
        """Whether the frame taken at `at` (seconds) is one to process."""
        if self._first is None:
            self._first = at
        tick = math.floor((at - self._first + self._early_s) * self.rate)
        if tick < self._next_tick:
            return False
        self._next_tick = tick + 1
        return True
