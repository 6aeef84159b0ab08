"""Unaries of steps under noise, for windows and cuts."""

from __future__ import annotations

import numpy as np

from guide.label.energy import Unaries


def steps_under_noise(size: int, k: int, seed: int, frames: int = 20, lift: float = 2.0) -> Unaries:
    """Costs (size, k) of visits of so many `frames` each; the true step's score is `lift` above the noise."""
    rng = np.random.default_rng(seed)
    steps = np.repeat(rng.integers(k, size=size // frames + 1), frames)[:size]
    score = rng.normal(size=(size, k)) + lift * np.eye(k)[steps]
    share: Unaries = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return 1.0 - share
