"""The stand-in trunk fits where the real one does, and memory is told over time."""

from __future__ import annotations

import numpy as np
import pytest

from guide.benchmarks.memory import held_mb, measure_memory, sample_memory, stand_in
from guide.errors import InputError
from guide.networks import start_networks
from tests.tiny import Learned


def test_the_stand_in_gives_what_the_trunk_gives(maps_task: Learned) -> None:
    real, quick = start_networks(maps_task.bundle, "cpu").trunk, stand_in(maps_task.bundle).trunk
    assert real is not None
    assert quick is not None
    inputs = np.random.default_rng(0).random((2, 3, 64, 64), np.float32)
    assert quick.forward(inputs).maps.shape == real.forward(inputs).maps.shape
    assert quick.pool(inputs).shape == real.pool(inputs).shape
    assert quick.pool(inputs).dtype == np.float32
    assert not (quick.pool(inputs)[0] == quick.pool(inputs)[0]).all()


def test_samples_over_time(frames_task: Learned) -> None:
    said: list[str] = []
    samples, undo_s = sample_memory(frames_task.bundle, 60 / 3600, None, said.append)
    assert 0 < undo_s < 0.3
    assert samples[-1].frames == round(60 * float(frames_task.bundle.facts["rate"]))
    assert [one.at for one in samples] == sorted(one.at for one in samples)
    assert len(said) == len(samples)
    assert 1 < held_mb() < 1e6


def test_the_part_names_growth(frames_task: Learned) -> None:
    part = measure_memory(frames_task.bundle, 10 / 3600)
    growth, undo = part.figures[-2:]
    assert (growth.name, growth.most) == ("growth since, at most", 20.0)
    assert undo.name.startswith("undo after")
    assert any("MB held" in note for note in part.notes)


def test_features_have_no_trunk(features_task: Learned) -> None:
    with pytest.raises(InputError, match="learned from features"):
        stand_in(features_task.bundle)
