"""The pictures: the right pair, a path that never goes back, and a PNG whatever comes in."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import Image
from guide.record.timeline import colour
from guide.teach.moments import WIDTH_PX
from offline.pictures import (
    EmbeddedRecording,
    draw_pictures,
    draw_stills,
    monotone_path,
    nice_ticks,
    step_colour,
    still_moments,
    typical_pair,
)
from offline.videos import Recording
from tests.synth import COLOURS, write_task_video


def seen(frames: int, width: int = 6, rate: float = 5.0, seed: int = 0, name: str = "helmet") -> EmbeddedRecording:
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(frames, width)) + np.linspace(0, 4, frames)[:, None]).astype(np.float32)
    labels = np.arange(frames) * 4 // frames
    return EmbeddedRecording(name, rows, np.arange(frames) / rate, labels.astype(np.int64))


def read(png: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert image is not None
    return np.asarray(image, np.uint8)


def all_paths(rows: int, columns: int) -> list[list[tuple[int, int]]]:
    """Every way from the first to the last cell that never goes back."""
    if (rows, columns) == (1, 1):
        return [[(0, 0)]]
    before = [(rows - 1, columns - 1), (rows - 1, columns), (rows, columns - 1)]
    shorter = [path for r, c in before if r and c for path in all_paths(r, c)]
    return [[*path, (rows - 1, columns - 1)] for path in shorter]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_the_path_is_the_cheapest_of_all(rows: int, columns: int, seed: int) -> None:
    costs: NDArray[np.float64] = np.random.default_rng(seed).random((rows, columns))
    path = monotone_path(costs)
    least = min(sum(costs[cell] for cell in way) for way in all_paths(rows, columns))
    assert costs[path[:, 0], path[:, 1]].sum() == pytest.approx(least)
    assert (np.diff(path, axis=0) >= 0).all()


def test_the_pair_shown_is_neither_the_longest_nor_the_shortest() -> None:
    assert typical_pair([seen(count) for count in (200, 50, 60, 20, 61)]) == (2, 4)
    assert typical_pair([seen(10), seen(500)]) == (0, 1)


def test_ticks_are_round_and_few() -> None:
    assert nice_ticks(0.0, 9.5) == [0, 2, 4, 6, 8]
    assert nice_ticks(0.0, 3500.0) == [0, 500, 1000, 1500, 2000, 2500, 3000, 3500]
    assert all(2 <= len(nice_ticks(0.0, end)) <= 9 for end in (0.01, 1.0, 7.3, 60.0, 1e5))


def test_neighbouring_steps_have_other_colours() -> None:
    for one in range(1, 12):
        apart = np.abs(np.subtract(step_colour(one), step_colour(one + 1)))
        assert apart.max() > 50


def test_a_step_has_the_colour_of_its_badge() -> None:
    for step in range(1, 25):
        assert f"#{bytes(step_colour(step)).hex()}" == colour(step)


@pytest.mark.parametrize(("frames", "width"), list(product((2, 40, 2000), (1, 6))))
def test_pictures_of_any_size_come_out(frames: int, width: int) -> None:
    drawn = draw_pictures([seen(frames, width, seed=number) for number in range(3)])
    assert sorted(drawn) == ["alignment.png", "embedding.png"]
    for png in drawn.values():
        image = read(png)
        assert 700 < image.shape[0] < 1200
        assert 900 < image.shape[1] < 1200


def test_an_embedding_without_any_spread_and_odd_names_do_no_harm() -> None:
    flat = EmbeddedRecording("naïve " * 40, np.zeros((20, 3), np.float32), np.arange(20.0), np.zeros(20, np.int64))
    assert len(draw_pictures([flat, flat])) == 2


def test_stills_are_taken_inside_the_recording() -> None:
    moments = still_moments(seen(101, rate=10.0))
    assert moments == sorted(moments)
    assert 0 < moments[0] < moments[-1] < 10


def mean_colour(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert image is not None
    assert image.shape[1] == WIDTH_PX
    return np.asarray(image.reshape(-1, 3).mean(0), np.uint8)


def test_each_picture_shows_its_step(tmp_path: Path) -> None:
    orders = ((1, 2, 0, 3), (3, 0, 1, 2))
    segments = [write_task_video(tmp_path / f"{name}.mp4", steps) for name, steps in zip("ab", orders, strict=True)]
    recordings = [Recording(name, tmp_path / f"{name}.mp4", "video") for name in "ab"]
    stills = draw_stills(recordings, segments)
    assert sorted(stills) == ["01_1.jpg", "01_2.jpg", "02_1.jpg", "02_2.jpg", "03_1.jpg", "03_2.jpg"]
    for name, picture in stills.items():
        np.testing.assert_allclose(mean_colour(picture).astype(int), COLOURS[int(name[:2])], atol=12)


def test_steps_that_were_never_done_have_no_picture(tmp_path: Path) -> None:
    write_task_video(tmp_path / "a.mp4", (1,))
    assert draw_stills([Recording("a", tmp_path / "a.mp4", "video")], [[]]) == {}
