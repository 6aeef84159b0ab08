"""k-means: finds clusters that are there, the same ones for the same seed, and survives odd data."""

from __future__ import annotations

import numpy as np
import pytest

from guide.label.membership import squared_distances
from guide.teach.collection import Collection
from offline.keysteps.kmeans import HardClusters, KMeansSettings, kmeans, lloyd, nearest, sample, spread_start


def blobs(k: int, each: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = 10.0 * rng.normal(size=(k, width))
    return centres, np.repeat(centres, each, axis=0) + rng.normal(size=(k * each, width))


@pytest.mark.parametrize("seed", range(5))
def test_finds_separate_clusters(seed: int) -> None:
    centres, data = blobs(8, 40, 16, seed)
    found = kmeans(data, 8, seed)
    assert squared_distances(centres, found).min(axis=1).max() < 2.0


def test_nearest_equals_exact_distances_far_from_the_origin() -> None:
    rng = np.random.default_rng(0)
    data, centres = 1e4 + rng.normal(size=(300, 5)), 1e4 + rng.normal(size=(6, 5))
    labels, distance = nearest(data, centres)
    exact = squared_distances(data, centres)
    np.testing.assert_array_equal(labels, exact.argmin(axis=1))
    np.testing.assert_allclose(distance, exact.min(axis=1), atol=1e-9)


def test_rounds_never_loosen_the_clusters() -> None:
    data = np.random.default_rng(0).normal(size=(400, 6))
    start = spread_start(data, 5, np.random.default_rng(0))
    spread = [nearest(data, lloyd(data, start, rounds))[1].sum() for rounds in (0, 1, 2, 5, 20)]
    assert (np.diff(spread) <= 1e-9).all()


def test_seed_decides() -> None:
    data = np.random.default_rng(0).normal(size=(200, 4))
    np.testing.assert_array_equal(kmeans(data, 6, 3), kmeans(data, 6, 3))
    assert (kmeans(data, 6, 3, KMeansSettings(rounds=1)) != kmeans(data, 6, 4, KMeansSettings(rounds=1))).any()


def test_fewer_different_frames_than_clusters() -> None:
    data = np.repeat([[0.0], [1.0]], 5, axis=0)
    found = kmeans(data, 4, 0)
    assert found.shape == (4, 1)
    assert set(found[:, 0]) == {0.0, 1.0}


def test_an_empty_cluster_moves_to_the_farthest_frame() -> None:
    data = np.array([[0.0], [1.0], [9.0]])
    found = lloyd(data, np.array([[0.5], [100.0]]), rounds=5)
    assert sorted(found[:, 0]) == [0.5, 9.0]


def test_sample_keeps_order_and_rows() -> None:
    parts = [np.arange(6, dtype=np.float32)[:, None], np.arange(6, 30, dtype=np.float32)[:, None]]
    collection = Collection.at_rate(parts, 1.0)
    assert sample(collection, 30, 0)[:, 0].tolist() == list(range(30))
    drawn = sample(collection, 12, 0)[:, 0]
    assert len(set(drawn)) == 12
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, sample(collection, 12, 0)[:, 0])


def test_hard_clusters_number_steps_by_time() -> None:
    embedding = np.repeat([[9.0], [1.0], [5.0]], 10, axis=0).astype(np.float32)
    found = HardClusters().find(Collection.at_rate([embedding, embedding[:20]], 1.0), k=3, seed=0)
    assert found.labels[0].tolist() == [1] * 10 + [2] * 10 + [3] * 10
    assert found.labels[1].tolist() == [1] * 10 + [2] * 10
    assert found.centres is not None
    assert found.centres[:, 0].tolist() == [9.0, 1.0, 5.0]
