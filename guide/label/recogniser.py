"""A linear recogniser of key-steps: shrunken discriminant analysis on order-free features, relearned in seconds.

Everything is numpy, so that the live side can learn anew after a review without torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from guide.errors import BundleError
from guide.label.directions import Reduction, find_reduction, rows_along
from guide.label.discriminant import fit_discriminant, leave_each_out
from guide.label.elapsed import Elapsed
from guide.label.membership import squared_distances

Floats = NDArray[np.float64]

_TINY = 1e-9
IN_ORDER = "in_order_"  # begins the names of arrays of the recogniser that labels go by
_TEMPERATURES = tuple(2.0 ** (n / 2) for n in range(15))  # 1 to 128
_RELUCTANCES = tuple(n / 2 for n in range(9))  # 0 to 4 nats


@dataclass(frozen=True, slots=True)
class RecogniserSettings:
    """How the recogniser is learned.

    >>> RecogniserSettings().components
    200
    """

    components: int = 200
    """Principal components kept: recordings are few and features many."""
    shrinkage: float = 0.3
    """How far the within-step covariance is drawn towards a sphere."""
    known_share: float = 0.995
    """Frames of a left-out demonstration that must not look unknown: sets how far is too far."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """Scores each step (and background) for a feature vector.

    >>> rows = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> learned = learn_recogniser([rows], [np.array([1, 1, 2, 2])], RecogniserSettings())
    >>> int(learned.numbers[learned.log_posterior(np.array([[0.0, 0.8]])).argmax()])
    1
    """

    mean: Floats  # (P,)
    projection: NDArray[np.floating[Any]]  # (P, d), to a space in which every step spreads like a unit sphere
    centres: Floats  # (C, d)
    numbers: Labels  # (C,) step numbers, 0 for background
    distance_limit: float
    """Squared distance beyond which a frame is unknown activity."""
    temperature: float
    """Divides the log-likelihoods: frames of strangers are less certain than the demonstrations' own."""
    reluctance: float = 0.0
    """Nats by which background must be ahead to be shown: it is a bit of everything, so what is hard to tell looks like
    it. Probabilities here are without it."""
    elapsed: Elapsed | None = None
    """What is usually done how long after the beginning. Probabilities here are without it."""
    in_order: Recogniser | None = None
    """The same learned from demonstrations only as they are, where this one was also taught other orders: it knows how
    things look at their usual time, which labels may go by and flags may not."""

    @property
    def for_labels(self) -> Recogniser:
        """The one that labels go by."""
        return self.in_order or self

    @property
    def quick(self) -> Recogniser:
        """The same in single precision, column by column: a live frame waits for its wide projections from memory.

        Labels ask only which step is likelier: what goes by demonstrations as they are gives no more than that.
        """
        usual = None if self.in_order is None else self.in_order.narrow.quick
        with np.errstate(over="ignore"):  # what overflows is told as not finite
            return replace(self, projection=self.projection.astype(np.float32, order="F"), in_order=usual)

    @property
    def narrow(self) -> Recogniser:
        """The same probabilities of steps in as few directions as tell them apart.

        Across these a frame is equally far from all: distances lack that, and say no more what is unknown activity.
        """
        across = np.linalg.qr(self.centres.T)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return replace(
                self, projection=self.projection @ across, centres=self.centres @ across, distance_limit=np.inf
            )

    def distances(self, features: NDArray[Any]) -> Floats:
        """Squared distances (T, C) to each centre, in units of a step's own spread."""
        return squared_distances(self.along(features), self.centres)

    def along(self, features: NDArray[Any]) -> Floats:
        """Features (T, P) in the space (T, d) in which every step spreads like a unit sphere."""
        return rows_along(features, self.mean, self.projection)

    def log_posterior(self, features: NDArray[Any]) -> Floats:
        """The calibrated logarithm of each step's probability, (T, C)."""
        return log_posterior(self.distances(features), self.temperature)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle."""
        scalars = np.array([self.distance_limit, self.temperature, self.reluctance])
        known = self.elapsed
        elapsed = {} if known is None else {"elapsed": known.weights, "elapsed_bin_s": np.array([known.bin_s])}
        return {
            "mean": self.mean,
            "projection": self.projection,
            "centres": self.centres,
            "numbers": self.numbers,
            "scalars": scalars,
            **elapsed,
            **{f"{IN_ORDER}{key}": each for key, each in (self.in_order.to_arrays() if self.in_order else {}).items()},
        }

    @staticmethod
    def from_arrays(arrays: dict[str, NDArray[Any]]) -> Recogniser:
        """The recogniser in a bundle's arrays; raises BundleError if they do not fit together."""
        try:
            mean, projection, centres = (
                np.asarray(arrays[key], np.float64) for key in ("mean", "projection", "centres")
            )
            numbers = np.asarray(arrays["numbers"], np.int64)
            limit, temperature, *more = (float(value) for value in arrays["scalars"])
            reluctance = more[0] if more else 0.0  # bundles of before have none
            elapsed = _elapsed(arrays, len(numbers))
        except (KeyError, ValueError, TypeError) as cause:
            raise BundleError(
                f"recogniser.npz should hold a whole recogniser, but {cause} is lacking or wrong: train or export the "
                "bundle again."
            ) from cause
        fits = mean.ndim == numbers.ndim == 1 and centres.ndim == 2 and len(centres) == len(numbers) > 0
        if not fits or projection.shape != (len(mean), centres.shape[1]):
            raise BundleError(
                f"the recogniser's shapes {mean.shape}, {projection.shape}, {centres.shape} and {numbers.shape} "
                "do not fit together: train or export the bundle again."
            )
        if not (0 < limit < np.inf and 0 < temperature < np.inf and 0 <= reluctance < np.inf):
            raise BundleError(
                f"the recogniser's distance limit {limit} and temperature {temperature} should be above 0, its "
                f"reluctance {reluctance} not below: train or export the bundle again."
            )
        learned = Recogniser(mean, projection, centres, numbers, limit, temperature, reluctance, elapsed)
        return replace(learned, in_order=_in_order(arrays, learned))


