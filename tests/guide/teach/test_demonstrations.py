"""Demonstrations: embedded as the live side embeds what it sees."""

from __future__ import annotations

import numpy as np
import pytest

from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach.demonstrations import Demonstration, Demonstrations, demonstrate

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
