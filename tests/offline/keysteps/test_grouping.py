"""Likeness to steps against literal sums over frames, and which groups are put together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.keysteps.grouping import HELD, LENGTH, LONGEST, Evidence, Parts, put_together
from offline.keysteps.matching import Grain
from offline.keysteps.parts import Cutting

STEP = 3.0


def drawn(seed: int, columns: int = 4) -> tuple[list[Labels], np.ndarray, Grain, list[np.ndarray]]:
    """Groups of frames in three recordings, matches of their grains, and probabilities of groups; all by lot."""
    rng = np.random.default_rng(seed)
    lengths = (9, 7, 8)
    borders = tuple(np.r_[0, np.sort(rng.choice(np.arange(1, size), 3, replace=False)), size] for size in lengths)
    grain = Grain.of([Cutting(borders, np.eye(2))])
    ties = rng.integers(0, 4, (len(grain.sizes),) * 2).astype(np.float64)
    labels: list[Labels] = [rng.integers(0, columns, size) for size in lengths]
    labels[0][0] = columns - 1
    judged = [rng.dirichlet(np.ones(columns), size) for size in lengths]
    return labels, ties + ties.T, grain, judged


def literal(labels: list[Labels], ties: np.ndarray, grain: Grain, judged: list[np.ndarray], parts: Parts) -> float:
    """Likeness frame by frame, as it is defined."""
    sizes = grain.sizes.astype(np.int64)
    tied = np.repeat(np.repeat(ties, sizes, axis=0), sizes, axis=1)
    owner = np.repeat(np.arange(len(labels)), [len(each) for each in labels])
    is_in = [np.isin(each, parts) for each in labels]
    every, chances = np.concatenate(is_in), np.concatenate(judged)
    if not every.any():
        return 0.0
    inside = outside = 0.0
    for here in np.flatnonzero(every):
        for there in range(len(every)):
            if owner[there] != owner[here] and is_in[owner[there]].any():
                outside += tied[here, there]
                inside += tied[here, there] * every[there]
    begun = [sum(1 for n, own in enumerate(each) if own and (n == 0 or not each[n - 1])) for each in is_in]
    once = sum(count == 1 for count in begun) / sum(count > 0 for count in begun)
    length = every.sum() / sum(begun) / STEP
    if length > LONGEST:
        length = LONGEST / (length / LONGEST)
    sure = sum(chances[frame, list(parts)].sum() for frame in np.flatnonzero(every)) / every.sum()
    return float((inside / max(outside, 1e-12)) ** HELD * sure * once * length**LENGTH)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10_000))
def test_likeness_is_that_of_frames_for_groups_alone_and_together(seed: int) -> None:
    labels, ties, grain, judged = drawn(seed)
    evidence = Evidence.of(labels, ties, grain, judged, STEP)
    for size in (1, 2, 3):
        for parts in combinations(range(4), size):
            assert evidence.likeness(parts) == pytest.approx(literal(labels, ties, grain, judged, parts))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_putting_together_only_ever_gains(seed: int, k: int) -> None:
    labels, ties, grain, judged = drawn(seed, columns=6)
    evidence = Evidence.of(labels, ties, grain, judged, STEP)
    alone = sorted((evidence.likeness((group,)) for group in range(6)), reverse=True)
    found = put_together(evidence, k)
    assert sorted(group for parts in found for group in parts) == list(range(6))
    assert all(found[parts] == evidence.likeness(parts) for parts in found)
    best = sum(sorted(found.values(), reverse=True)[:k])
    assert best >= sum(alone[:k])
    assert sum(value > 0 for value in found.values()) >= min(k, sum(value > 0 for value in alone))
    if sum(value > 0 for value in found.values()) <= k:
        return
    for one, other in combinations(found, 2):  # and no pair is left that would gain
        rest = [value for parts, value in found.items() if parts not in (one, other)]
        merged = sorted((*rest, evidence.likeness(tuple(sorted(one + other)))), reverse=True)
        assert sum(merged[:k]) <= best + 1e-9


def perfect(labels: list[Labels], unsure: tuple[int, int] | None = None) -> Evidence:
    """Groups that are matched with themselves and recognised; two of them, if given, are mistaken for each other."""
    columns = int(max(each.max() for each in labels)) + 1
    same = np.eye(columns)
    if unsure:
        same[np.ix_(unsure, unsure)] = 0.5
    frames = np.array([np.bincount(each, minlength=columns) for each in labels], np.float64)
    others = len(labels) - 1
    orders = tuple(each[np.r_[True, each[1:] != each[:-1]]] for each in labels)
    total = frames.sum(0)
    offered = np.array([(total - own) * (own > 0) for own in frames])
    return Evidence(orders, total, others * total[:, None] * same, offered, total[:, None] * same, 6.0)


def test_a_step_taken_apart_is_put_together_and_makes_room_for_another() -> None:
    # Steps 1 and 2, and 0 with 3: halves of one step that come in either order. 4 is done twice by most.
    labels = [
        np.repeat([0, 3, 1, 4, 2, 4], [3, 3, 6, 2, 6, 2]),
        np.repeat([1, 3, 0, 4, 2], [6, 3, 3, 2, 6]),
        np.repeat([2, 4, 0, 3, 4, 1], [6, 2, 3, 3, 2, 6]),
    ]
    found = put_together(perfect(labels, unsure=(0, 3)), 3)
    assert set(sorted(found, key=lambda parts: -found[parts])[:3]) == {(0, 3), (1,), (2,)}


def test_steps_that_are_done_apart_stay_apart() -> None:
    labels = [np.repeat(order, 6) for order in ([0, 1, 2], [1, 0, 2], [0, 2, 1])]
    assert put_together(perfect(labels), 2).keys() == {(0,), (1,), (2,)}


def test_steps_that_are_always_done_in_one_order_stay_apart() -> None:
    """Any two neighbours come one right after the other in all recordings: as parts of one step would."""
    labels = [np.repeat(np.arange(5), 6)] * 3
    assert put_together(perfect(labels), 4).keys() == {(group,) for group in range(5)}


def test_however_much_a_collapse_is_like_a_step_k_of_them_stay() -> None:
    """Two groups that take turns are no steps; taken for one they are done once, recognised and matched with itself."""
    frames, half = np.array([9.0, 9.0]), np.full((2, 2), 0.5)
    orders = (np.array([0, 1, 0, 1]),) * 3
    evidence = Evidence(orders, frames, 2 * frames[:, None] * half, np.full((3, 2), 6.0), frames[:, None] * half, 6.0)
    assert evidence.likeness((0, 1)) > 0.8
    assert evidence.likeness((0,)) == evidence.likeness((1,)) == 0.0
    assert put_together(evidence, 2).keys() == {(0,), (1,)}


def test_a_group_without_frames_is_like_nothing() -> None:
    evidence = perfect([np.array([0, 0, 3]), np.array([0, 3, 3])])
    assert evidence.likeness((1,)) == evidence.likeness((1, 2)) == 0.0
    assert evidence.likeness((0, 1)) == evidence.likeness((0,)) > 0.0
