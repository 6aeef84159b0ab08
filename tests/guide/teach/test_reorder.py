"""Other orders of one recording: every frame once, stretches whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.teach.reorder import elsewhere, shuffled, stretches, turned


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 99), st.sampled_from([turned, shuffled]))
def test_every_frame_comes_once_and_stretches_stay_whole(labels: list[int], seed: int, reorder: object) -> None:
    numbers = np.array(labels, np.int64)
    order = reorder(numbers, np.random.default_rng(seed))  # type: ignore[operator]
    assert sorted(order.tolist()) == list(range(len(labels)))
    whole = {tuple(part.tolist()) for part in stretches(numbers)}
    breaks = np.flatnonzero(np.diff(order) != 1) + 1
    for run in np.split(order, breaks):
        assert run[0] in {part[0] for part in whole}


def test_turning_starts_elsewhere() -> None:
    order = turned(np.repeat([1, 2, 3], 2), np.random.default_rng(0))
    assert order[0] in (2, 4)


@pytest.mark.parametrize("reorder", [turned, shuffled])
def test_a_recording_of_one_stretch_stays_as_it_is(reorder: object) -> None:
    assert reorder(np.ones(3, np.int64), np.random.default_rng(0)).tolist() == [0, 1, 2]  # type: ignore[operator]


def made(seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(40, 6)) + 3.0


def test_elsewhere_the_workplace_is_that_of_another_moment() -> None:
    """What is done, less the mean over the span, stays as it is; all frames move by the way to one other moment."""
    rows = made()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    padded = np.pad(unit, ((2, 2), (0, 0)), "edge")
    place = np.stack([padded[number : number + 5].mean(0) for number in range(40)])
    moved = elsewhere(rows, 5.0, np.random.default_rng(1))
    found = moved - unit + place
    np.testing.assert_allclose(found, np.tile(found[0], (40, 1)), atol=1e-5)
    assert np.isclose(found[0], place, atol=1e-5).all(1).any()


def test_brightness_means_nothing_and_a_single_frame_stays() -> None:
    def moved(rows: NDArray[np.float64]) -> NDArray[np.float32]:
        return elsewhere(rows, 5.0, np.random.default_rng(0))

    np.testing.assert_allclose(moved(made()), moved(7 * made()), atol=1e-5)
    one = made()[:1]
    np.testing.assert_allclose(moved(one), one / np.linalg.norm(one), atol=1e-6)
