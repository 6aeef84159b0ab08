"""Squashed pictures for a GPU: several threads fill the next batches while one is handed over."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame, Times
from guide.perceive.preprocess import Preprocessing, squash

FRAMES_AT_ONCE = 8  # a thread's work: handing over single small pictures would cost more than their decoding
THREADS = 8  # one takes longer for a picture than a decoder of many threads
ROOMS = 3  # batches filled at a time, so that nobody waits for the last picture of one

Pictures = NDArray[np.uint8]  # (N, S, S, 3)


@dataclass(slots=True)
class _Room:
    """Place for a batch, and the threads at work on it."""

    pictures: Pictures
    times: list[float] = field(default_factory=list)
    parts: list[Future[None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.times) >= len(self.pictures)

    def take(self) -> tuple[Times, Pictures]:
        """What is in it, once the threads are done."""
        for part in self.parts:
            part.result()
        return np.array(self.times), self.pictures[: len(self.times)]


def squashed(groups: Iterable[list[Frame]], how: Preprocessing, size: int) -> Iterator[tuple[Times, Pictures]]:
    """The pictures of groups of at most FRAMES_AT_ONCE frames, in batches of `size` or a little more, in order."""
    shape = (-(-size // FRAMES_AT_ONCE) * FRAMES_AT_ONCE, how.size_px, how.size_px, 3)
    rooms: deque[_Room] = deque()
    with ThreadPoolExecutor(THREADS, "squash") as pool:
        for group in groups:
            if not rooms or rooms[-1].is_full:
                rooms.append(_Room(np.empty(shape, np.uint8)))
            room, start = rooms[-1], len(rooms[-1].times)
            room.times += [frame.at for frame in group]
            room.parts.append(pool.submit(_squash, group, how, room.pictures[start : len(room.times)]))
            if len(rooms) == ROOMS and room.is_full:
                yield rooms.popleft().take()
        while rooms:
            yield rooms.popleft().take()


def grouped(frames: Iterable[Frame]) -> Iterator[list[Frame]]:
    """Frames a few at a time."""
    group: list[Frame] = []
    for frame in frames:
        group.append(frame)
        if len(group) == FRAMES_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _squash(group: list[Frame], how: Preprocessing, places: Pictures) -> None:
    for frame, place in zip(group, places, strict=True):
        squash(frame.image, how, place)
