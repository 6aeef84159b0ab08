"""What is usually done about so long after the beginning: a prior on the labels shown, which evidence overrules.

Steps that look alike are often told apart by their place, and what is hard to tell looks like background, which is a
bit of everything. The prior is broad and never excludes anything. Histories, from which flags come, do not know it: a
guide that goes by the clock sees the usual order whatever is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from guide.domain import BACKGROUND, Labels, Times

Floats = NDArray[np.float64]

BINS = 100  # to the median length of the demonstrations, fewer where that has fewer frames
MOST_BINS = 10_000  # to the length of the longest, where most are far shorter than that one
BREADTH = 0.15  # of that length: people are early and late by about so much
LONGEST_GAP = 2.0  # bins between two frames: while nothing is seen, nobody knows whether the work goes on
LARGEST = 1e6  # no weight of ours is larger; beyond it arithmetic would overflow
DOUBT = 1.0  # added to each likelihood ratio: a step never seen so early is possible still


@dataclass(frozen=True, slots=True, eq=False)
class ClockPrior:
    """How much likelier each label is at a time than at any other, on a grid of times; background put back.

    >>> early = ClockPrior(np.array([[1.5, 0.5], [0.5, 1.5]]), bin_s=10.0, background=1.0)
    >>> early.weights_at(3.0).tolist(), early.weights_at(99.0).tolist()
    ([1.5, 0.5], [1.0, 1.0])
    """

    weights: Floats  # (B, C), above 0
    bin_s: float
    background: float
    """What background counts for, from 0 to 1: so much it has to be ahead to be shown."""

    def weights_at(self, elapsed_s: float) -> Floats:
        """Weights (C,) of the labels; all alike after the longest demonstration."""
        place = int(max(elapsed_s, 0.0) / self.bin_s)
        return self.weights[place] if place < len(self.weights) else np.ones(self.weights.shape[1])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle, beside the prototypes."""
        return {"clock": self.weights, "clock_scalars": np.array([self.bin_s, self.background])}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], count: int) -> ClockPrior:
        """The prior of so many labels in a bundle's arrays; ValueError where it does not fit."""
        weights, scalars = (np.asarray(arrays[key], np.float64) for key in ("clock", "clock_scalars"))
        bin_s, background = (float(value) for value in scalars)
        is_sound = weights.ndim == 2 and weights.shape[1] == count and ((weights > 0) & (weights < LARGEST)).all()
        if not is_sound:
            raise ValueError(f"a clock prior {weights.shape} of numbers above 0 for {count} labels")
        if not (0 < bin_s < np.inf and 0 < background <= 1):
            raise ValueError(f"a clock prior with bins of {bin_s} s and {background} for background")
        return ClockPrior(weights, bin_s, background)


def learn_clock_prior(
    labels: Sequence[Labels], times: Sequence[Times], numbers: Labels, background: float = 1.0
) -> ClockPrior:
    """The prior that demonstrations with labels (T,) at times (T,) in seconds teach, for the labels in `numbers`."""
    lengths_s = [float(each[-1] - each[0]) for each in times]
    usual_s = float(np.median(lengths_s))
    frame_s = float(np.median([length / max(len(each) - 1, 1) for length, each in zip(lengths_s, times, strict=True)]))
    bin_s = max(usual_s / BINS, frame_s, max(lengths_s) / MOST_BINS, 1e-9)
    bins = max(usual_s / bin_s, 1.0)
    longest = int(max(lengths_s) / bin_s) + 1
    counts = np.zeros((longest, len(numbers)))
    for own, at in zip(labels, times, strict=True):
        for column, number in enumerate(numbers):
            places = ((at[own == number] - at[0]) / bin_s).astype(np.int64)
            counts[:, column] += np.bincount(places, minlength=longest)
    spread = gaussian_filter1d(counts, BREADTH * bins, axis=0, mode="constant")
    likelier = bins * spread / np.maximum(spread.sum(0), np.finfo(np.float64).tiny)
    weights = likelier + DOUBT
    return ClockPrior(weights / weights.mean(1, keepdims=True), bin_s, background)


class Clock:
    """Weighs memberships by how long a session has been seen: gaps in the stream, such as a pause, hardly count.

    >>> clock = Clock(ClockPrior(np.array([[0.5, 1.5]]), bin_s=9.0, background=0.5), steps=(0, 1, -1))
    >>> clock.push(np.array([0.4, 0.4, 0.2]), at=5.0).round(2).tolist()
    [0.11, 0.69, 0.2]
    """

    def __init__(self, prior: ClockPrior, steps: Sequence[int]) -> None:
        self._prior = prior
        self._background = np.where(np.array(steps[:-1]) == BACKGROUND, prior.background, 1.0)
        self.reset()

    def reset(self) -> None:
        """The session begins with the next frame."""
        self._last: float | None = None
        self._elapsed_s = 0.0

    def push(self, memberships: Floats, at: float) -> Floats:
        """Memberships (C + 1,) of a frame as they are shown; the last, unknown activity, stays as it was."""
        if self._last is not None:
            self._elapsed_s += min(max(at - self._last, 0.0), LONGEST_GAP * self._prior.bin_s)
        self._last = at
        known = memberships[:-1]
        weighed = known * self._background * self._prior.weights_at(self._elapsed_s)
        share = known.sum() / max(float(weighed.sum()), np.finfo(np.float64).tiny)
        return np.append(np.minimum(share * weighed, 1.0), memberships[-1])
