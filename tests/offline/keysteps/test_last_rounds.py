"""Rounds over all frames: each is a round of fuzzy c-means, together they come nearer to its end than plain ones."""

from __future__ import annotations

import numpy as np
import pytest
import skfuzzy

from guide.label.membership import memberships
from guide.teach.collection import Collection
from offline.keysteps.fcm import FuzzySettings, fuzzy_clusters
from offline.keysteps.last_rounds import last_rounds, one_round
from offline.study.benchmarks.naive_procut import drawn_collection


def started(seed: int) -> tuple[Collection, np.ndarray]:
    """A collection and the centres of a sample of it."""
    collection = drawn_collection(3000, width=64, k=5, seed=seed)
    return collection, fuzzy_clusters(collection, 5, seed, FuzzySettings(most_frames=1000, last_rounds=0)).centres


@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_a_round_is_scikit_fuzzys(offset: float) -> None:
    collection, centres = started(0)
    moved = Collection.at_rate([each + np.float32(offset) for each in collection.embeddings], 2.0)
    data = np.concatenate(moved.embeddings).astype(np.float64)
    partition = memberships(data, centres + offset, 1.2).T
    expected = skfuzzy.cmeans(data.T, 5, 1.2, error=1e-12, maxiter=1, init=partition)[0]
    np.testing.assert_allclose(one_round(moved, centres + offset, 1.2), expected, atol=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounds_begun_ahead_come_nearer_to_the_end(seed: int) -> None:
    collection, centres = started(seed)
    plain, end = centres, centres
    for number in range(60):
        end = one_round(collection, end, 1.2)
        plain = end if number == 3 else plain
    ahead = last_rounds(collection, centres, 1.2, rounds=4)
    assert np.abs(ahead - end).max() < np.abs(centres - end).max() / 2
    assert np.abs(ahead - end).max() <= np.abs(plain - end).max() + 1e-5


def test_no_rounds_leave_the_centres() -> None:
    collection, centres = started(0)
    np.testing.assert_array_equal(last_rounds(collection, centres, 1.2, rounds=0), centres)


def test_a_centre_far_from_every_frame_stays_a_number() -> None:
    collection, centres = started(0)
    centres[0] = 1e6
    assert np.isfinite(last_rounds(collection, centres, 1.2, rounds=3)).all()
