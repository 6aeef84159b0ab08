"""Ties against enumeration and against literal sums over frames."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.keysteps.matching import Grain, fixed, groups, leave_two_out, match, pair_off, telling
from offline.keysteps.parts import Cutting
from tests.plain_discriminant import fit_discriminant


def cutting(*borders: list[int]) -> Cutting:
    return Cutting(tuple(np.array(each, np.int64) for each in borders), np.eye(2))


def frames_of(ties: np.ndarray, grain: Grain) -> np.ndarray:
    """The ties of grains, frame by frame."""
    sizes = grain.sizes.astype(np.int64)
    return np.repeat(np.repeat(ties, sizes, axis=0), sizes, axis=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5))
def test_pairs_are_the_nearest_of_all_ways_to_pair_off(seed: int, some: int, others: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(some, 3)), rng.normal(size=(others, 3))
    partner = pair_off(one, other)
    costs = ((one[:, None] - other[None]) ** 2).sum(-1)
    kept = partner[partner >= 0]
    assert len(set(kept.tolist())) == len(kept) == min(some, others)
    found = costs[np.flatnonzero(partner >= 0), kept].sum()
    if some <= others:
        best = min(sum(costs[n, way[n]] for n in range(some)) for way in permutations(range(others), some))
    else:
        best = min(sum(costs[way[n], n] for n in range(others)) for way in permutations(range(some), others))
    assert found == pytest.approx(best)


def test_ties_are_those_of_parts_frame_by_frame() -> None:
    rng = np.random.default_rng(1)
    rows = [rng.normal(size=(length, 2)) for length in (9, 7, 8)]
    cuttings = [cutting([0, 4, 9], [0, 2, 7], [0, 5, 8]), cutting([0, 3, 6, 9], [0, 3, 7], [0, 2, 4, 8])]
    grain = Grain.of(cuttings)
    for one in cuttings:
        tied = frames_of(match(rows, one, fixed(np.eye(2)), grain), grain)
        parts = [np.repeat(np.arange(len(own) - 1), np.diff(own)) for own in one.borders]
        starts = np.cumsum([0, 9, 7, 8])
        for a in range(3):
            means = [rows[a][parts[a] == part].mean(0) for part in np.unique(parts[a])]
            for b in range(3):
                seen = tied[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]
                if a == b:
                    np.testing.assert_array_equal(seen, parts[a][:, None] == parts[a][None])
                elif a < b:
                    theirs = [rows[b][parts[b] == part].mean(0) for part in np.unique(parts[b])]
                    partner = pair_off(np.array(means), np.array(theirs))
                    np.testing.assert_array_equal(seen, partner[parts[a]][:, None] == parts[b][None])
        np.testing.assert_array_equal(tied, tied.T)


def test_groups_are_blocks_of_ties_whatever_grains_they_have() -> None:
    one = cutting([0, 4, 9, 12], [0, 6, 8, 12])
    grain = Grain.of([one, cutting([0, 2, 4, 9, 12], [0, 6, 8, 10, 12])])
    blocks = np.array([0, 0, 1, 2, 1, 2, 0, 0])  # of grains 0-2, 2-4, 4-9, 9-12 and 0-6, 6-8, 8-10, 10-12
    ties = (blocks[:, None] == blocks[None]).astype(np.float64)
    first, second = groups(ties, grain, 3, seed=0)
    wanted = np.repeat(blocks, grain.sizes.astype(np.int64))
    found = np.concatenate([first, second])
    assert len({(int(a), int(b)) for a, b in zip(found, wanted, strict=True)}) == 3


def test_two_recordings_are_compared_by_what_the_others_teach() -> None:
    rng = np.random.default_rng(3)
    rows = [rng.normal(size=(30, 4)) for _ in range(5)]
    labels: list[Labels] = [rng.integers(0, 3, 30) for _ in range(5)]
    found = leave_two_out(rows, labels, 0.3)(1, 3)
    literal = telling(fit_discriminant([rows[n] for n in (0, 2, 4)], [labels[n] for n in (0, 2, 4)], 0.3))
    one, other = rows[1] @ found, rows[1] @ literal
    np.testing.assert_allclose(
        ((one[:, None] - one[None]) ** 2).sum(-1), ((other[:, None] - other[None]) ** 2).sum(-1), atol=1e-8
    )


def test_three_recordings_are_compared_by_what_all_teach() -> None:
    rng = np.random.default_rng(5)
    rows = [rng.normal(size=(20, 3)) for _ in range(3)]
    labels: list[Labels] = [rng.integers(0, 2, 20) for _ in range(3)]
    one = rows[0] @ leave_two_out(rows, labels, 0.3)(0, 1)
    other = rows[0] @ telling(fit_discriminant(rows, labels, 0.3))
    np.testing.assert_allclose((one - one[0]) ** 2, (other - other[0]) ** 2, atol=1e-8)


def test_more_groups_than_grains_are_as_many_as_grains() -> None:
    grain = Grain.of([cutting([0, 4, 9], [0, 6, 8])])
    found = np.concatenate(groups(np.eye(4), grain, 7, seed=0))
    assert len(np.unique(found)) == 4


def test_directions_hold_all_that_lies_between_centres() -> None:
    rng = np.random.default_rng(4)
    learned = fit_discriminant([rng.normal(size=(40, 6))], [rng.integers(0, 4, 40)], 0.3)
    whole, short = learned.centres @ learned.whitening, learned.centres @ telling(learned)
    assert short.shape == (4, 3)
    apart = ((whole[:, None] - whole[None]) ** 2).sum(-1)
    np.testing.assert_allclose(((short[:, None] - short[None]) ** 2).sum(-1), apart, atol=1e-8)
