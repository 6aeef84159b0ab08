"""The chain's dynamic programming against brute force and against a plain Viterbi."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import guide.label.chain as module
from guide.domain import Labels
from guide.label.chain import chain, chains


def cost(unary: NDArray[np.float64], change: NDArray[np.float64], labels: Labels) -> float:
    return float(unary[np.arange(len(labels)), labels].sum() + change[labels[1:] != labels[:-1]].sum())


def viterbi_cost(unary: NDArray[np.float64], change: NDArray[np.float64]) -> float:
    message = unary[0]
    for t in range(1, len(unary)):
        message = np.minimum(message, message.min() + change[t - 1]) + unary[t]
    return float(message.min())


@pytest.mark.parametrize("frames", [0, 256])
@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10_000))
def test_equals_brute_force_in_plain_numbers_and_in_blocks(frames: int, size: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unary, change = rng.random((size, k)), rng.random(size - 1)
    best = min(cost(unary, change, np.array(labels)) for labels in product(range(k), repeat=size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_FRAMES", frames)
        assert cost(unary, change, chain(unary, change)) == pytest.approx(best, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 600), st.sampled_from([1, 2, 5, 12, 40]), st.floats(0.0, 5.0), st.integers(0, 10_000))
def test_equals_plain_viterbi_at_any_length(size: int, k: int, strength: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unary, change = rng.normal(size=(size, k)), strength * rng.random(size - 1)
    labels = chain(unary, change)
    assert labels.shape == (size,)
    assert labels.dtype == np.int64
    assert cost(unary, change, labels) == pytest.approx(viterbi_cost(unary, change), abs=1e-9)


def test_worked_by_hand() -> None:
    unary = np.array([[0.0, 1.0], [0.6, 0.4], [0.0, 1.0], [1.0, 0.0]])
    assert chain(unary, np.full(3, 0.0)).tolist() == [0, 1, 0, 1]  # free changes follow the frames
    assert chain(unary, np.full(3, 0.5)).tolist() == [0, 0, 0, 1]  # a flicker worth 0.2 does not pay two changes
    assert chain(unary, np.full(3, 9.0)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("k", [3, 40])
def test_no_frames_no_labels(k: int) -> None:
    assert chain(np.zeros((0, k)), np.zeros(0)).tolist() == []


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 60), max_size=6), st.integers(1, 5), st.floats(0.0, 3.0), st.integers(0, 10_000))
def test_several_at_once_are_each_as_good_as_alone(sizes: list[int], k: int, strength: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unaries = [rng.normal(size=(size, k)) for size in sizes]
    changes = [strength * rng.random(max(0, size - 1)) for size in sizes]
    found = chains(unaries, changes)
    assert [len(labels) for labels in found] == sizes
    for unary, change, labels in zip(unaries, changes, found, strict=True):
        assert labels.dtype == np.int64
        assert len(unary) == 0 or cost(unary, change, labels) == pytest.approx(viterbi_cost(unary, change), abs=1e-9)


@pytest.mark.parametrize("sizes", [[400] * 9, [5, 6, 2000], [1, 1, 1]])
def test_recordings_alike_and_unlike_give_the_same(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    unaries, changes = [rng.random((n, 4)) for n in sizes], [rng.random(n - 1) for n in sizes]
    for unary, change, labels in zip(unaries, changes, chains(unaries, changes), strict=True):
        np.testing.assert_array_equal(labels, chain(unary, change))


def test_no_recordings() -> None:
    assert chains([], []) == []
