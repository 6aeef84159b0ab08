"""Seeded k-means: k-means++ start and Lloyd's rounds, in chunks, on a sample where there are very many frames.

As a finder it is hard clustering, the paper's "HC" ablation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.membership import squared_distances
from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, numbered

Array = NDArray[np.float64]

# Rows whose distances are held at once.
CHUNK_ROWS = 8192


@dataclass(frozen=True, slots=True)
class KMeansSettings:
    """How long and how often k-means tries.

    >>> KMeansSettings().restarts
    4
    """

    rounds: int = 50
    """Lloyd's rounds at most; they stop when no frame changes its centre."""
    restarts: int = 4
    """Starts from new k-means++ centres; the tightest result is kept."""
    most_frames: int = 20_000
    """Frames learned from; a seeded sample of larger collections fixes the centres (2,000 a cluster at K = 10)."""


@dataclass(frozen=True, slots=True)
class HardClusters:
    """k-means on the embeddings, each frame to its nearest centre, without any link between frames.

    >>> embedding = np.array([[0.0], [0.1], [5.0], [5.1]], np.float32)
    >>> HardClusters().find(Collection.at_rate([embedding], 1.0), k=2, seed=0).labels[0]
    array([1, 1, 2, 2])
    """

    settings: KMeansSettings = field(default_factory=KMeansSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        centres = kmeans(sample(collection, self.settings.most_frames, seed), k, seed, self.settings)
        return numbered([nearest(embedding, centres)[0] for embedding in collection.embeddings], centres)


def sample(collection: Collection, most: int, seed: int) -> Array:
    """All frames as (N, D) float64, or `most` of them, drawn without replacement and kept in order."""
    if collection.size <= most:
        return np.concatenate(collection.embeddings).astype(np.float64)
    chosen = np.sort(np.random.default_rng(seed).choice(collection.size, size=most, replace=False))
    ends = np.cumsum(collection.lengths)
    parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    rows = [e[part - (end - len(e))] for e, part, end in zip(collection.embeddings, parts, ends, strict=True)]
    return np.concatenate(rows).astype(np.float64)


def kmeans(data: Array, k: int, seed: int, settings: KMeansSettings | None = None) -> Array:
    """Centres (k, D) of data (N, D): the tightest of several seeded starts."""
    chosen = settings or KMeansSettings()
    rng = np.random.default_rng(seed)
    tries = [lloyd(data, spread_start(data, k, rng), chosen.rounds) for _ in range(chosen.restarts)]
    return min(tries, key=lambda centres: nearest(data, centres)[1].sum())


def spread_start(data: Array, k: int, rng: np.random.Generator) -> Array:
    """k-means++ centres (k, D): frames drawn in proportion to their squared distance to those chosen before.

    The best of a few draws is taken each time: it halves the starts in which two clusters share a centre.
    """
    centres: Array = data[rng.integers(len(data))][None]
    distance = squared_distances(data, centres)[:, 0]
    draws = 2 + int(np.log(k))
    while len(centres) < k:
        total = distance.sum()
        # All frames lie on centres already: any will do.
        odds = distance / total if total > 0 else None
        drawn = rng.choice(len(data), size=draws, p=odds)
        left = np.minimum(distance[:, None], squared_distances(data, data[drawn]))
        best = left.sum(axis=0).argmin()
        centres, distance = np.vstack([centres, data[drawn[best]]]), left[:, best]
    return centres


def lloyd(data: Array, centres: Array, rounds: int) -> Array:
    """Centres (k, D) moved to the means of their frames until no frame changes, an empty one to the farthest frame."""
    labels = np.full(len(data), -1)
    for _ in range(rounds):
        previous, (labels, distance) = labels, nearest(data, centres)
        if (labels == previous).all():
            break
        centres = _means(data, labels, distance, centres)
    return centres


def _means(data: Array, labels: Labels, distance: Array, centres: Array) -> Array:
    count = np.bincount(labels, minlength=len(centres))
    moved = centres.copy()
    for cluster in np.flatnonzero(count):
        moved[cluster] = data[labels == cluster].mean(axis=0)
    empty = np.flatnonzero(count == 0)
    moved[empty] = data[np.argsort(-distance, kind="stable")[: len(empty)]]
    return moved


def nearest(data: NDArray[np.floating], centres: Array) -> tuple[Labels, Array]:
    """The nearest centre (N,) of each frame (N, D) and the squared distance to it (N,).

    By |x|² - 2xc + |c|² about the centres' mean: only the order of distances matters here, and this is far faster.
    """
    labels, distance = np.empty(len(data), dtype=np.int64), np.empty(len(data))
    middle = centres.mean(axis=0)
    moved = centres - middle
    for begin in range(0, len(data), CHUNK_ROWS):
        rows = data[begin : begin + CHUNK_ROWS].astype(np.float64) - middle
        squares = (moved**2).sum(axis=1) - 2 * rows @ moved.T
        best = squares.argmin(axis=1)
        labels[begin : begin + CHUNK_ROWS] = best
        distance[begin : begin + CHUNK_ROWS] = squares[np.arange(len(rows)), best] + np.einsum("nd,nd->n", rows, rows)
    return labels, np.maximum(distance, 0.0)