def _in_order(arrays: dict[str, NDArray[Any]], learned: Recogniser) -> Recogniser | None:
    """The recogniser that labels go by, in a bundle's arrays; bundles of before have none."""
    own = {key.removeprefix(IN_ORDER): each for key, each in arrays.items() if key.startswith(IN_ORDER)}
    if not own:
        return None
    found = Recogniser.from_arrays(own)
    if found.mean.shape != learned.mean.shape or not np.array_equal(found.numbers, learned.numbers):
        raise BundleError(
            f"the recogniser for labels knows {found.numbers.tolist()} by {found.mean.shape[0]} features, the other "
            f"{learned.numbers.tolist()} by {learned.mean.shape[0]}: train or export the bundle again."
        )
    return found


def _elapsed(arrays: dict[str, NDArray[Any]], count: int) -> Elapsed | None:
    """The prior in a bundle's arrays; bundles of before have none."""
    if "elapsed" not in arrays:
        return None
    weights, bins = np.asarray(arrays["elapsed"], np.float64), np.asarray(arrays["elapsed_bin_s"], np.float64)
    fits = weights.ndim == 2 and weights.shape[1] == count and bins.shape == (1,)
    if not fits or not (np.isfinite(weights).all() and (weights > 0).all() and 0 < bins[0] < np.inf):
        raise BundleError(
            f"the recogniser's prior on elapsed time should hold numbers above 0 for {count} labels, got shapes "
            f"{weights.shape} and {bins.shape} or other numbers: train or export the bundle again."
        )
    return Elapsed(weights, float(bins[0]))


def learn_recogniser(
    recordings: Sequence[NDArray[Any]],
    labels: Sequence[Labels],
    settings: RecogniserSettings,
    reduction: Reduction | None = None,
    real: Sequence[int] | None = None,
) -> Recogniser:
    """The recogniser of recordings' features (T, P) with step numbers (T,); every number that occurs is a class.

    How far is too far and how sure is sure are set on each recording by a recogniser learned from the others. Where
    rows were made up, the first of each recording are `real`, so many, and only these are judged.
    """
    reduction = reduction or find_reduction(recordings, settings.components)
    reduced = [reduction.rows(features) for features in recordings]
    return learn_from_rows(reduction, reduced, labels, settings, real)


def learn_from_rows(
    reduction: Reduction,
    rows: Sequence[Floats],
    labels: Sequence[Labels],
    settings: RecogniserSettings,
    real: Sequence[int] | None = None,
) -> Recogniser:
    """The same from features that were reduced already, rows (T, d)."""
    numbers, centres, whitening = fit_discriminant(rows, labels, settings.shrinkage)
    calibrated = _calibrate(rows, labels, settings, real or [len(each) for each in labels])
    return Recogniser(reduction.mean, reduction.directions @ whitening, centres @ whitening, numbers, *calibrated)


