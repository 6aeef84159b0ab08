"""Fuzzy c-means: seeded, right where clusters are clear, loud where it collapses."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from guide.errors import InputError
from guide.label.membership import memberships
from guide.teach.collection import Collection
from offline.keysteps.fcm import FuzzySettings, fuzzy_centres, fuzzy_clusters


def noisy_steps(k: int, each: int, width: int, noise: float, seed: int) -> tuple[np.ndarray, Collection]:
    rng = np.random.default_rng(seed)
    prototypes = rng.normal(size=(k, width))
    embedding = np.repeat(prototypes, each, axis=0) + noise * rng.normal(size=(k * each, width))
    return prototypes, Collection.at_rate([embedding.astype(np.float32)], 2.0)


def test_finds_the_prototypes() -> None:
    prototypes, collection = noisy_steps(5, 60, 32, noise=0.3, seed=0)
    found = fuzzy_clusters(collection, 5, seed=0)
    assert found.notes == ()
    assert np.abs(prototypes[:, None] - found.centres).max(axis=2).min(axis=1).max() < 0.2


def test_centres_are_a_fixed_point_of_the_method() -> None:
    _, collection = noisy_steps(4, 50, 8, noise=0.5, seed=1)
    data = collection.embeddings[0].astype(np.float64)
    centres = fuzzy_clusters(collection, 4, 0, FuzzySettings(tolerance=1e-9)).centres
    weight = memberships(data, centres, 1.2) ** 1.2
    np.testing.assert_allclose(weight.T @ data / weight.sum(axis=0)[:, None], centres, atol=1e-6)


def test_seed_decides_and_the_global_random_state_does_not() -> None:
    _, collection = noisy_steps(4, 50, 8, noise=1.0, seed=1)
    np.random.seed(1)
    first = fuzzy_clusters(collection, 4, seed=7).centres
    np.random.seed(2)
    np.testing.assert_array_equal(first, fuzzy_clusters(collection, 4, seed=7).centres)


def test_a_sample_of_a_large_collection_gives_nearly_the_same_centres() -> None:
    _, collection = noisy_steps(4, 1000, 16, noise=0.5, seed=2)
    whole, part = (fuzzy_clusters(collection, 4, 0, FuzzySettings(most_frames=n)).centres for n in (4000, 1000))
    assert np.abs(whole[:, None] - part).max(axis=2).min(axis=1).max() < 0.15


def test_collapse_with_m_2_in_128_dimensions_is_said_loudly(caplog: pytest.LogCaptureFixture) -> None:
    _, collection = noisy_steps(10, 60, 128, noise=1.5, seed=3)
    with caplog.at_level(logging.WARNING):
        found = fuzzy_clusters(collection, 10, 0, FuzzySettings(fuzzifier=2.0))
    assert len(found.notes) == 1
    assert "too much alike" in found.notes[0]
    assert "1/K = 0.100" in caplog.text
    assert fuzzy_clusters(collection, 10, 0, FuzzySettings(fuzzifier=1.1)).notes == ()


def test_one_key_step_is_the_mean_and_no_collapse() -> None:
    _, collection = noisy_steps(2, 10, 3, noise=1.0, seed=0)
    found = fuzzy_clusters(collection, 1, 0)
    assert found.notes == ()
    np.testing.assert_allclose(found.centres[0], collection.embeddings[0].mean(axis=0), atol=1e-6)


def test_identical_frames_do_not_break_it() -> None:
    still = Collection.at_rate([np.ones((20, 4), np.float32)], 2.0)
    found = fuzzy_clusters(still, 3, 0)
    assert np.isfinite(found.centres).all()
    assert "too much alike" in found.notes[0]


def test_more_key_steps_than_frames() -> None:
    with pytest.raises(InputError, match="choose another --k"):
        fuzzy_clusters(Collection.at_rate([np.ones((2, 4), np.float32)], 2.0), 3, 0)


def test_start_is_honoured() -> None:
    data = np.array([[0.0], [0.1], [5.0], [5.1]])
    centres = fuzzy_centres(data, np.array([[5.0], [0.0]]), FuzzySettings())
    np.testing.assert_allclose(centres[:, 0], [5.05, 0.05], atol=1e-6)
