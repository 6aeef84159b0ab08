"""Finders that look at nothing, the floors of every table: random labels, and two ways to cut into equal slices.

The equal split of each recording is the bar that published methods fail to clear. The published "Uniform" row is weak
because a slice of all recordings end to end covers whole recordings rather than a step of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guide.domain import Labels
from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, split


@dataclass(frozen=True, slots=True)
class Random:
    """Independent uniform labels.

    >>> Random().find(Collection.at_rate([np.zeros((5, 1), np.float32)], 1.0), k=1, seed=0).labels[0]
    array([1, 1, 1, 1, 1])
    """

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        rng = np.random.default_rng(seed)
        return Found(tuple(rng.integers(1, k + 1, size=length) for length in collection.lengths))


@dataclass(frozen=True, slots=True)
class Uniform:
    """Slice n of all recordings end to end is key-step n.

    >>> two = Collection.at_rate([np.zeros((2, 1), np.float32), np.zeros((4, 1), np.float32)], 1.0)
    >>> Uniform().find(two, k=3, seed=0).labels
    (array([1, 1]), array([2, 2, 3, 3]))
    """

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        return Found(split(slices(collection.size, k), collection.lengths))


@dataclass(frozen=True, slots=True)
class Equal:
    """Slice n of each recording is key-step n.

    >>> Equal().find(Collection.at_rate([np.zeros((6, 1), np.float32)], 1.0), k=3, seed=0).labels[0]
    array([1, 1, 2, 2, 3, 3])
    """

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        return Found(tuple(slices(length, k) for length in collection.lengths))


def slices(length: int, k: int) -> Labels:
    """Labels (length,) 1..k in k runs as equal as whole frames allow."""
    return np.arange(length, dtype=np.int64) * k // length + 1
