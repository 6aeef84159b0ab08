"""MoF, segment F1 and edit score by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels, Segment
from offline.metrics.segments import edit_distance, edit_score, mof, segment_f1, segments_of


def labels(*values: int) -> Labels:
    return np.array(values, dtype=np.int64)


SAME = {1: 1, 2: 2, 3: 3}


def test_segments_leave_background_and_unknown_out() -> None:
    assert segments_of(labels(0, 1, 1, -1, 2, 1)) == [Segment(1, 1, 3), Segment(2, 4, 5), Segment(1, 5, 6)]
    assert segments_of(labels()) == []


def test_mof_counts_all_frames_after_the_match() -> None:
    """7 -> 1 on two frames, background kept on one, one step frame called background: 3 of 4."""
    assert mof([labels(1, 1, 0, 1)], [labels(7, 7, -1, 0)]) == 0.75


def test_mof_with_background_matched_like_a_step() -> None:
    truth, found = [labels(0, 0, 0, 1)], [labels(4, 4, 4, 5)]
    assert mof(truth, found, {4: 0, 5: 1}) == 1.0
    assert mof(truth, found) == 0.25  # 4 has no partner among the key-steps: wrong on all three frames


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        # True: 1 on frames 0-9, 2 on 10-19. Found: 1 on 0-3, 2 on 4-19. IoU 4/10 and 10/16.
        (0.10, 1.0),
        (0.25, 1.0),
        (0.50, 0.5),
        (0.65, 0.0),
    ],
)
def test_segment_f1_by_hand(overlap: float, expected: float) -> None:
    truth = [np.repeat(labels(1, 2), 10)]
    found = [np.repeat(labels(1, 2), [4, 16])]
    assert segment_f1(truth, found, overlap, SAME) == expected


def test_a_true_segment_is_found_once() -> None:
    """Two found pieces of one true segment: one right, one false; precision 1/2, recall 1."""
    assert segment_f1([labels(1, 1, 1, 1)], [labels(1, 1, 0, 1)], 0.1, SAME) == pytest.approx(2 / 3)


def test_segments_are_pooled_over_recordings() -> None:
    """1 of 1 in the first, 0 of 2 in the second: precision 1/3, recall 1/2."""
    truth = [labels(1, 1), labels(2, 2)]
    found = [labels(1, 1), labels(1, 3)]
    assert segment_f1(truth, found, 0.5, SAME) == pytest.approx(0.4)


def test_a_step_without_a_partner_is_a_false_segment() -> None:
    assert segment_f1([labels(1, 1, 0, 0)], [labels(1, 1, 8, 8)], 0.5, {1: 1}) == pytest.approx(2 / 3)


def test_edit_score_by_hand() -> None:
    """1 2 3 against 1 3: one deletion of three; a second recording is right: mean of 2/3 and 1."""
    truth = [labels(1, 0, 2, 3), labels(1, 2)]
    found = [labels(1, 1, 3, 3), labels(1, 2)]
    assert edit_score(truth, found, SAME) == pytest.approx((2 / 3 + 1) / 2)


def test_durations_do_not_matter_to_the_edit_score() -> None:
    assert edit_score([np.repeat(labels(1, 2), [9, 1])], [np.repeat(labels(1, 2), [1, 9])], SAME) == 1.0


def test_nothing_there_and_nothing_found() -> None:
    quiet = [labels(0, 0)]
    assert (mof(quiet, quiet), segment_f1(quiet, quiet, 0.5), edit_score(quiet, quiet)) == (1.0, 0.0, 1.0)
    assert (mof([], []), segment_f1([], [], 0.5), edit_score([labels()], [labels()])) == (0.0, 0.0, 0.0)


def literal_distance(a: list[int], b: list[int]) -> int:
    """Oracle: the definition, letter by letter."""
    if not a or not b:
        return len(a) + len(b)
    return min(
        literal_distance(a[1:], b) + 1,
        literal_distance(a, b[1:]) + 1,
        literal_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )


@given(st.lists(st.integers(1, 3), max_size=5), st.lists(st.integers(1, 3), max_size=5))
@settings(derandomize=True, deadline=None)
def test_edit_distance_is_the_definition(a: list[int], b: list[int]) -> None:
    assert edit_distance(a, b) == literal_distance(a, b)


def literal_f1(truth: Labels, found: Labels, overlap: float) -> float:
    """Oracle: found segments one by one, each with the true segment of its step that it overlaps most."""
    true_segments, found_segments = segments_of(truth), segments_of(found)
    hit: set[int] = set()
    for one in found_segments:
        ious = [
            0.0
            if other.step != one.step
            else max(0.0, min(one.end, other.end) - max(one.start, other.start))
            / (max(one.end, other.end) - min(one.start, other.start))
            for other in true_segments
        ]
        if ious and max(ious) >= overlap and max(ious) > 0:
            hit.add(ious.index(max(ious)))
    total = len(true_segments) + len(found_segments)
    return 2 * len(hit) / total if total else 0.0


FRAMES = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), max_size=24)


@given(FRAMES, st.sampled_from([0.1, 0.25, 0.5]))
@settings(derandomize=True, deadline=None)
def test_segment_f1_is_the_literal_count(frames: list[tuple[int, int]], overlap: float) -> None:
    truth, found = labels(*(t for t, _ in frames)), labels(*(f for _, f in frames))
    assert segment_f1([truth], [found], overlap, SAME) == pytest.approx(literal_f1(truth, found, overlap))
