"""Time that a piece of work takes, by the clock and by the processor, and networks that measure themselves.

Processor time is what the work costs with a core of its own: on a machine that others use too, the clock runs on while
the work waits. Both are told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from guide import wire
from guide.benchmarks.frames import frames_of
from guide.perceive.embedder import Device, Floats, OnnxHead, OnnxModel, OnnxTrunk
from guide.session import Session

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds by the clock and of all threads on the processor.

    >>> Span(3.0, 2.0) - Span(1.0, 0.5)
    Span(wall_s=2.0, cpu_s=1.5)
    """

    wall_s: float
    cpu_s: float

    def __sub__(self, other: Span) -> Span:
        return Span(self.wall_s - other.wall_s, self.cpu_s - other.cpu_s)

    def __add__(self, other: Span) -> Span:
        return Span(self.wall_s + other.wall_s, self.cpu_s + other.cpu_s)


def timed(act: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds that something took by the clock, and what it gave."""
    began = time.perf_counter()
    result = act()
    return time.perf_counter() - began, result


def see_frames(session: Session, video: Path | None, count: int) -> Iterator[Span]:
    """Frames of a video or drawn ones through the loop to its lines; what each took, decoding left out."""
    for frame in frames_of(video, session.perceiver.rate, count, session.perceiver.is_due):
        began = now()
        for update in session.see(frame):
            list(wire.lines(update, session.procedure, with_labels=True))
        yield now() - began


def now() -> Span:
    """The present moment; a difference of two is what passed."""
    return Span(time.perf_counter(), time.process_time())


class Stopwatch:
    """Adds up the time inside its `with` blocks.

    >>> watch = Stopwatch()
    >>> with watch:
    ...     pass
    >>> watch.total.wall_s >= 0
    True
    """

    def __init__(self) -> None:
        self.total = Span(0.0, 0.0)
        self._began = self.total

    def __enter__(self) -> Stopwatch:
        self._began = now()
        return self

    def __exit__(self, *_: object) -> None:
        self.total = self.total + (now() - self._began)


class Timed(OnnxModel):
    """A network that knows how long it ran."""

    def __init__(self, path: str | Path, device: Device = "auto", threads: int = 0) -> None:
        super().__init__(path, device, threads)
        self.watch = Stopwatch()

    def run(self, inputs: Floats, outputs: list[str]) -> list[Floats]:
        with self.watch:
            return super().run(inputs, outputs)


class TimedTrunk(Timed, OnnxTrunk):
    """A trunk that knows how long it ran."""


class TimedHead(Timed, OnnxHead):
    """A head that knows how long it ran."""


@contextmanager
def on_cores(count: int) -> Iterator[int]:
    """Keeps this thread, and those it starts, on so many cores, where the system can; says how many they are."""
    if not hasattr(os, "sched_setaffinity"):
        yield count
        return
    before, threads = os.sched_getaffinity(0), cv2.getNumThreads()
    chosen = sorted(before)[:count]
    os.sched_setaffinity(0, chosen)
    cv2.setNumThreads(len(chosen))
    try:
        yield len(chosen)
    finally:
        os.sched_setaffinity(0, before)
        cv2.setNumThreads(threads)


def percentile_ms(seconds: list[float] | NDArray[np.float64], share: float) -> float:
    """A percentile in milliseconds, of at least one time.

    >>> percentile_ms([0.001, 0.002, 0.003], 50)
    2.0
    """
    return float(1000 * np.percentile(seconds, share))
