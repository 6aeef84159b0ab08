"""The embedding: lengths add up, parts are the same as the whole, and features may lie on disk."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach import embedding as module
from guide.teach.embedding import LinearEmbedder, embed_recording, fit_embedder, fitted_stride

SETTINGS = AppearanceSettings.for_step(5.0)


def make_features(seed: int, counts: tuple[int, ...], width: int) -> list[NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(width, width)) * np.arange(1, width + 1) ** -0.5
    return [(rng.normal(size=(count, width)) @ mixing + 3.0).astype(np.float32) for count in counts]


def standardised(embedder: LinearEmbedder, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    return (rows.astype(np.float64) - embedder.mean) * embedder.scale


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(0, 9999), st.integers(1, 12), st.integers(1, 14))
def test_lengths_inside_and_outside_add_up(seed: int, width: int, components: int) -> None:
    """By Pythagoras; also for rows that nothing was fitted to, far away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMPONENTS", components)
        embedder = fit_embedder(make_features(seed, (20, 9), width))
    assert embedder.directions.shape == (width, min(components, width))
    strange = 50.0 * np.random.default_rng(seed + 1).normal(size=(7, width)).astype(np.float32)
    found = embedder.embed(strange).astype(np.float64)
    assert (found[:, -1] >= 0).all()
    lengths = np.square(standardised(embedder, strange)).sum(1)
    np.testing.assert_allclose(np.square(found).sum(1), lengths, rtol=1e-4)


def test_directions_are_orthonormal_and_those_that_vary_most() -> None:
    """Against the singular vectors of all standardised rows."""
    recordings = make_features(3, (60, 80), 10)
    rows = np.concatenate(recordings).astype(np.float64)
    rows = (rows - rows.mean(0)) / rows.std(0)
    vectors = np.linalg.svd(rows, full_matrices=False)[2][:4].T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMPONENTS", 4)
        embedder = fit_embedder(recordings)
    np.testing.assert_allclose(embedder.directions.T @ embedder.directions, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(embedder.directions @ embedder.directions.T, vectors @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("count", [40, 4000], ids=["few", "many"])
def test_a_feature_that_was_constant_up_to_rounding_may_change_later(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rounding is no measure of how it may change."""
    monkeypatch.setattr(module, "COMPONENTS", 4)
    rng, width = np.random.default_rng(0), 120
    rows = rng.normal(0.02, 0.005, (count, width)).astype(np.float32)
    rows[:, 0] = (0.02 + rng.normal(0, 1e-8, count)).astype(np.float32)
    embedder = fit_embedder([rows])
    live = rows[:1].copy()
    live[0, 0] += 0.005
    assert np.abs(embedder.embed(live) - embedder.embed(rows[:1])).max() < 1.0


def test_a_feature_that_never_changed_may_change_later() -> None:
    rows = make_features(0, (30,), 4)[0]
    rows[:, 2] = 7.0
    embedder = fit_embedder([rows])
    np.testing.assert_allclose(embedder.embed(rows)[:, -1], 0.0, atol=2e-3)
    other = rows.copy()
    other[:, 2] += 5.0
    found = np.square(embedder.embed(other).astype(np.float64)).sum(1)
    np.testing.assert_allclose(found - np.square(embedder.embed(rows)).sum(1), 25.0, rtol=1e-3)


@pytest.mark.parametrize("count", [1, 5])
def test_a_still_picture_is_embedded_too(count: int) -> None:
    rows = np.full((count, 4), 2.0, np.float32)
    embedder = fit_embedder([rows])
    np.testing.assert_array_equal(embedder.embed(rows), np.zeros((count, 2)))
    moved = rows + np.array([0.0, 3.0, 0.0, 4.0], np.float32)
    np.testing.assert_allclose(embedder.embed(moved), np.array([[0.0, 5.0]] * count))


def test_no_order_and_no_label_has_a_part_in_it() -> None:
    rows = make_features(1, (50,), 6)[0]
    mixed = rows[np.random.default_rng(0).permutation(50)]
    one, other = fit_embedder([rows]), fit_embedder([mixed[:20], mixed[20:]])
    np.testing.assert_allclose(one.directions @ one.directions.T, other.directions @ other.directions.T, atol=1e-9)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 23])
def test_in_parts_it_is_what_it_is_at_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(count)
    pooled, times = rng.normal(size=(count, 5)).astype(np.float16), np.cumsum(rng.uniform(0.1, 0.4, count))
    embedder = fit_embedder(make_features(2, (40,), 10))
    whole = embedder.embed(appearance(pooled.astype(np.float32), times, SETTINGS))
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 4)
    found = embed_recording(pooled, times, SETTINGS, embedder)
    assert found.shape == (count, 11)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, whole, atol=1e-5)


def test_nothing_is_embedded_as_nothing() -> None:
    embedder = fit_embedder(make_features(2, (40,), 10))
    assert embedder.embed(np.zeros((0, 10), np.float32)).shape == (0, 11)


def test_features_may_lie_on_disk(tmp_path: Path) -> None:
    """Embedding holds a part at a time."""
    rows = np.random.default_rng(4).normal(size=(16_000, 60)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    mapped, embedder = np.load(tmp_path / "rows.npy", mmap_mode="r"), fit_embedder([rows[::40]])
    tracemalloc.start()
    try:
        found = embedder.embed(mapped)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * found.nbytes + rows.nbytes / 2
    np.testing.assert_array_equal(found, embedder.embed(rows))


@pytest.mark.parametrize(("lengths", "stride"), [((20, 10), 1), ((20, 11), 2), ((1000, 1000), 67), ((1,), 1)])
def test_as_many_frames_teach_the_directions_as_there_is_room_for(
    lengths: tuple[int, ...], stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FITTED", 30)
    assert fitted_stride(lengths) == stride
