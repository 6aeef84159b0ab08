"""Limits of what the server accepts from clients: nothing may grow without bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from guide.errors import InputError
from guide.serve.picture import PictureLimits


@dataclass(frozen=True)
class Limits:
    """The most that is accepted from clients.

    >>> Limits().in_flight
    2
    """

    most_clients: int = 32
    """Headsets and phones connected at the same time."""
    most_sessions: int = 32
    """Sessions running at the same time, those of headsets included."""
    most_strangers: int = 256
    """Connections that have not shown a token yet."""
    most_viewers: int = 16
    """Readers of moving pictures at the same time."""
    most_rate: float = 15.0
    """Messages a second and client; more are refused."""
    most_waiting: int = 256
    """Messages that wait for a slow client before it is cut off."""
    in_flight: int = 2
    """Frames of a client that are not acknowledged yet."""
    longest_text: int = 8_192
    """Characters of a text message."""
    picture: PictureLimits = field(default_factory=PictureLimits)
    """The largest picture."""

    def __post_init__(self) -> None:
        counts = (self.most_clients, self.most_sessions, self.most_strangers, self.most_viewers, self.most_waiting)
        if min(counts) < 1 or not 0 < self.most_rate < 1e6 or self.in_flight < 1 or self.longest_text < 256:
            raise InputError(f"limits of at least 1 and a rate above 0 were expected, got {self}.")


class RateLimiter:
    """A token bucket: whether one more message is within the rate; a second's worth may come at once.

    >>> now = [0.0]
    >>> limiter = RateLimiter(2.0, clock=lambda: now[0])
    >>> [limiter.take() for _ in range(3)]
    [True, True, False]
    >>> now[0] = 0.5
    >>> limiter.take()
    True
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._most = max(1.0, rate)
        self._left, self._at = self._most, clock()

    @property
    def pause_s(self) -> float:
        """How long a client that sends too much is not read from."""
        return 1.0 / self._rate

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0 - 1e-9:
            return False
        self._left -= 1.0
        return True
