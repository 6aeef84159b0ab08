"""Appearance sees the present and its difference to the recent past, and nothing of when."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.perceive.appearance import AppearanceSettings, appearance

SETTINGS = AppearanceSettings(smoothing_s=0.5, memory_s=4.0)


def test_weights_fade_by_e_every_span() -> None:
    rows = appearance(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32), np.array([0.0, 0.5]), SETTINGS)
    present = np.array([np.exp(-1.0), 1]) / (np.exp(-1.0) + 1)
    past = np.array([np.exp(-0.125), 1]) / (np.exp(-0.125) + 1)
    assert np.allclose(rows[1], np.concatenate([present, present - past]))


def test_a_brighter_picture_gives_the_same_features() -> None:
    pooled, times = np.random.default_rng(0).random((10, 3)).astype(np.float32), np.arange(10) / 5
    assert np.allclose(appearance(pooled, times, SETTINGS), appearance(3 * pooled, times, SETTINGS), atol=1e-6)


def test_a_still_picture_does_not_differ_from_its_past() -> None:
    rows = appearance(np.full((20, 3), 2.5, np.float32), np.arange(20) / 5, SETTINGS)
    assert np.allclose(rows, [3**-0.5] * 3 + [0.0] * 3, atol=1e-6)


@given(st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_what_lies_far_back_does_not_matter(seed: int) -> None:
    """The same minute after two different beginnings gives the same features: order is not in them."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(300, 4)).astype(np.float32)
    beginnings = [rng.normal(size=(100, 4)).astype(np.float32) for _ in range(2)]
    times = np.arange(400) / 5
    one, two = (appearance(np.concatenate([start, shared]), times, SETTINGS)[-1] for start in beginnings)
    assert np.allclose(one, two, atol=1e-5)
