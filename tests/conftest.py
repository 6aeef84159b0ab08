"""Bundles that many tests share, learned once a run and never changed; and what no test may do to the others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from offline import backbones
from tests.deep import deep
from tests.postgres import Cluster
from tests.tiny import FEATURE_RATE, RECIPE, Learned, learn, write_features, write_task


@pytest.fixture(autouse=hasattr(os, "sched_getscheduler"))
def usual_scheduling() -> Iterator[None]:
    """A library that makes this thread a real-time one would let later tests starve the whole machine."""
    before = os.sched_getscheduler(0)
    yield
    after = os.sched_getscheduler(0)
    os.sched_setscheduler(0, before, os.sched_param(0))
    assert after == before, "this test changed how the thread is scheduled"


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
def looks_task(frames_task: Learned) -> Learned:
    """The same with a second look."""
    videos = Path(frames_task.options.inputs[0])
    return learn(
        videos, videos.parent / "looks", RECIPE.replace("looks = 1", "looks = 2"), cache=frames_task.options.cache
    )


@pytest.fixture(scope="session")
def mixed_task(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """The same videos learned with a trunk that is also kept in mixed precision."""
    trunk, work = deep(), tmp_path_factory.mktemp("mixed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(backbones._REGISTRY, "random-tiny", lambda weights, layout: trunk)
        return learn(Path(frames_task.options.inputs[0]), work)


@pytest.fixture(scope="session")
def features_task(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learned from three short tables of features."""
    work = tmp_path_factory.mktemp("features")
    return learn(write_features(work / "features"), work, rate=FEATURE_RATE)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A database server of the tests' own."""
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(params=["sqlite", "postgres"])
def records(request: pytest.FixtureRequest) -> str | None:
    """Where records are kept: none is SQLite in the folder, else the address of an empty database."""
    if request.param == "sqlite":
        return None
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.database()
