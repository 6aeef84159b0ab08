"""The past that an embedding sees: trunk outputs chosen by time, so that dropped frames and odd rates shift nothing."""

from __future__ import annotations

import math
from collections import deque
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from guide.domain import Times

Item = TypeVar("Item")
ContextIndices: TypeAlias = NDArray[np.int64]  # (T, count)


class Context(Generic[Item]):
    """The current item and those 1, 2, .. `count - 1` strides older, oldest first.

    An older item is the newest one at least `k * stride_s` old, give or take a third of a tick of the working `rate`:
    frames are taken at the first moment after a tick, so their distances waver by up to one frame of the source,
    and without the allowance the choice would flip between two neighbours. At the start the first item is repeated.

    >>> context = Context[str](count=2, stride_s=0.5, rate=4.0)
    >>> [context.push(item, at) for item, at in zip("abcd", (0.0, 0.25, 0.5, 0.75))]
    [('a', 'a'), ('a', 'b'), ('a', 'c'), ('b', 'd')]
    """

    def __init__(self, count: int, stride_s: float, rate: float) -> None:
        self._ages = _ages(count, stride_s, rate)
        self._past: deque[tuple[float, Item]] = deque()
        self._latest = -math.inf

    def push(self, item: Item, at: float) -> tuple[Item, ...]:
        """The context of `item`, taken at `at` (seconds): `count` items, the newest last."""
        self._latest = at = max(at, self._latest)  # a clock that goes back must not unsort the past
        self._past.append((at, item))
        # Nothing older than the choice for the greatest age can be chosen again, since time only moves on.
        while len(self._past) > 1 and self._past[1][0] <= at - self._ages[0]:
            self._past.popleft()
        return (*(self._newest_until(at - age) for age in self._ages[:-1]), item)

    def reset(self) -> None:
        """Forgets the past."""
        self._past.clear()
        self._latest = -math.inf

    def _newest_until(self, moment: float) -> Item:
        for at, item in reversed(self._past):
            if at <= moment:
                return item
        return self._past[0][1]


def context_indices(times: Times, count: int, stride_s: float, rate: float) -> ContextIndices:
    """The same choice for a whole recording: for each of the T times the indices of its context, (T, count).

    >>> context_indices(np.array([0.0, 0.25, 0.5, 0.75]), count=2, stride_s=0.5, rate=4.0).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 3]]
    """
    times = np.maximum.accumulate(np.asarray(times, np.float64)) if len(times) else np.zeros(0)
    now = np.arange(len(times))
    columns = [
        np.clip(np.searchsorted(times, times - age, side="right") - 1, 0, now) if age > 0 else now
        for age in _ages(count, stride_s, rate)
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def _ages(count: int, stride_s: float, rate: float) -> list[float]:
    """The least age in seconds of each context item, oldest first; the current one has age 0."""
    if count < 1 or stride_s < 0 or rate <= 0:
        raise ValueError(f"context needs count >= 1, stride_s >= 0 and rate > 0, got {count}, {stride_s}, {rate}")
    # A third and not a half: half a second at 5 fps is two and a half ticks, and half a tick less would be a tie.
    allowance_s = 1.0 / (3.0 * rate)
    return [max(0.0, k * stride_s - allowance_s) for k in range(count - 1, 0, -1)] + [0.0]
