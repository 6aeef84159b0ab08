"""Subset selection: dynamic programming against brute force, the greedy choice against every choice."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.collection import Collection
from offline.keysteps.ss import (
    Array,
    SubsetSelection,
    best_path,
    change_costs,
    choose,
    represent,
    worth,
)

SMALL = st.integers(0, 10_000)
GREEDY_BOUND = 1 - 1 / np.e


def made(seed: int, frames: int = 5, states: int = 3) -> tuple[Array, Array]:
    """Random gains (frames, states) and costs of changes with a free stay."""
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0, 1, (states, states))
    np.fill_diagonal(costs, 0.0)
    return rng.uniform(0, 1, (frames, states)), costs


def value_of(path: tuple[int, ...], gains: Array, costs: Array) -> float:
    held = sum(float(gains[t, state]) for t, state in enumerate(path))
    return held - sum(float(costs[a, b]) for a, b in pairwise(path))


@given(SMALL)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_the_best_path_is_the_best_of_all(seed: int) -> None:
    gains, costs = made(seed)
    best = max(value_of(path, gains, costs) for path in product(range(3), repeat=5))
    assert value_of(tuple(best_path(gains, costs)), gains, costs) == pytest.approx(best)


@given(SMALL)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_the_worth_of_a_set_is_its_best_path_over_all_recordings(seed: int) -> None:
    one, costs = made(seed, states=4)
    other, _ = made(seed + 1, frames=3, states=4)
    sets = np.array(list(combinations(range(4), 2)))
    expected = [
        sum(max(value_of(path, gains, costs) for path in product(chosen, repeat=len(gains))) for gains in (one, other))
        for chosen in sets.tolist()
    ]
    assert worth([one, other], costs, sets) == pytest.approx(expected)


@given(SMALL, st.integers(1, 4))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_without_transitions_the_greedy_choice_keeps_its_bound(seed: int, k: int) -> None:
    gains, _ = made(seed, frames=8, states=6)
    free = np.zeros((6, 6))
    reached = worth([gains], free, choose([gains], free, k)[None])[0]
    best = worth([gains], free, np.array(list(combinations(range(6), k)))).max()
    assert GREEDY_BOUND * best <= reached <= best + 1e-9


@given(SMALL)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_the_worth_never_falls_and_never_beats_the_best_choice(seed: int) -> None:
    gains, costs = made(seed, frames=8, states=6)
    chosen = choose([gains], costs, 4)
    growth = [worth([gains], costs, chosen[None, :n])[0] for n in range(1, 5)]
    assert all(later >= before - 1e-9 for before, later in pairwise(growth))
    for n, value in enumerate(growth, start=1):
        assert value <= worth([gains], costs, np.array(list(combinations(range(6), n)))).max() + 1e-9


def test_the_farthest_state_represents_nothing() -> None:
    frames = np.array([[0.0], [3.0]], np.float32)
    (gains,) = represent([frames], np.array([[0.0], [4.0]]))
    assert gains.tolist() == [[16.0, 0.0], [7.0, 15.0]]


def test_usual_changes_cost_less_than_unusual_ones_and_staying_nothing() -> None:
    costs = change_costs([np.array([0, 1, 1, 2, 3, 0, 1, 2])], 4)
    assert np.diag(costs).tolist() == [0, 0, 0, 0]
    assert costs[0, 1] < 1 < costs[0, 3]
    assert (costs >= 0).all()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_changes_never_seen_are_all_alike(count: int) -> None:
    costs = change_costs([np.zeros(4, np.int64)], count)
    assert np.unique(costs[~np.eye(count, dtype=bool)]).size <= 1


def test_steps_that_recordings_share_are_found_in_each() -> None:
    rng = np.random.default_rng(0)
    prototypes = 5 * rng.normal(size=(4, 8))
    steps = [np.repeat([0, 1, 2, 3], 30), np.repeat([0, 2, 1, 3], 20)]
    rows = [(prototypes[each] + rng.normal(size=(len(each), 8))).astype(np.float32) for each in steps]
    found = SubsetSelection().find(Collection.at_rate(rows, 1.0), k=4, seed=0)
    pairs = {(int(a), int(b)) for s, f in zip(steps, found.labels, strict=True) for a, b in zip(s, f, strict=True)}
    assert len(pairs) == 4


def test_a_long_collection_is_chosen_on_every_nth_frame() -> None:
    rows = np.repeat([[0.0], [3.0], [6.0]], 3000, axis=0).astype(np.float32)
    labels = SubsetSelection().find(Collection.at_rate([rows], 5.0), k=3, seed=0).labels[0]
    assert [int(labels[n]) for n in (0, 2999, 3000, 8999)] == [1, 1, 2, 3]


def test_frames_that_are_all_alike_have_one_step() -> None:
    found = SubsetSelection().find(Collection.at_rate([np.ones((9, 2), np.float32)], 1.0), k=2, seed=0)
    assert len(np.unique(found.labels[0])) == 1
    assert "only 1 of the 2" in found.notes[0]
