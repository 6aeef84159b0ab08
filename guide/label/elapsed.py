"""What is usually done about so long after the beginning: a prior on the labels shown, which evidence overrules.

Steps that look alike are often told apart by their place. The prior is broad and never excludes anything, and courses
of events, from which flags come, do not know it: a guide that goes by the clock sees the usual order whatever is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from guide.domain import Labels, Times

Floats = NDArray[np.float64]

BINS = 100  # to the median length of the demonstrations
BREADTH = 0.15  # of that length: people are early and late by about so much
LONGEST_GAP = 2.0  # bins between two frames: while nothing is seen, nobody knows whether the work goes on
DOUBT = 1.0  # added to each likelihood ratio: a step never seen so early is possible still


@dataclass(frozen=True, slots=True)
class Elapsed:
    """How much likelier each label is at a time than at any other, on a grid of times.

    >>> early = Elapsed(np.array([[1.5, 0.5], [0.5, 1.5]]), bin_s=10.0)
    >>> early.weights_at(3.0).tolist(), early.weights_at(99.0).tolist()
    ([1.5, 0.5], [1.0, 1.0])
    """

    weights: Floats  # (B, C), above 0
    bin_s: float

    def weights_at(self, elapsed_s: float) -> Floats:
        """Weights (C,) of the labels; all alike after the longest demonstration."""
        place = int(max(elapsed_s, 0.0) / self.bin_s)
        return self.weights[place] if place < len(self.weights) else np.ones(self.weights.shape[1])


def learn_elapsed(labels: Sequence[Labels], times: Sequence[Times], numbers: Labels) -> Elapsed:
    """The prior that demonstrations with labels (T,) at times (T,) in seconds teach, for the labels in `numbers`."""
    length_s = max(float(np.median([each[-1] - each[0] for each in times])), 1e-9)
    bin_s = length_s / BINS
    longest = max(int((each[-1] - each[0]) / bin_s) for each in times) + 1
    counts = np.zeros((longest, len(numbers)))
    for own, at in zip(labels, times, strict=True):
        for column, number in enumerate(numbers):
            places = ((at[own == number] - at[0]) / bin_s).astype(np.int64)
            counts[:, column] += np.bincount(places, minlength=longest)
    spread = gaussian_filter1d(counts, BREADTH * BINS, axis=0, mode="constant")
    likelier = BINS * spread / np.maximum(spread.sum(0), np.finfo(np.float64).tiny)
    weights = likelier + DOUBT
    return Elapsed(weights / weights.mean(1, keepdims=True), bin_s)


class Clock:
    """How long a session has been seen: gaps in the stream, such as a pause, hardly count.

    >>> clock = Clock(Elapsed(np.ones((9, 2)), bin_s=1.0))
    >>> [clock.push(at) for at in (5.0, 6.0, 600.0)]
    [0.0, 1.0, 3.0]
    """

    def __init__(self, elapsed: Elapsed | None) -> None:
        self._longest_gap_s = np.inf if elapsed is None else LONGEST_GAP * elapsed.bin_s
        self._last: float | None = None
        self._elapsed_s = 0.0

    def push(self, at: float) -> float:
        """The seconds seen until the frame taken at `at`, which is not before the last one."""
        if self._last is not None:
            self._elapsed_s += min(max(at - self._last, 0.0), self._longest_gap_s)
        self._last = at
        return self._elapsed_s
