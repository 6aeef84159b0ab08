"""How closely two networks that should give the same do so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guide.perceive.embedder import Floats


@dataclass(frozen=True, slots=True)
class Parity:
    """How closely an exported network gives what torch gives.

    >>> Parity.of(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32)).cosine > 0.9999
    True
    """

    cosine: float
    largest_difference: float

    @staticmethod
    def of(expected: Floats, got: Floats) -> Parity:
        """The least cosine over rows and the largest difference of any number."""
        one, two = expected.reshape(len(expected), -1), got.reshape(len(got), -1)
        norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        cosines = (one * two).sum(1) / np.maximum(norms, 1e-12)
        return Parity(float(cosines.min()), float(np.abs(one - two).max()))
