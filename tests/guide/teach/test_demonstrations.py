"""Demonstrations: features at hand are taken, others made when asked for."""

from __future__ import annotations

import numpy as np
import pytest

from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach.demonstrations import Demonstration, Demonstrations

POOLED = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float16)
ONE = Demonstration("a", np.arange(6) / 2.0, POOLED, np.zeros((6, 3), np.float32))


def test_features_are_those_of_the_live_side() -> None:
    made = Demonstrations((ONE,), 2.0, AppearanceSettings()).features[0]
    np.testing.assert_array_equal(made, appearance(POOLED.astype(np.float32), ONE.times, AppearanceSettings()))


def test_features_at_hand_are_not_made_again() -> None:
    kept = np.ones((6, 8), np.float32)
    assert Demonstrations((ONE,), 2.0, AppearanceSettings(), (kept,)).features[0] is kept


def test_a_demonstration_ends_a_tick_after_its_last_frame() -> None:
    assert Demonstrations((ONE,), 2.0, AppearanceSettings()).ends == {"a": 3.0}


def test_rows_must_fit_the_times() -> None:
    with pytest.raises(ValueError, match="a has 6 times"):
        Demonstration("a", ONE.times, POOLED[:5], ONE.embedding)
