"""Resized pictures in batches for a GPU: several threads fill the next batches while one is handed over."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame, Times
from guide.perceive.preprocess import Preprocessing, squash

FRAMES_AT_ONCE = 8  # one task of a thread: single small pictures would cost more to hand over than to decode
THREADS = 8  # one thread resizes more slowly than a decoder of many threads decodes
BUFFERS = 3  # batches filled at a time, so that no thread waits for the last picture of one

Pictures = NDArray[np.uint8]  # (N, S, S, 3)


@dataclass(slots=True)
class _BatchBuffer:
    """Memory for a batch, and the threads that fill it."""

    pictures: Pictures
    times: list[float] = field(default_factory=list)
    parts: list[Future[None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.times) >= len(self.pictures)

    def take(self) -> tuple[Times, Pictures]:
        """The filled part, once the threads are done."""
        for part in self.parts:
            part.result()
        return np.array(self.times), self.pictures[: len(self.times)]


def resized_batches(groups: Iterable[list[Frame]], how: Preprocessing, size: int) -> Iterator[tuple[Times, Pictures]]:
    """Resized pictures of groups of at most FRAMES_AT_ONCE frames, in batches of `size` or a little more, in order."""
    shape = (-(-size // FRAMES_AT_ONCE) * FRAMES_AT_ONCE, how.size_px, how.size_px, 3)
    buffers: deque[_BatchBuffer] = deque()
    with ThreadPoolExecutor(THREADS, "resize") as pool:
        for group in groups:
            if not buffers or buffers[-1].is_full:
                buffers.append(_BatchBuffer(np.empty(shape, np.uint8)))
            buffer, start = buffers[-1], len(buffers[-1].times)
            buffer.times += [frame.at for frame in group]
            buffer.parts.append(pool.submit(_resize, group, how, buffer.pictures[start : len(buffer.times)]))
            if len(buffers) == BUFFERS and buffer.is_full:
                yield buffers.popleft().take()
        while buffers:
            yield buffers.popleft().take()


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


def _resize(group: list[Frame], how: Preprocessing, places: Pictures) -> None:
    for frame, place in zip(group, places, strict=True):
        squash(frame.image, how, place)
