"""Perception: the live side sees what the offline side saw, whatever the rate; other input is refused in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import Frame
from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.manifest import perception_settings
from guide.networks import start_networks
from guide.perceive.appearance import AppearanceSettings, appearance
from guide.perceive.perceiver import Perceiver, Percept, PerceptionSettings
from guide.perceive.region import Region
from tests.tiny import FEATURE_WIDTH, Learned

RATES = ("5", "10", "29.97", "varying")


def perceiver(task: Learned) -> Perceiver:
    networks = start_networks(task.bundle, "cpu", threads=1)
    assert networks.head is not None
    return Perceiver(perception_settings(task.bundle), networks.head, networks.trunk)


def percepts(task: Learned, video: Path) -> list[Percept]:
    live = perceiver(task)
    return [live.see(frame) for frame in VideoFile(video) if live.is_due(frame.at)]


def least_cosine(one: NDArray[np.floating], two: NDArray[np.floating]) -> float:
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return float(((one * two).sum(1) / norms).min())


@pytest.mark.parametrize("number", range(4), ids=RATES)
def test_live_embeddings_are_the_offline_ones(frames_task: Learned, number: int) -> None:
    kept = frames_task.bundle.arrays("demonstrations.npz")
    seen = percepts(frames_task, Path(frames_task.options.inputs[0]) / f"{number + 1:02d}.mp4")
    np.testing.assert_allclose([percept.at for percept in seen], kept[f"times_{number}"], atol=1e-6)
    offline = kept[f"embeddings_{number}"].astype(np.float64)
    assert least_cosine(np.stack([percept.embedding for percept in seen]).astype(np.float64), offline) >= 0.999


@pytest.mark.parametrize("number", range(4), ids=RATES)
def test_live_embeddings_of_two_looks_are_the_offline_ones(looks_task: Learned, number: int) -> None:
    test_live_embeddings_are_the_offline_ones(looks_task, number)


def test_with_two_looks_it_says_where_it_looks(looks_task: Learned, frames_task: Learned) -> None:
    video = Path(looks_task.options.inputs[0]) / "01.mp4"
    moved = [one.region for one in percepts(looks_task, video) if one.region is not None]
    assert len(moved) == len(percepts(frames_task, video))
    assert moved[0] == Region(0.5, 0.5, 0.5)
    assert len({*moved}) > len(moved) / 2  # it follows what moves
    assert all(one.region is None for one in percepts(frames_task, video))


def test_looks_that_take_turns_run_the_trunk_once_a_frame(looks_task: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    networks = start_networks(looks_task.bundle, "cpu", threads=1)
    assert networks.trunk is not None
    settings, pool = perception_settings(looks_task.bundle), networks.trunk.pool
    counts: list[int] = []

    def counted(inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        counts.append(len(inputs))
        return pool(inputs)

    monkeypatch.setattr(networks.trunk, "pool", counted)
    both, turns = Noting(), Noting()
    frames = list(VideoFile(Path(looks_task.options.inputs[0]) / "01.mp4"))[:6]
    for head in (both, turns):
        live = Perceiver(replace(settings, appearance=AppearanceSettings(1e-6, 1e9)), head, networks.trunk)
        live.take_turns = head is turns
        for frame in frames:
            live.see(frame)
    assert counts == [1] * 12 + [1] * 2 + [1] * 5
    whole, part = slice(0, settings.width // 2), slice(settings.width // 2, settings.width)
    seen = [np.concatenate(head.seen)[:, : settings.width] for head in (both, turns)]
    each = [
        [rows[:, look] / np.linalg.norm(rows[:, look], axis=1, keepdims=True) for look in (whole, part)]
        for rows in seen
    ]
    for look, fresh in ((0, [0, 2, 4]), (1, [1, 3, 5])):
        np.testing.assert_allclose(each[1][look][fresh], each[0][look][fresh], atol=1e-5)
        for stale in {1, 2, 3, 4, 5} - {*fresh}:
            np.testing.assert_allclose(each[1][look][stale], each[1][look][stale - 1], atol=1e-5)


def test_the_working_rate_decides_what_is_seen(frames_task: Learned) -> None:
    live = perceiver(frames_task)
    due = [at for at in np.arange(0, 2, 0.01).round(3) if live.is_due(float(at))]
    np.testing.assert_allclose(due, np.arange(0, 2, 1 / live.rate), atol=0.01)


def test_a_picture_of_one_pixel_is_seen(frames_task: Learned) -> None:
    percept = perceiver(frames_task).see(Frame(0, 0.0, np.zeros((1, 1, 3), np.uint8)))
    assert np.isfinite(percept.embedding).all()


def test_rows_of_features_become_percepts(features_task: Learned) -> None:
    percept = perceiver(features_task).take(np.ones(FEATURE_WIDTH, np.float32), 0.5)
    assert percept.at == 0.5
    assert percept.embedding.shape == features_task.bundle.arrays("prototypes.npz")["centres"].shape[1:]
    assert np.isfinite(percept.embedding).all()


def test_features_of_another_width_are_refused(features_task: Learned) -> None:
    with pytest.raises(InputError, match=f"learned from {FEATURE_WIDTH} features a row, 3 came"):
        perceiver(features_task).take(np.ones(3, np.float32), 0.0)


def test_pictures_are_refused_where_features_were_learned(features_task: Learned) -> None:
    with pytest.raises(InputError, match=r"not from pictures: give it a \.npy file"):
        perceiver(features_task).see(Frame(0, 0.0, np.zeros((4, 4, 3), np.uint8)))


class Noting:
    """A head that notes what it is shown, and gives the first of it."""

    def __init__(self) -> None:
        self.seen: list[NDArray[np.float32]] = []

    def embed(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        self.seen.append(features)
        return features[:, :2] + 1


def test_the_head_sees_the_order_free_features_and_recognition_what_it_makes_of_them() -> None:
    head, settings = Noting(), AppearanceSettings()
    live = Perceiver(PerceptionSettings(5.0, width=5, appearance=settings), head)
    rows = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    percepts = [live.take(row, number / 5) for number, row in enumerate(rows)]
    expected = appearance(rows, np.arange(4) / 5, settings)
    np.testing.assert_allclose(np.concatenate(head.seen), expected, rtol=1e-6)
    np.testing.assert_allclose([one.embedding for one in percepts], expected[:, :2] + 1, rtol=1e-6)
    assert [one.at for one in percepts] == [0.0, 0.2, 0.4, 0.6]
