"""The directions in which features vary most, whatever is done: no label has a part in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]

_TINY = 1e-9
_STILL = 1e-3  # of the usual spread of a feature: what moves less is rounding (trunks' features have .007 and more)
POWER_ITERATIONS = 4
ROWS_AT_ONCE = 2048  # of a recording that are held in full width and precision
OVERSAMPLED = 20  # columns beyond those wanted, which make the wanted ones exact to many digits
_INDEPENDENT = 1e-4  # least share of a column that is new beside the others, where their products say enough of them


class Reduction(NamedTuple):
    """Directions to look along.

    >>> mean, directions, _ = find_reduction([np.array([[0.0, 5.0], [2.0, 5.0]])], components=1)
    >>> np.abs((np.array([[1.0, 5.0], [2.0, 7.0]]) - mean) @ directions).tolist()
    [[0.0], [1.0]]
    """

    mean: Floats  # (P,)
    directions: Floats  # (P, d), of features less their mean
    scale: Floats  # (P,), one over the spread of each feature; the directions are orthonormal beside it


def find_reduction(recordings: Sequence[NDArray[Any]], components: int) -> Reduction:
    """The principal directions of standardised features (T, P)."""
    count, width = sum(map(len, recordings)), recordings[0].shape[1]
    if not are_many(count, width, components):
        rows = np.concatenate(list(recordings), dtype=np.float64)
        mean = rows.mean(0)
        rows -= mean  # in place, and squared nowhere as a whole: of a long collection they take half a gigabyte
        scale = _scale(np.sqrt(np.einsum("tp,tp->p", rows, rows) / len(rows)))
        rows *= scale
        return Reduction(mean, scale[:, None] * principal_directions(rows, components), scale)
    mean, scale = standard(recordings)
    rows32 = np.empty((count, width), np.float32)
    end = 0
    for part in parts(recordings):
        rows32[end : (end := end + len(part))] = (part - mean) * scale
    span = scale[:, None] * leading_span(lambda columns: rows32.T @ (rows32 @ columns), width, components)
    rows = np.concatenate([(part - mean) @ span for part in parts(recordings)])
    return Reduction(mean, span @ principal_directions(rows, components), scale)


def are_many(count: int, width: int, most: int) -> bool:
    """Whether the leading directions of so many rows are found without looking at all directions."""
    return min(count, width) > 4 * (most + OVERSAMPLED)


def standard(recordings: Sequence[NDArray[Any]]) -> tuple[Floats, Floats]:
    """The mean of recordings' features (T, P) and one over their spread, a few rows at a time in full precision."""
    count = sum(map(len, recordings))
    mean = np.asarray(sum(part.sum(0) for part in parts(recordings)) / count)
    squares = np.zeros_like(mean)
    for part in parts(recordings):
        part -= mean
        squares += np.einsum("tp,tp->p", part, part)
    spread = np.sqrt(squares / count)
    return mean, _scale(spread)


def _scale(spread: Floats) -> Floats:
    """One over the spread (P,) of features, 1 where there is next to none."""
    usual = float(np.sqrt(np.mean(spread**2)))
    return np.asarray(1.0 / np.where(spread > max(_STILL * usual, _TINY), spread, 1.0))


def parts(recordings: Sequence[NDArray[Any]]) -> Iterator[Floats]:
    """Copies of a few rows at a time of recordings (T, P), in full precision."""
    for each in recordings:
        for start in range(0, len(each), ROWS_AT_ONCE):
            yield np.array(each[start : start + ROWS_AT_ONCE], np.float64)


def leading_span(product: Callable[[Singles], Singles], width: int, most: int) -> Floats:
    """Orthonormal columns (P, most and some) that hold nearly all of the leading directions, by a few power iterations.

    `product` multiplies columns (P, n) by the features' scatter (P, P). Single precision halves the time; the columns
    are no directions yet, so what it loses in one of them the others still hold.
    """
    span: Floats = np.random.default_rng(0).normal(size=(width, most + OVERSAMPLED))
    for _ in range(POWER_ITERATIONS):
        span = _orthonormal(product(span.astype(np.float32)))
    return span


def _orthonormal(columns: Singles) -> Floats:
    """Orthonormal columns (P, n) that span the same, by way of their products where that is safe."""
    exact = columns.astype(np.float64)
    exact /= np.maximum(np.linalg.norm(exact, axis=0), _TINY)
    try:
        lower = cholesky(exact.T @ exact, lower=True)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.qr(exact)[0])
    if np.diag(lower).min() < _INDEPENDENT:
        return np.asarray(np.linalg.qr(exact)[0])
    return np.asarray(solve_triangular(lower, exact.T, lower=True).T)


def principal_directions(rows: Floats, most: int) -> Floats:
    """The leading principal directions, (P, d), of rows (T, P): at most `most`, none without spread."""
    if are_many(len(rows), rows.shape[1], most):
        rows = rows @ (span := _exact_span(rows, most + OVERSAMPLED))
        return np.asarray(span @ principal_directions(rows, most))
    is_wide = len(rows) < rows.shape[1]
    gram = rows @ rows.T if is_wide else rows.T @ rows
    values, vectors = eigh(gram, subset_by_index=(max(len(gram) - most, 0), len(gram) - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > _TINY * max(float(values[0]), _TINY)
    values, vectors = values[kept], vectors[:, kept]
    return np.asarray(rows.T @ vectors / np.sqrt(values) if is_wide else vectors)


def unit_directions(rows: Floats, count: int) -> Floats:
    """Principal directions (P, d) of rows (T, P), scaled so that values along them have unit spread on the whole.

    >>> float(np.linalg.norm(unit_directions(np.array([[4.0, 0.0], [-4.0, 0.0]]), 1)))
    0.25
    """
    directions = principal_directions(rows, count)
    if not directions.size:  # nothing varies
        return np.zeros((rows.shape[1], 1))
    return np.asarray(directions / (rows @ directions).std())


def _exact_span(rows: Floats, size: int) -> Floats:
    """The same as `leading_span` in full precision: what networks are trained on stays as it is to the last digit."""
    span = np.random.default_rng(0).normal(size=(rows.shape[1], size))
    for _ in range(POWER_ITERATIONS):
        span = np.linalg.qr(rows.T @ (rows @ span))[0]
    return np.asarray(span)
