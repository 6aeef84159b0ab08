"""A camera and a clock without hardware or waiting: time passes only when somebody reads or pauses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from guide.domain import Image
from guide.ingest.base import Shot, SourceLostError

Take = Sequence[Image | Shot | None]


class FakeClock:
    """Seconds that tests move; `pauses` are those that were asked for."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, stop: threading.Event, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class FakeCamera:
    """Opened once for each take: a take's pictures come at `rate` a second (None is a damaged one), then it is lost.

    A take of None is an attempt to open that fails; after the last take every attempt does. `before_read` may wait.
    """

    def __init__(self, clock: FakeClock, takes: Sequence[Take | None], rate: float = 10.0) -> None:
        self.clock, self.rate = clock, rate
        self.takes = list(takes)
        self.opened = self.closed = 0
        self.before_read: Callable[[], None] = lambda: None

    def open(self) -> OpenFakeCamera:
        take = self.takes.pop(0) if self.takes else None
        if take is None:
            raise SourceLostError("it is unplugged", "plug it in")
        self.opened += 1
        return OpenFakeCamera(self, take)


class OpenFakeCamera:
    def __init__(self, camera: FakeCamera, take: Take) -> None:
        self._camera, self._left = camera, list(take)

    def read(self) -> Shot | None:
        self._camera.before_read()
        self._camera.clock.now += 1 / self._camera.rate
        if not self._left:
            raise SourceLostError("it was unplugged")
        picture = self._left.pop(0)
        return Shot(lambda: picture) if isinstance(picture, np.ndarray) else picture

    def close(self) -> None:
        self._camera.closed += 1


def noisy(count: int, seed: int = 0, level: int = 90) -> list[Image]:
    """Pictures of a still scene as a camera sees it: with noise."""
    generator = np.random.default_rng(seed)
    return [np.clip(generator.normal(level, 2.0, (48, 64, 3)), 0, 255).astype(np.uint8) for _ in range(count)]
