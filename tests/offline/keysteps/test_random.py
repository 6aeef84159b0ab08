"""The random floor."""

from __future__ import annotations

import numpy as np

from guide.teach.collection import Collection
from offline.keysteps.random import Random


def blank(*lengths: int) -> Collection:
    return Collection.at_rate([np.zeros((length, 1), np.float32) for length in lengths], 1.0)


def test_random_is_seeded_and_uniform() -> None:
    first, again, other = (Random().find(blank(6000), 4, seed).labels[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    np.testing.assert_allclose(np.bincount(first)[1:] / 6000, 0.25, atol=0.03)
