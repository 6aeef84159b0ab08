"""How the loop keeps up with a live source, in a line now and then: rate, drops, age."""

from __future__ import annotations

from guide.ingest.mailbox import Health

EVERY_S = 10.0
SLOW = 0.8  # a loop at less than this part of the rate it could have is too slow


class Pulse:
    """A line every ten seconds of session time; `rate` is how many frames a second are to be processed.

    >>> pulse = Pulse(rate=5.0)
    >>> pulse.push(0.0, Health(received=1))
    >>> pulse.push(8.0, Health(received=270, dropped=0, age_s=0.03))
    >>> pulse.push(10.0, Health(received=301, dropped=7, age_s=0.04))
    '0.2 of 30.0 frames a second processed, 7 dropped so far, the last one 40 ms old; too slow for 5 a second'
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._processed = 0
        self._since: tuple[float, int, int] | None = None  # session time, frames processed, frames received

    def push(self, at: float, health: Health) -> str | None:
        """The line, when it is time for one; called once for each frame that was processed."""
        if self._since is None:
            self._since = at, 0, health.received
            return None
        self._processed += 1
        began, processed, received = self._since
        passed_s = at - began
        if passed_s < EVERY_S:
            return None
        self._since = at, self._processed, health.received
        rate, came = (self._processed - processed) / passed_s, (health.received - received) / passed_s
        slow = f"; too slow for {self._rate:g} a second" if rate < SLOW * min(self._rate, came) else ""
        return (
            f"{rate:.1f} of {came:.1f} frames a second processed, {health.dropped} dropped so far, "
            f"the last one {1000 * health.age_s:.0f} ms old{slow}"
        )
