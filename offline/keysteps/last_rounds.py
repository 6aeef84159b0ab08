"""The last rounds of fuzzy c-means, over all frames of a collection whose centres were learned on a sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from guide.teach.collection import Collection

Array = NDArray[np.float64]
Rows = NDArray[np.float32]

CHUNK_ROWS = 4096
FARTHEST_AHEAD = 4.0  # in steps of the last round; where rounds gain little, two of them say less of the rest
_TINY = float(np.finfo(np.float32).tiny)


def last_rounds(collection: Collection, centres: Array, fuzzifier: float, rounds: int) -> Array:
    """Centres (K, D) after so many rounds, each begun ahead of where the last one ended.

    Rounds near their end by a steady share each, so the last two foretell the next ones: Anderson's acceleration with
    a memory of one. Four rounds do what six plain ones would.
    """
    begun = ended = centres
    last: tuple[Array, Array] | None = None
    for _ in range(rounds):
        ended = one_round(collection, begun, fuzzifier)
        step = ended - begun
        begun = ended if last is None else _ahead(step, ended, *last)
        last = step, ended
    return ended


def _ahead(step: Array, ended: Array, last_step: Array, last_ended: Array) -> Array:
    bend = last_step - step
    share = float((bend * step).sum()) / max(float((bend * bend).sum()), _TINY)
    return ended + min(max(share, 0.0), FARTHEST_AHEAD) * (ended - last_ended)


def one_round(collection: Collection, centres: Array, fuzzifier: float) -> Array:
    """The centres (K, D) of the memberships that centres (K, D) give all frames.

    Distances by |x|² - 2xc + |c|² in float32, about the centres' mean: several times faster than exact ones, and what
    they lose in a frame is lost in the mean of thousands.
    """
    middle = centres.mean(axis=0)
    near = (centres - middle).astype(np.float32)
    total, weight = np.zeros_like(centres), np.zeros(len(centres))
    for rows in _chunks(collection, middle.astype(np.float32)):
        shares = _powered_memberships(rows, near, fuzzifier)
        total += shares @ rows
        weight += shares.sum(axis=1)
    found: Array = total / np.maximum(weight, _TINY)[:, None] + middle
    return np.where(weight[:, None] > _TINY, found, centres)  # a centre without frames stays


def _chunks(collection: Collection, middle: Rows) -> Iterator[Rows]:
    for embedding in collection.embeddings:
        for begin in range(0, len(embedding), CHUNK_ROWS):
            yield embedding[begin : begin + CHUNK_ROWS] - middle


def _powered_memberships(rows: Rows, centres: Rows, fuzzifier: float) -> Rows:
    """The memberships that `guide.label.membership` gives, to the power m: (K, T) float32, frames last.

    Sums over a few key-steps are several times faster that way round.
    """
    squares = -2 * centres @ rows.T
    squares += np.einsum("td,td->t", rows, rows)
    squares += (centres * centres).sum(axis=1)[:, None]
    logarithms = np.log(np.maximum(squares, _TINY, out=squares), out=squares)
    exponents = logarithms.min(axis=0) - logarithms
    exponents *= np.float32(1.0 / (fuzzifier - 1.0))
    sums = np.exp(exponents).sum(axis=0)
    exponents -= np.log(sums)
    exponents *= np.float32(fuzzifier)
    found: Rows = np.exp(exponents, out=exponents)
    return found
