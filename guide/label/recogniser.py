"""A linear recogniser of key-steps: shrunken discriminant analysis on order-free features, relearned in seconds.

Everything is numpy, so that the live side can learn anew after a review without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from guide.domain import Labels
from guide.errors import BundleError
from guide.label.membership import squared_distances

Floats = NDArray[np.float64]

_TINY = 1e-9
POWER_ITERATIONS = 4
OVERSAMPLED = 20  # columns beyond those wanted, which make the wanted ones exact to many digits
_TEMPERATURES = tuple(2.0 ** (n / 2) for n in range(15))  # 1 to 128


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
    projection: Floats  # (P, d), to a space in which every step spreads like a unit sphere
    centres: Floats  # (C, d)
    numbers: Labels  # (C,) step numbers, 0 for background
    distance_limit: float
    """Squared distance beyond which a frame is unknown activity."""
    temperature: float
    """Divides the log-likelihoods: frames of strangers are less certain than the demonstrations' own."""

    def distances(self, features: NDArray[Any]) -> Floats:
        """Squared distances (T, C) to each centre, in units of a step's own spread."""
        return squared_distances((np.asarray(features, np.float64) - self.mean) @ self.projection, self.centres)

    def log_posterior(self, features: NDArray[Any]) -> Floats:
        """The calibrated logarithm of each step's probability, (T, C)."""
        return log_posterior(self.distances(features), self.temperature)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle."""
        scalars = np.array([self.distance_limit, self.temperature])
        return {
            "mean": self.mean,
            "projection": self.projection,
            "centres": self.centres,
            "numbers": self.numbers,
            "scalars": scalars,
        }

    @staticmethod
    def from_arrays(arrays: dict[str, NDArray[Any]]) -> Recogniser:
        """The recogniser in a bundle's arrays; raises BundleError if they do not fit together."""
        try:
            mean, projection, centres = (
                np.asarray(arrays[key], np.float64) for key in ("mean", "projection", "centres")
            )
            numbers = np.asarray(arrays["numbers"], np.int64)
            limit, temperature = (float(value) for value in arrays["scalars"])
        except (KeyError, ValueError, TypeError) as cause:
            raise BundleError(f"the recogniser lacks or spoils {cause}: train or export the bundle again.") from cause
        fits = mean.ndim == numbers.ndim == 1 and centres.ndim == 2 and len(centres) == len(numbers) > 0
        if not fits or projection.shape != (len(mean), centres.shape[1]):
            raise BundleError(
                f"the recogniser's shapes {mean.shape}, {projection.shape}, {centres.shape} and {numbers.shape} "
                "do not fit together: train or export the bundle again."
            )
        if not (0 < limit < np.inf and 0 < temperature < np.inf):
            raise BundleError(
                f"the recogniser's distance limit {limit} and temperature {temperature} should be above 0: "
                "train or export the bundle again."
            )
        return Recogniser(mean, projection, centres, numbers, limit, temperature)


def learn_recogniser(
    recordings: Sequence[NDArray[Any]], labels: Sequence[Labels], settings: RecogniserSettings
) -> Recogniser:
    """The recogniser of recordings' features (T, P) with step numbers (T,); every number that occurs is a class.

    How far is too far and how sure is sure are set on each recording by a recogniser learned from the others.
    """
    rows = np.concatenate([np.asarray(features, np.float64) for features in recordings])
    mean, spread = rows.mean(0), rows.std(0)
    scale = 1.0 / np.where(spread > _TINY, spread, 1.0)
    components = principal_directions((rows - mean) * scale, settings.components)
    reduced = [((np.asarray(features) - mean) * scale) @ components for features in recordings]
    numbers, centres, whitening = fit_discriminant(reduced, labels, settings.shrinkage)
    limit, temperature = _calibrate(reduced, labels, settings)
    return Recogniser(mean, scale[:, None] * (components @ whitening), centres @ whitening, numbers, limit, temperature)


