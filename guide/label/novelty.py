"""How unlike everything learnt a moment is: near no step, or outside all that the demonstrations ever varied in.

The recogniser looks along the directions in which demonstrations vary, so what is new to all of them is projected away:
left-out demonstrations seem farther from the rest than strangers do. Counting what lies outside mends that.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.label.directions import ROWS_AT_ONCE, along
from guide.label.membership import squared_distances
from guide.label.recogniser import Recogniser, RecogniserSettings

Floats = NDArray[np.float64]

SPAN_S = 2.0  # a glance elsewhere is no activity: distances are averaged over this time
SOFTNESS = 0.02  # share of the limit over which a moment goes from known to unknown
_TINY = 1e-12


@dataclass(frozen=True)
class Surroundings:
    """A recogniser and the scale (P,) of the features around it: distances with what it does not look at.

    >>> flat = Recogniser(np.zeros(2), np.array([[1.0], [0.0]]), np.array([[0.0]]), np.array([1]), 9.0, 1.0)
    >>> around = Surroundings(flat, np.ones(2))
    >>> around.outside(np.array([[3.0, 0.0], [0.0, 3.0]])).round(1).tolist()
    [0.0, 30.0]
    """

    recogniser: Recogniser
    scale: Floats

    @cached_property
    def _seen(self) -> Floats:
        """The matrix (d, d) that gives the length of features from their projection."""
        spread = self.recogniser.projection / self.scale[:, None]
        return np.asarray(np.linalg.pinv(spread.T @ spread, hermitian=True))

    @cached_property
    def _floor(self) -> float:
        """The spread of a direction in which no step varied: what shrinkage leaves it."""
        return max(RecogniserSettings().shrinkage * float(np.trace(self._seen)) / len(self._seen), _TINY)

    def outside(self, features: NDArray[Any]) -> Floats:
        """Squared distances (T,) of features (T, P) from all that the recogniser sees, in units of a step's spread."""
        starts = range(0, max(len(features), 1), ROWS_AT_ONCE)
        return np.concatenate([self._part(features[start : start + ROWS_AT_ONCE]) for start in starts])

    def _part(self, features: NDArray[Any]) -> Floats:
        rows = np.asarray(features, np.float64) - self.recogniser.mean
        return self._beyond(rows, along(rows, self.recogniser.projection))

    def _beyond(self, rows: Floats, inside: Floats) -> Floats:
        seen = np.einsum("td,td->t", inside @ self._seen, inside)
        whole = np.square(rows * self.scale).sum(1)
        return np.asarray(np.maximum(whole - seen, 0.0) / self._floor)

    def distances(self, features: NDArray[Any]) -> Floats:
        """Distances (T, C) of features (T, P) to each centre, not squared, with what lies outside."""
        return self.look(features)[1]

    def look(self, features: NDArray[Any], known: Floats | None = None) -> tuple[Floats, Floats]:
        """Features (T, P) as the recogniser has them (T, d), where that is not `known`, and their distances (T, C)."""
        rows = np.asarray(features, np.float64) - self.recogniser.mean
        seen = along(rows, self.recogniser.projection) if known is None else known
        squared = squared_distances(seen, self.recogniser.centres) + self._beyond(rows, seen)[:, None]
        return seen, np.sqrt(squared)


class Strangeness:
    """The chance that what has been going on for a while is unknown: the mean distance of the last seconds to a limit.

    >>> strangeness = Strangeness(limit=10.0, span_s=1.0)
    >>> [round(strangeness.push(far, at), 2) for at, far in enumerate((9.0, 11.0, 13.0))]
    [0.01, 0.5, 1.0]
    """

    def __init__(self, limit: float, span_s: float = SPAN_S) -> None:
        self._limit, self._span_s = limit, span_s
        self._recent: deque[tuple[float, float]] = deque()

    def push(self, distance: float, at: float) -> float:
        """Takes a moment's distance to the nearest centre."""
        self._recent.append((at, distance))
        while self._recent[0][0] < at - self._span_s - 1e-9:
            self._recent.popleft()
        mean = sum(one for _, one in self._recent) / len(self._recent)
        excess = (mean / self._limit - 1.0) / SOFTNESS
        return float(1.0 / (1.0 + np.exp(-np.clip(excess, -50.0, 50.0))))

    def reset(self) -> None:
        self._recent.clear()


class Stain:
    """How much of what features look back on was unknown, 0 to 1: it fades as their memory does.

    >>> stain = Stain(memory_s=10.0)
    >>> [round(stain.push(is_unknown, at), 2) for at, is_unknown in enumerate((True, False, False))]
    [1.0, 0.48, 0.3]
    """

    def __init__(self, memory_s: float) -> None:
        self._memory_s = memory_s
        self._at = self._sum = self._weight = 0.0

    def push(self, is_unknown: bool, at: float) -> float:
        keep = float(np.exp(-max(at - self._at, 0.0) / self._memory_s)) if self._weight else 0.0
        self._sum, self._weight, self._at = keep * self._sum + is_unknown, keep * self._weight + 1.0, at
        return self._sum / self._weight


def smoothed(distances: Floats, times: Floats, span_s: float = SPAN_S) -> Floats:
    """The mean (T,) of the distances (T,) of the last seconds before each moment, as `Strangeness` takes it."""
    sums = np.append(0.0, np.cumsum(distances))
    first = np.searchsorted(times, times - span_s - 1e-9)
    last = np.arange(1, len(times) + 1)
    return np.asarray((sums[last] - sums[first]) / (last - first))


def with_unknown(costs: Floats, chance: float) -> Floats:
    """Costs (C,), the last of them of unknown activity, where that has at least this chance.

    >>> with_unknown(np.array([0.2, 1.0, 0.8]), 0.6).round(2).tolist()
    [0.6, 1.0, 0.4]
    """
    before = 1.0 - costs[-1]
    if chance <= before:
        return costs
    known = (1.0 - costs[:-1]) * (1.0 - chance) / max(1.0 - before, _TINY)
    return np.asarray(1.0 - np.append(known, chance))
