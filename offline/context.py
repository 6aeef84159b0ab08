"""The past that a trained head sees: frames chosen by time, so that dropped frames and odd rates shift nothing."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import Times

ContextIndices: TypeAlias = NDArray[np.int64]  # (T, count)


def context_indices(times: Times, count: int, stride_s: float, rate: float) -> ContextIndices:
    """For each of the T times the indices of its context, (T, count), oldest first: itself, and 1, 2, .. strides older.

    An older frame is the newest one at least `k * stride_s` old, give or take a third of a tick of the working `rate`:
    frames are taken at the first moment after a tick, so their distances waver by up to one frame of the source,
    and without the allowance the choice would flip between two neighbours. At the start the first frame is repeated.

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
    """The least age in seconds of each context frame, oldest first; the current one has age 0."""
    if count < 1 or stride_s < 0 or rate <= 0:
        raise ValueError(f"context needs count >= 1, stride_s >= 0 and rate > 0, got {count}, {stride_s}, {rate}")
    # A third and not a half: half a second at 5 fps is two and a half ticks, and half a tick less would be a tie.
    allowance_s = 1.0 / (3.0 * rate)
    return [max(0.0, k * stride_s - allowance_s) for k in range(count - 1, 0, -1)] + [0.0]
