"""Prototypes of key-steps in the embedding, and how much a frame belongs to each of them: the t-links of the cut.

A prototype is the mean embedding of a step's frames. Distances to it are measured in the metric in which every step
spreads like a unit sphere. Memberships follow from distances as in fuzzy c-means with an entropy term, in closed form:
u = exp(-d²/2T) / sum exp(-d²/2T).
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, UNKNOWN, Labels
from guide.errors import BundleError
from guide.label.clock_prior import ClockPrior
from guide.label.confidence import Calibration
from guide.label.membership import squared_distances

Floats = NDArray[np.float64]

SPAN_S = 2.0  # a glance elsewhere is no activity: distances are averaged over this time
SOFTNESS = 0.02  # share of the limit over which a moment goes from known to unknown
UNLIKE_ITSELF = 2.0  # times as far as usual in a session: in other light or with gloves everything lies farther
MOST_UNLIKE = 8.0  # times the limit of the demonstrations: beyond it lies a covered camera, not a stranger
_LARGEST = 1e6  # no number of ours is larger; beyond it arithmetic would overflow
_SMALLEST = 1e-12  # no temperature and no limit of ours is smaller


@dataclass(frozen=True, slots=True, eq=False)
class Prototypes:
    """The prototypes of a task.

    >>> two = Prototypes(np.array([1, 2]), np.array([[0.0], [2.0]]), np.eye(1), temperature=1.0, far=9.0)
    >>> two.memberships(np.array([[0.0], [1.0]])).round(2).tolist()
    [[0.88, 0.12], [0.5, 0.5]]
    """

    numbers: Labels  # (C,) step numbers in rising order; 0 for background, which may have several prototypes
    centres: Floats  # (C, D), in the embedding
    metric: Floats  # (D, D): distances are those of embeddings times this
    temperature: float
    """Divides squared distances: frames of strangers are less certain than the demonstrations' own."""
    far: float
    """The distance to the nearest prototype, averaged over a while, up to which nothing is unknown."""
    clock: ClockPrior | None = None
    """What is usually done by then, and how far ahead background must be to be shown."""
    confidence: Calibration = field(default_factory=Calibration)
    """Of the confidence of steps: the share that was right in left-out demonstrations."""

    @property
    def steps(self) -> tuple[int, ...]:
        """The labels that costs are given for: the steps, background where it is one of them, and unknown activity."""
        return (*(int(number) for number in np.unique(self.numbers)), UNKNOWN)

    def distances(self, embeddings: NDArray[Any]) -> Floats:
        """Squared distances (T, C) of embeddings (T, D) to each prototype."""
        return squared_distances(np.asarray(embeddings, np.float64) @ self.metric, self.centres @ self.metric)

    def memberships(self, embeddings: NDArray[Any]) -> Floats:
        """How much embeddings (T, D) belong to each step and to background, (T, S); rows sum to 1."""
        return memberships_of(self.distances(embeddings), self.temperature, self.numbers)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle."""
        return {
            "numbers": self.numbers,
            "centres": self.centres,
            "metric": self.metric,
            "scalars": np.array([self.temperature, self.far, self.confidence.slope, self.confidence.offset]),
            **({} if self.clock is None else self.clock.to_arrays()),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Prototypes:
        """The prototypes in a bundle's arrays; raises BundleError where they are damaged or do not fit together."""
        try:
            centres, metric, scalars = (np.asarray(arrays[key], np.float64) for key in ("centres", "metric", "scalars"))
            numbers = np.asarray(arrays["numbers"])
            _require_shapes(numbers, centres, metric)
            temperature, far, slope, offset = (float(value) for value in scalars)
            sizes, trends = np.array([temperature, far]), np.array([slope, offset])
            if not ((sizes > _SMALLEST) & (sizes < _LARGEST) & (np.abs(trends) < _LARGEST)).all():
                raise ValueError(f"a temperature of {temperature}, a limit of {far}, a slope of {slope} from {offset}")
            clock = ClockPrior.from_arrays(arrays, len(np.unique(numbers))) if "clock" in arrays else None
            trust = Calibration(slope, offset)
            return Prototypes(numbers.astype(np.int64), centres, metric, temperature, far, clock, trust)
        except (KeyError, TypeError, ValueError) as cause:
            raise BundleError(
                f"prototypes.npz should hold whole prototypes, but {cause} is lacking or wrong: learn the procedure "
                "again."
            ) from cause