def judge_left_out(
    reduction: Reduction,
    classes: Labels,
    recordings: Sequence[NDArray[Any]],
    labels: Sequence[Labels],
    shrinkage: float,
    stride: int = 1,
) -> list[Floats]:
    """Squared distances (T, C) of each recording as a recogniser learned from the others has them.

    Columns are the `classes`; one that no other recording holds is infinitely far. What is judged is seen without
    anything that its own labels taught. With a `stride` the others teach with every so many-th frame, for collections
    whose frames do not fit into memory together.
    """
    rows = [reduction.rows(each[::stride]) for each in recordings]
    own = rows if stride == 1 else (reduction.rows(each) for each in recordings)
    return judge_rows(classes, rows, [each[::stride] for each in labels], shrinkage, own)


def judge_rows(
    classes: Labels, rows: Sequence[Floats], labels: Sequence[Labels], shrinkage: float, own: Iterable[Floats]
) -> list[Floats]:
    """The same from reduced features: rows (T, d) that teach and, of each recording, its `own` that are judged."""
    judged = []
    for each, (numbers, centres, whitening) in zip(own, leave_each_out(rows, labels, shrinkage), strict=True):
        known = np.isin(numbers, classes)  # a recogniser taught on fewer frames may lack a short step
        distances = np.full((len(each), len(classes)), np.inf)
        distances[:, np.searchsorted(classes, numbers[known])] = squared_distances(
            each @ whitening, centres[known] @ whitening
        )
        judged.append(distances)
    return judged


class _Judged(NamedTuple):
    """What a recogniser of the others made of a recording."""

    distances: Floats  # (T, C)
    numbers: Labels  # (C,)
    truth: Labels  # (T,)

    @property
    def columns(self) -> NDArray[np.intp]:
        """The column (T,) of each frame's true class."""
        return np.searchsorted(self.numbers, self.truth)


def _calibrate(
    recordings: Sequence[Floats], labels: Sequence[Labels], settings: RecogniserSettings, real: Sequence[int]
) -> tuple[float, float, float]:
    """Distance limit, temperature and reluctance, from each recording judged by the others (a single one by itself)."""
    nearest, judged = [], []
    learned = leave_each_out(recordings, labels, settings.shrinkage)
    pairs = zip(_first(real, recordings, labels), learned, strict=True)
    for (rows, truth), (numbers, centres, whitening) in pairs:
        distances = squared_distances(rows @ whitening, centres @ whitening)
        known = np.isin(truth, numbers)
        nearest.append(distances.min(1))
        judged.append(_Judged(distances[known], numbers, truth[known]))
    limit = max(float(np.quantile(np.concatenate(nearest), settings.known_share)), _TINY)
    temperature = min(_TEMPERATURES, key=lambda t: _surprise(judged, t))
    return limit, temperature, max(_RELUCTANCES, key=lambda r: _fairness(judged, temperature, r))


def _first(
    counts: Sequence[int], recordings: Sequence[Floats], labels: Sequence[Labels]
) -> Iterator[tuple[Floats, Labels]]:
    """So many rows and labels of each recording."""
    for count, rows, own in zip(counts, recordings, labels, strict=True):
        yield rows[:count], own[:count]


def _surprise(judged: Sequence[_Judged], temperature: float) -> float:
    """How improbable the true labels are on the whole."""
    return -sum(
        float(np.take_along_axis(log_posterior(one.distances, temperature), one.columns[:, None], 1).sum())
        for one in judged
    )


def _fairness(judged: Sequence[_Judged], temperature: float, reluctance: float) -> float:
    """The share of frames that are named right, each step and background counting the same."""
    right: dict[int, tuple[int, int]] = {}  # frames named right, and all
    for distances, numbers, truth in judged:
        scores = log_posterior(distances, temperature, reluctance * (numbers == BACKGROUND))
        is_right = numbers[scores.argmax(1)] == truth
        for number in np.unique(truth):
            found, count = right.get(int(number), (0, 0))
            chosen = is_right[truth == number]
            right[int(number)] = (found + int(chosen.sum()), count + len(chosen))
    return float(np.mean([found / count for found, count in right.values()]))


def log_posterior(distances: Floats, temperature: float, handicap: Floats | float = 0.0) -> Floats:
    """The logarithm of each class's probability (T, C), from squared distances, classes put back by a `handicap`."""
    scores = -0.5 * distances / temperature - handicap
    scores = scores - scores.max(1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(1, keepdims=True)))
