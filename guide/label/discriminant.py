"""Shrunken discriminants: where classes lie, and how their rows spread around that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from guide.domain import Labels

Floats: TypeAlias = NDArray[np.float64]

_TINY = 1e-9
_ROUNDING = 1e-12  # share of the rows' squares that is rounding


class Discriminant(NamedTuple):
    """Class numbers (C,), their means (C, d) and the whitening (d, d) of what is left around them."""

    numbers: Labels
    centres: Floats
    whitening: Floats


def whiten(residuals: Floats, shrinkage: float) -> Floats:
    """A matrix W with W W' the inverse of the shrunken within-class covariance of residuals (T, d)."""
    return whiten_scatter(residuals.T @ residuals, len(residuals), shrinkage)


def whiten_scatter(scatter: Floats, count: int, shrinkage: float) -> Floats:
    """The same from the products (d, d) of so many residuals."""
    covariance = scatter / max(count, 1)
    mean = max(float(np.trace(covariance)) / len(covariance), _TINY)
    shrunken = (1 - shrinkage) * covariance + (shrinkage * mean + _TINY * mean) * np.eye(len(covariance))
    lower = cholesky(shrunken, lower=True)
    return np.asarray(solve_triangular(lower, np.eye(len(lower)), lower=True).T)


@dataclass(frozen=True, slots=True)
class ClassSums:
    """What a discriminant needs to know of some rows; those of several recordings add up.

    >>> rows = np.array([[0.0], [2.0], [5.0]])
    >>> sums = ClassSums.of(rows, np.array([1, 1, 4]), np.array([1, 4]))
    >>> together = ClassSums.total([sums, sums]).discriminant(0.0)
    >>> together.centres.tolist(), together.whitening.round(6).tolist() == [[round(1 / (4 / 6) ** 0.5, 6)]]
    ([[1.0], [5.0]], True)
    """

    numbers: Labels  # (C,) of all classes there are
    counts: Floats  # (C,)
    sums: Floats  # (C, d)
    scatter: Floats  # (d, d), products of the rows

    @staticmethod
    def of(rows: Floats, labels: Labels, numbers: Labels, scatter: Floats | None = None) -> ClassSums:
        """The sums of rows (T, d) with labels (T,) among the numbers; their products where they are known already."""
        members = (labels[:, None] == numbers).astype(np.float64)
        return ClassSums(numbers, members.sum(0), members.T @ rows, rows.T @ rows if scatter is None else scatter)

    @staticmethod
    def total(some: Sequence[ClassSums]) -> ClassSums:
        """The sums of all their rows; one that comes several times counts so often."""
        counts, sums, scatter = (np.zeros_like(part) for part in (some[0].counts, some[0].sums, some[0].scatter))
        for one in some:
            counts += one.counts
            sums += one.sums
            scatter += one.scatter
        return ClassSums(some[0].numbers, counts, sums, scatter)

    def less(self, *others: ClassSums) -> ClassSums:
        """The sums without those of others, which are among them.

        >>> one, other = (ClassSums.of(np.array([[v]]), np.array([1]), np.array([1])) for v in (2.0, 5.0))
        >>> ClassSums.total([one, other]).less(other).sums.tolist()
        [[2.0]]
        """
        gone = ClassSums.total(others)
        counts = self.counts - gone.counts  # whole numbers
        sums = np.where(counts[:, None] > 0, self.sums - gone.sums, 0.0)
        return ClassSums(self.numbers, counts, sums, self.scatter - gone.scatter)

    def discriminant(self, shrinkage: float) -> Discriminant:
        """The discriminant of the rows; classes without any are left out."""
        is_there = self.counts > 0
        counts, sums = self.counts[is_there], self.sums[is_there]
        centres = sums / counts[:, None]
        within = self.scatter - sums.T @ centres
        if np.trace(within) < _ROUNDING * np.trace(self.scatter):  # rows lie on their centres
            within = np.zeros_like(within)
        return Discriminant(self.numbers[is_there], centres, whiten_scatter(within, int(counts.sum()), shrinkage))


def leave_each_out(rows: Sequence[Floats], labels: Sequence[Labels], shrinkage: float) -> Iterator[Discriminant]:
    """For each recording the discriminant of the others' rows (T, d) and labels (T,); a single one has its own."""
    numbers = np.unique(np.concatenate([np.unique(own) for own in labels])).astype(np.int64)
    every = [ClassSums.of(each, own, numbers) for each, own in zip(rows, labels, strict=True)]
    for number in range(len(every)):
        yield ClassSums.total([*every[:number], *every[number + 1 :]] or every).discriminant(shrinkage)