def _require_shapes(numbers: NDArray[Any], centres: Floats, metric: Floats) -> None:
    fits = numbers.ndim == 1 and centres.ndim == 2 and len(numbers) == len(centres) > 0
    if not fits or metric.shape != (centres.shape[1],) * 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"numbers {numbers.shape}, centres {centres.shape} and metric {metric.shape}")
    steps = numbers[numbers > BACKGROUND]
    is_rising = (np.diff(numbers) >= 0).all() and (np.diff(steps) > 0).all()
    if not is_rising or numbers.min() < 0 or numbers.max() > _LARGEST:
        raise ValueError("step numbers from 0 up in rising order, each step once,")
    if not ((np.abs(centres) < _LARGEST).all() and (np.abs(metric) < _LARGEST).all()):
        raise ValueError("a number that is not finite, or out of all proportion,")


def memberships_of(distances: Floats, temperature: float, numbers: Labels) -> Floats:
    """Memberships (T, S) in the different `numbers` of prototypes (C,), by squared distances (T, C) to these."""
    return np.asarray(np.exp(log_memberships(distances, temperature, numbers)))


def log_memberships(distances: Floats, temperature: float, numbers: Labels) -> Floats:
    """The logarithms of these memberships.

    >>> np.exp(log_memberships(np.array([[1.0, 1.0, 1.0]]), 1.0, np.array([0, 0, 1]))).round(2).tolist()
    [[0.67, 0.33]]
    """
    scores = -0.5 * distances / temperature
    scores = scores - scores.max(1, keepdims=True)
    scores = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return np.asarray(np.logaddexp.reduceat(scores, np.unique(numbers, return_index=True)[1], axis=1))


class Unaries:
    """The costs of the labels of each frame, one minus its membership; unknown activity as it has been for a while.

    >>> two = Prototypes(np.array([1, 2]), np.array([[0.0], [2.0]]), np.eye(1), temperature=1.0, far=9.0)
    >>> unaries = Unaries(two)
    >>> [unaries.push(np.array([where]), at).round(2).tolist() for at, where in enumerate((0.0, 900.0))]
    [[0.12, 0.88, 1.0], [1.0, 1.0, 0.0]]
    """

    def __init__(self, prototypes: Prototypes) -> None:
        self.prototypes = prototypes
        self._recent: deque[tuple[float, float]] = deque()  # when, and how far the nearest prototype was
        self._sorted: list[float] = []  # how far it has been in the whole session
        self._placed = prototypes.centres @ prototypes.metric
        self._metric = prototypes.metric.astype(np.float32, order="F")  # a live frame waits for it from memory

    def push(self, embedding: NDArray[Any], at: float) -> Floats:
        """The costs (C + 1,) in [0, 1] of the labels in `steps` for an embedding (D,)."""
        if embedding.shape != self.prototypes.centres.shape[1:]:
            raise BundleError(
                f"the bundle's prototypes lie in {self.prototypes.centres.shape[1]} dimensions, its network gives "
                f"{embedding.shape}: learn the procedure again."
            )
        placed = np.asarray(embedding.astype(np.float32) @ self._metric, np.float64)
        return self.weigh(squared_distances(placed[None], self._placed), at)

    def weigh(self, distances: Floats, at: float) -> Floats:
        """The same from a frame's squared distances (1, C) to the prototypes."""
        memberships = memberships_of(distances, self.prototypes.temperature, self.prototypes.numbers)[0]
        unknown = self._unknown(float(np.sqrt(distances.min())), at)
        return np.asarray(1.0 - np.append(memberships * (1.0 - unknown), unknown))

    def _unknown(self, nearest: float, at: float) -> float:
        """The chance that what has been going on for a while is unknown activity."""
        self._recent.append((at, nearest))
        while self._recent[0][0] < at - SPAN_S - 1e-9:
            self._recent.popleft()
        mean = sum(one for _, one in self._recent) / len(self._recent)
        excess = (mean / self._limit(nearest) - 1.0) / SOFTNESS
        return float(1.0 / (1.0 + np.exp(-np.clip(excess, -50.0, 50.0))))

    def _limit(self, nearest: float) -> float:
        """How far what goes on may lie: as far as for the demonstrations, or as is not unusual for this session."""
        insort(self._sorted, nearest)
        usual, far = self._sorted[len(self._sorted) // 2], self.prototypes.far
        return float(np.clip(UNLIKE_ITSELF * usual, far, MOST_UNLIKE * far))


def mean_nearest(distances: Floats, times: Floats) -> Floats:
    """How far (T,) the nearest prototype was on average over the last seconds, by squared distances (T, C)."""
    sums = np.append(0.0, np.cumsum(np.sqrt(distances.min(1))))
    first = np.searchsorted(times, times - SPAN_S - 1e-9)
    last = np.arange(1, len(times) + 1)
    return np.asarray((sums[last] - sums[first]) / (last - first))
