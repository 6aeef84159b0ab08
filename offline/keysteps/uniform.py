"""The published "Uniform" row: the concatenation of all recordings cut into k equal slices.

It is weak because a slice then covers whole recordings rather than a step of each; `equal` is the honest one.
"""

from __future__ import annotations

from dataclasses import dataclass

from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, split
from offline.keysteps.equal import slices


@dataclass(frozen=True, slots=True)
class Uniform:
    """Slice n of all recordings end to end is key-step n.

    >>> import numpy as np
    >>> two = Collection.at_rate([np.zeros((2, 1), np.float32), np.zeros((4, 1), np.float32)], 1.0)
    >>> Uniform().find(two, k=3, seed=0).labels
    (array([1, 1]), array([2, 2, 3, 3]))
    """

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        return Found(split(slices(collection.size, k), collection.lengths))