def judge_left_out(
    recogniser: Recogniser, recordings: Sequence[NDArray[Any]], labels: Sequence[Labels], shrinkage: float
) -> list[Floats]:
    """Squared distances (T, C) of each recording as a recogniser learned from the others has them.

    Columns are the recogniser's classes; one that no other recording holds is infinitely far.
    """
    rows = [(np.asarray(each, np.float64) - recogniser.mean) @ recogniser.projection for each in recordings]
    judged = []
    for number, each in enumerate(rows):
        others = [other for other in range(len(rows)) if other != number] or [number]
        numbers, centres, whitening = fit_discriminant(
            [rows[other] for other in others], [labels[other] for other in others], shrinkage
        )
        known = np.isin(numbers, recogniser.numbers)  # a recogniser taught on fewer frames may lack a short step
        distances = np.full((len(each), len(recogniser.numbers)), np.inf)
        distances[:, np.searchsorted(recogniser.numbers, numbers[known])] = squared_distances(
            each @ whitening, centres[known] @ whitening
        )
        judged.append(distances)
    return judged


def fit_discriminant(
    recordings: Sequence[Floats], labels: Sequence[Labels], shrinkage: float
) -> tuple[Labels, Floats, Floats]:
    """Class numbers (C,), their means (C, d) and the whitening (d, d) of what is left around them."""
    rows = np.concatenate(list(recordings))
    numbers, classes = np.unique(np.concatenate(list(labels)), return_inverse=True)
    centres = np.stack([rows[classes == number].mean(0) for number in range(len(numbers))])
    return numbers.astype(np.int64), centres, _whitening(rows - centres[classes], shrinkage)


def _calibrate(
    recordings: Sequence[Floats], labels: Sequence[Labels], settings: RecogniserSettings
) -> tuple[float, float]:
    """Distance limit and temperature, from every recording judged by the others (by itself where it is alone)."""
    nearest, correct = [], []
    for number, (rows, truth) in enumerate(zip(recordings, labels, strict=True)):
        others = [i for i in range(len(recordings)) if i != number] or [number]
        numbers, centres, whitening = fit_discriminant(
            [recordings[i] for i in others], [labels[i] for i in others], settings.shrinkage
        )
        distances = squared_distances(rows @ whitening, centres @ whitening)
        known = np.isin(truth, numbers)
        nearest.append(distances.min(1))
        correct.append((distances[known], np.searchsorted(numbers, truth[known])))
    limit = max(float(np.quantile(np.concatenate(nearest), settings.known_share)), _TINY)
    return limit, min(_TEMPERATURES, key=lambda t: _surprise(correct, t))


def _surprise(judged: Sequence[tuple[Floats, NDArray[np.intp]]], temperature: float) -> float:
    """How improbable the true labels are on the whole."""
    return -sum(
        float(np.take_along_axis(log_posterior(distances, temperature), truth[:, None], 1).sum())
        for distances, truth in judged
    )


def log_posterior(distances: Floats, temperature: float) -> Floats:
    """The logarithm of each class's probability (T, C), from squared distances."""
    scores = -0.5 * distances / temperature
    scores = scores - scores.max(1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(1, keepdims=True)))


def principal_directions(rows: Floats, most: int) -> Floats:
    """The leading principal directions, (P, d), of rows (T, P): at most `most`, none without spread."""
    if min(rows.shape) > 4 * (most + OVERSAMPLED):
        rows = rows @ (span := _leading_span(rows, most + OVERSAMPLED))
        return np.asarray(span @ principal_directions(rows, most))
    is_wide = len(rows) < rows.shape[1]
    gram = rows @ rows.T if is_wide else rows.T @ rows
    values, vectors = eigh(gram, subset_by_index=(max(len(gram) - most, 0), len(gram) - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > _TINY * max(float(values[0]), _TINY)
    values, vectors = values[kept], vectors[:, kept]
    return np.asarray(rows.T @ vectors / np.sqrt(values) if is_wide else vectors)


def _leading_span(rows: Floats, size: int) -> Floats:
    """Orthonormal columns (P, size) that hold nearly all of the leading directions, by a few power iterations."""
    span = np.random.default_rng(0).normal(size=(rows.shape[1], size))
    for _ in range(POWER_ITERATIONS):
        span = np.linalg.qr(rows.T @ (rows @ span))[0]
    return np.asarray(span)


def _whitening(residuals: Floats, shrinkage: float) -> Floats:
    """A matrix W with W W' the inverse of the shrunken within-class covariance."""
    covariance = residuals.T @ residuals / max(len(residuals), 1)
    mean = max(float(np.trace(covariance)) / len(covariance), _TINY)
    shrunken = (1 - shrinkage) * covariance + (shrinkage * mean + _TINY * mean) * np.eye(len(covariance))
    lower = cholesky(shrunken, lower=True)
    return np.asarray(solve_triangular(lower, np.eye(len(lower)), lower=True).T)
