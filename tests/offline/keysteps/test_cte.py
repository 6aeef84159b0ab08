"""CTE: the fixed-order path against brute force, Gaussians by hand, the time learned, one result a seed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.collection import Collection
from offline.keysteps.cte import TemporalEmbedding, TemporalSettings, embed_time, log_likelihoods, ordered_path


def ways(frames: int, steps: int) -> list[tuple[int, ...]]:
    """All paths that never go back; where there are frames enough, those that visit every step in turn."""
    rising = [path for path in product(range(steps), repeat=frames) if list(path) == sorted(path)]
    return rising if frames < steps else [path for path in rising if set(path) == set(range(steps))]


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 4))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_the_path_is_the_best_of_all(seed: int, frames: int, steps: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(frames, steps))
    totals = {path: sum(scores[t, step] for t, step in enumerate(path)) for path in ways(frames, steps)}
    path = tuple(int(step) for step in ordered_path(scores))
    assert path in totals
    assert totals[path] == pytest.approx(max(totals.values()))


def test_gaussians_by_hand() -> None:
    """Cluster 0 holds -1 and 1 (mean 0, variance 1), cluster 1 holds 4 and 4 (variance 0 and the floor)."""
    rows = np.array([[-1.0], [1.0], [4.0], [4.0]])
    floor = 0.01 * float(rows.var())
    scores = log_likelihoods(rows, np.array([0, 0, 1, 1]), 2, least_variance=0.01)
    assert scores[2, 0] == pytest.approx(-0.5 * (16 / (1 + floor) + np.log(1 + floor)))
    assert scores[2, 1] == pytest.approx(-0.5 * np.log(floor))


def test_an_empty_cluster_has_the_gaussian_of_all_frames() -> None:
    rows = np.array([[0.0], [2.0]])
    scores = log_likelihoods(rows, np.zeros(2, np.int64), 2, least_variance=0.0)
    assert scores[:, 0] == pytest.approx(scores[:, 1])


def walks() -> Collection:
    rng = np.random.default_rng(0)
    prototypes = 3 * rng.normal(size=(3, 6))
    rows = [np.repeat(prototypes, each, axis=0) + rng.normal(size=(3 * each, 6)) for each in (30, 50)]
    return Collection.at_rate([each.astype(np.float32) for each in rows], 2.0)


def test_steps_in_one_order_are_found() -> None:
    found = TemporalEmbedding().find(walks(), k=3, seed=0)
    for labels in found.labels:
        truth = np.repeat([1, 2, 3], len(labels) // 3)
        assert (labels == truth).mean() > 0.9
        assert (np.diff(labels) >= 0).all()


def test_features_are_learned_from_where_there_are_any() -> None:
    seen = walks()
    blind = Collection(
        tuple(np.zeros_like(each) for each in seen.embeddings), seen.times, seen.rate, features=seen.embeddings
    )
    for one, other in zip(
        TemporalEmbedding().find(seen, 3, 0).labels, TemporalEmbedding().find(blind, 3, 0).labels, strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_one_seed_one_embedding_and_nobody_else_s_chance_is_moved() -> None:
    rows = [np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)]
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = embed_time(rows, 0, TemporalSettings(epochs=2))
    assert torch.rand(1) == expected
    np.testing.assert_array_equal(first[0], embed_time(rows, 0, TemporalSettings(epochs=2))[0])
    assert (first[0] != embed_time(rows, 1, TemporalSettings(epochs=2))[0]).any()


def test_features_that_never_change_do_no_harm() -> None:
    still = Collection.at_rate([np.ones((12, 3), np.float32)], 1.0)
    labels = TemporalEmbedding().find(still, k=3, seed=0).labels[0]
    assert labels.tolist() == sorted(labels.tolist())
