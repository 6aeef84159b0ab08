"""The directions of a collection without some of its recordings, without looking at all the others again.

How features vary together is a sum over recordings. So it is taken once of each part of a collection, and whichever
part is left out, the others' are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.label.directions import (
    OVERSAMPLED,
    POWER_ITERATIONS,
    Floats,
    Reduction,
    Singles,
    Standard,
    are_many,
    leading_span,
    parts,
    standard,
)

_TINY = 1e-9
_CLEAR = 1e-3  # least share of a feature's mean square that is spread: sums of less lose too many digits
MOST_BYTES = 2**28  # that the parts' sums may take in all


@dataclass(frozen=True, slots=True)
class _Sums:
    """Of the standardised features of some recordings."""

    count: int
    total: Floats  # (P,)
    squares: Floats  # (P,)
    products: Singles  # (P, P)


@dataclass(frozen=True, slots=True)
class Scatters:
    """How features vary together in each part of a collection.

    >>> rows = np.random.default_rng(0).normal(size=(40, 9)).astype(np.float32)
    >>> found = Scatters.of([[rows[:20]], [rows[20:30], rows[30:]]]).without(0, components=3)
    >>> bool(np.allclose(found.mean, rows[20:].mean(0))), found.directions.shape
    (True, (9, 9))
    """

    common: Standard
    each: tuple[_Sums, ...]

    @staticmethod
    def of(some: Sequence[Sequence[NDArray[Any]]]) -> Scatters:
        """The scatters of parts, each of some recordings' features (T, P)."""
        common = standard([each for part in some for each in part])
        return Scatters(common, tuple(_sums(part, common) for part in some))

    def without(self, part: int, components: int) -> Reduction | None:
        """What `wide_reduction` finds in all other parts, up to rounding.

        None where a feature hardly varies there beside how it varies on the whole: sums cannot tell how much.
        """
        others = [one for number, one in enumerate(self.each) if number != part]
        count = sum(one.count for one in others)
        mean = np.asarray(sum(one.total for one in others) / count)
        squares = np.asarray(sum(one.squares for one in others) / count)
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        does_vary = squares > _TINY  # here features that vary at all have a spread of about 1
        if (spread**2 < _CLEAR * squares)[does_vary].any():
            return None
        scale = np.where(does_vary, 1.0 / np.where(does_vary, spread, 1.0), 1.0)
        products = others[0].products - np.outer(mean.astype(np.float32), count * mean.astype(np.float32))
        for one in others[1:]:
            products += one.products
        narrow = scale.astype(np.float32)[:, None]
        span = leading_span(lambda columns: narrow * (products @ (narrow * columns)), len(mean), components)
        common = self.common
        return Reduction(common.mean + mean / common.scale, (common.scale * scale)[:, None] * span)


def does_pay(counts: Sequence[int], width: int, components: int) -> bool:
    """Whether sums of parts of so many rows find directions sooner than all others' rows, in memory that is there."""
    count, folds, columns = sum(counts), len(counts), components + OVERSAMPLED
    is_small = (folds + 1) * width**2 * 4 <= MOST_BYTES
    ours = width * (count + 2 * POWER_ITERATIONS * folds * columns)
    plain = 4 * POWER_ITERATIONS * (folds - 1) * count * columns
    return is_small and ours < plain and are_many(count - max(counts), width, components)


def _sums(recordings: Sequence[NDArray[Any]], common: Standard) -> _Sums:
    width = len(common.mean)
    count, total, squares, products = 0, np.zeros(width), np.zeros(width), np.zeros((width, width), np.float32)
    for rows in parts(recordings):
        rows -= common.mean
        rows *= common.scale
        count, total, squares = count + len(rows), total + rows.sum(0), squares + np.einsum("tp,tp->p", rows, rows)
        single = rows.astype(np.float32)
        products += single.T @ single
    return _Sums(count, total, squares, products)
