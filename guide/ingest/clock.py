"""When a live frame was taken: seconds that only ever go forward, whatever the clocks around them do."""

from __future__ import annotations

import threading
from collections.abc import Callable

LEAP_S = 60.0  # the clock is read every few seconds, so a longer step is a clock that was set, or a sleeping machine
JUMP_S = 2.0  # stamps further ahead of the time that passed were set anew; less is a burst after a short hold-up
LARGEST_S = 1e11  # no clock counts further (3000 years), and doubles still tell milliseconds apart
STEP_S = 1e-3  # frames lie at least this far apart
# No two quartz clocks differ by more than a thousandth; a stamp that falls behind faster is late, not slow.
DRIFT = 1e-3


class SteadyClock:
    """A clock whose leaps are taken out: it never goes back, and never goes ahead by more than a minute at once.

    >>> readings = iter([10.0, 11.0, 3611.5, 3612.0, 5.0, 6.0])
    >>> clock = SteadyClock(lambda: next(readings))
    >>> [clock() for _ in range(6)]
    [10.0, 11.0, 11.0, 11.5, 11.5, 12.5]
    >>> clock.leaps
    2
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.leaps = 0
        self._clock = clock
        self._lock = threading.Lock()  # the reader's and the consumer's thread both ask
        self._shift = 0.0
        self._last: float | None = None

    def __call__(self) -> float:
        with self._lock:
            now = self._clock() + self._shift
            if self._last is not None and not 0 <= now - self._last <= LEAP_S:
                self.leaps += 1
                self._shift += self._last - now
                now = self._last
            self._last = now
            return now


class CaptureClock:
    """The moment each shot was taken, on our clock: strictly increasing, never later than now.

    Without stamps that is the time of arrival. With them (streams, headsets) their spacing is kept, since arrival
    comes in bursts: the shot that came quickest says how the two clocks compare. Stamps that go back or jump ahead
    are tied anew to the time of arrival; `resets` counts that.

    >>> clock = CaptureClock()
    >>> shots = ((5.0, 100.0), (5.4, 100.2), (5.5, 100.4), (5.7, 3700.0))
    >>> [round(clock.push(now, stamp), 2) for now, stamp in shots]
    [5.0, 5.2, 5.4, 5.7]
    >>> clock.resets
    1
    """

    def __init__(self) -> None:
        self.resets = 0
        self.behind_s = 0.0
        self._offset: float | None = None  # our clock less the stamps' clock
        self._stamp = self._now = 0.0
        self._moment: float | None = None

    def push(self, now: float, stamp: float | None = None) -> float:
        """The moment of a shot that arrived `now`; `behind_s` then says how late it was."""
        # A sender may write anything into its stamp; NaN is not below the limit either.
        moment = self._from_stamp(now, stamp) if stamp is not None and abs(stamp) < LARGEST_S else now
        if self._moment is not None:
            moment = max(moment, self._moment + STEP_S)
        self._moment, self._now = moment, now
        self.behind_s = now - moment
        return moment

    def reopen(self) -> None:
        """Forgets how the stamps compare: the device was opened anew and may count from anywhere."""
        self._offset = None

    def reset(self) -> None:
        """Ties the stamps anew to the time of arrival, and counts it."""
        self.resets += 1
        self._offset = None

    def _from_stamp(self, now: float, stamp: float) -> float:
        passed, stamped = now - self._now, stamp - self._stamp
        if self._offset is not None and (stamped < 0 or stamped - passed > JUMP_S):
            self.reset()
        self._stamp = stamp
        quickest = now - stamp
        self._offset = quickest if self._offset is None else min(quickest, self._offset + DRIFT * passed)
        return stamp + self._offset
