"""Bundles that many tests share: learned once a run, never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny import FEATURE_RATE, RECIPE, Learned, learn, write_features, write_task


@pytest.fixture(scope="session")
def frames_task(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learned from four short videos of different rates."""
    work = tmp_path_factory.mktemp("frames")
    return learn(write_task(work / "videos"), work)


@pytest.fixture(scope="session")
def maps_task(frames_task: Learned) -> Learned:
    """The same with the paper's kind of head, on trunk maps."""
    videos = Path(frames_task.options.inputs[0])
    recipe = RECIPE.replace("head_width = 16", 'head_width = 4\nhead = "conv"')
    return learn(videos, videos.parent / "maps", recipe, cache=frames_task.options.cache)


@pytest.fixture(scope="session")
def features_task(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learned from three short tables of features."""
    work = tmp_path_factory.mktemp("features")
    return learn(write_features(work / "features"), work, rate=FEATURE_RATE)
