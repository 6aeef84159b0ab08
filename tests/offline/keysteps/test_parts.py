"""Parts against every way of cutting, and against borders that were put there."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline.keysteps.parts import cut, part_means, partition


def within(rows: np.ndarray, borders: np.ndarray) -> float:
    """The squared distances of rows to the means of their parts."""
    return float(sum(((rows[a:b] - rows[a:b].mean(0)) ** 2).sum() for a, b in pairwise(borders)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 10), st.integers(1, 4))
def test_no_other_borders_lie_nearer(seed: int, frames: int, count: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(frames, 2))
    found = partition(rows, count)
    parts = max(1, min(count, frames // 2))
    every = [
        np.array([0, *inner, frames])
        for inner in combinations(range(1, frames), parts - 1)
        if (np.diff([0, *inner, frames]) >= 2).all()
    ]
    assert len(found) == parts + 1
    assert (np.diff(found) >= 2).all()
    assert within(rows, found) <= min(within(rows, borders) for borders in every) + 1e-9


def test_a_single_frame_is_a_part() -> None:
    assert partition(np.zeros((1, 3)), 4).tolist() == [0, 1]


def test_a_long_recording_is_cut_between_merged_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.repeat([[0.0], [3.0], [1.0]], [30, 21, 40], axis=0)
    assert partition(rows, 3).tolist() == [0, 30, 51, 91]
    monkeypatch.setattr("offline.keysteps.parts.MOST_BINS", 31)  # three frames each, the last of one
    assert partition(rows, 3).tolist() == [0, 30, 51, 91]
    monkeypatch.setattr("offline.keysteps.parts.MOST_BINS", 10)
    borders = partition(rows, 40)
    assert borders[0] == 0
    assert borders[-1] == 91
    assert (np.diff(borders) > 0).all()
    assert len(borders) - 1 <= 5


def test_recordings_are_cut_where_their_look_changes() -> None:
    rng = np.random.default_rng(0)
    lengths = [[20, 35, 25], [30, 22, 28]]
    looks = 6 * rng.normal(size=(3, 5))
    rows = [np.repeat(looks, own, axis=0) + rng.normal(size=(80, 5)) for own in lengths]
    found = cut(rows, length=80 / 3, step=80 / 3)
    assert [own.tolist() for own in found.borders] == [[0, *np.cumsum(own)] for own in lengths]
    # Spread within parts is of unit size, but for how far it is drawn towards a sphere.
    left = [
        each - np.repeat(part_means(each, own), np.diff(own), axis=0)
        for each, own in zip(rows, found.borders, strict=True)
    ]
    spread = np.concatenate(left) @ found.whitening
    assert np.abs((spread**2).mean(0) - 1).max() < 0.3
