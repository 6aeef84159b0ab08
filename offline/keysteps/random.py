"""Every frame gets a key-step at random: the floor of every table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k


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
