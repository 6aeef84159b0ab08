"""The Hungarian match on frame overlap, and labels rewritten by it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.metrics.matching import Overlap, match_steps, pool, relabel


def labels(*values: int) -> Labels:
    return np.array(values, dtype=np.int64)


TRUTH = labels(0, 0, 0, 0, 1, 1, 2, 2)
FOUND = labels(5, 5, 5, 1, 1, 1, 1, 2)


def test_overlap_counts_by_hand() -> None:
    overlap = Overlap.of(TRUTH, FOUND)
    assert overlap.found_classes.tolist() == [1, 2, 5]
    assert overlap.true_classes.tolist() == [0, 1, 2]
    assert overlap.shared.tolist() == [[1, 2, 1], [0, 0, 1], [3, 0, 0]]


def test_background_is_a_class_only_where_asked() -> None:
    assert Overlap.of(TRUTH, FOUND).pairs(background=True).match == {1: 1, 2: 2, 5: 0}
    assert match_steps([TRUTH], [FOUND]) == {1: 1, 2: 2}


def test_the_match_is_over_all_recordings() -> None:
    truth = [labels(1, 1, 2), labels(2, 2, 2, 2)]
    found = [labels(3, 3, 3), labels(3, 3, 3, 4)]
    assert match_steps(truth, found) == {3: 2, 4: 1}


def test_unknown_is_no_step() -> None:
    assert match_steps([labels(1, 1, 2)], [labels(-1, -1, 7)]) == {7: 2}
    assert pool([labels(-1, 1)], [labels(0, -1)])[0].tolist() == [0, 1]


def test_relabel_keeps_steps_without_a_partner_apart() -> None:
    truth = [labels(1, 1, 2, 2, 0)]
    found = [labels(9, 9, 4, 6, -1)]
    (rewritten,) = relabel(found, {9: 1}, truth)
    assert rewritten.tolist() == [1, 1, 7, 9, 0]  # 4 and 6 moved above the largest true step


def test_relabel_gives_background_to_one_label_only() -> None:
    truth = [labels(0, 0, 1)]
    (rewritten,) = relabel([labels(3, 0, 2)], {3: 0, 2: 1}, truth)
    assert rewritten.tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("truth", "found", "words"),
    [
        ([labels(1)], [], "1 true and 0 found"),
        ([labels(1, 2)], [labels(1)], r"recording 0: .*\(2,\) true, \(1,\) found"),
    ],
)
def test_different_recordings_or_lengths_are_refused(truth: list[Labels], found: list[Labels], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        match_steps(truth, found)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@settings(derandomize=True, deadline=None)
def test_no_permutation_overlaps_more(frames: list[tuple[int, int]]) -> None:
    """Oracle: brute force over all ways to pair found classes with true ones."""
    truth, found = (labels(*column) for column in zip(*frames, strict=True))
    overlap = Overlap.of(truth, found)
    shared = overlap.shared if overlap.shared.shape[0] <= overlap.shared.shape[1] else overlap.shared.T
    rows, columns = shared.shape
    best = max(sum(int(shared[r, c]) for r, c in enumerate(choice)) for choice in permutations(range(columns), rows))
    assert int(overlap.pairs(background=True).shared.sum()) == best
