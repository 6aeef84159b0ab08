"""Demonstrations: embedded as the live side embeds what it sees."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach.demonstrations import Demonstration, Demonstrations, demonstrate
from guide.teach.embedding import fit_embedder

RNG = np.random.default_rng(0)
POOLED = [RNG.normal(size=(count, 4)).astype(np.float16) for count in (6, 9)]
TIMES = [np.arange(len(each)) / 2.0 for each in POOLED]
SETTINGS = AppearanceSettings()


@pytest.fixture(scope="module")
def both() -> Demonstrations:
    return demonstrate(["a", "b"], TIMES, POOLED, 2.0, SETTINGS)


def test_embeddings_are_those_of_the_live_side(both: Demonstrations) -> None:
    for one, pooled, times in zip(both.items, POOLED, TIMES, strict=True):
        seen = appearance(pooled.astype(np.float32), times, SETTINGS)
        np.testing.assert_array_equal(one.embedding, both.embedder.embed(seen))
        np.testing.assert_allclose(both.embed(pooled, times), one.embedding, atol=1e-6)


def test_long_recordings_are_embedded_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their order-free features do not fit into memory together; the embedder is that of every so many-th of them."""
    monkeypatch.setattr("guide.teach.embedding.MOST_FITTED", 1000)
    rows = [np.random.default_rng(seed).normal(size=(5000, 40)).astype(np.float16) for seed in range(4)]
    times = [np.arange(5000) / 5.0] * 4
    tracemalloc.start()
    try:
        found = demonstrate(list("abcd"), times, rows, 5.0, SETTINGS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    features = [appearance(each, at, SETTINGS) for each, at in zip(rows, times, strict=True)]
    assert peak < sum(each.nbytes for each in found.embeddings) + sum(each.nbytes for each in features) / 2
    np.testing.assert_array_equal(found.items[2].embedding, found.embedder.embed(features[2]))


def test_work_in_another_order_lies_within_what_the_embedder_takes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the usual order each step has but one past, so all that differs from it would lie outside the directions."""
    monkeypatch.setattr("guide.teach.embedding.COMPONENTS", 6)
    looks, settings = RNG.normal(size=(6, 12)), AppearanceSettings.for_step(10.0)
    order, times = np.repeat(np.arange(6), 20), np.arange(120) / 2.0
    rows = [looks[order] + RNG.normal(0, 0.05, (120, 12)) for _ in range(4)]
    other = appearance(rows[0][::-1], times, settings)
    shown = demonstrate(list("abcd"), [times] * 4, rows, 2.0, settings).embedder
    plain = fit_embedder([appearance(each, times, settings) for each in rows])
    assert shown.embed(other)[:, -1].mean() < 0.9 * plain.embed(other)[:, -1].mean()


def test_pooled_rows_stay_as_they_are(both: Demonstrations) -> None:
    assert [one.pooled is pooled for one, pooled in zip(both.items, POOLED, strict=True)] == [True, True]
    assert [one.id for one in both.items] == ["a", "b"]


def test_finders_get_the_same(both: Demonstrations) -> None:
    collection = both.collection()
    assert (collection.lengths, collection.rate) == ((6, 9), 2.0)
    assert all(one is other for one, other in zip(collection.embeddings, both.embeddings, strict=True))
    assert all(one is other for one, other in zip(collection.features, POOLED, strict=True))


def test_a_demonstration_ends_a_tick_after_its_last_frame(both: Demonstrations) -> None:
    assert both.ends == {"a": 3.0, "b": 4.5}


def test_rows_must_fit_the_times() -> None:
    with pytest.raises(ValueError, match="a has 6 times"):
        Demonstration("a", TIMES[0], POOLED[0][:5], np.zeros((6, 3), np.float32))
    with pytest.raises(ValueError, match="a has 0 times"):
        Demonstration("a", TIMES[0][:0], POOLED[0][:0], np.zeros((0, 3), np.float32))
