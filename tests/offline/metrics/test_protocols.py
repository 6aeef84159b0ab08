"""Protocols A, B, D and the old pooled one against small answers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.metrics.matching import same_numbers
from offline.metrics.protocols import (
    PROTOCOLS,
    ScoringProtocol,
    protocol_a,
    protocol_b,
    protocol_d,
    protocol_pooled,
)
from offline.metrics.score import NOTHING, Score, harmonic


def labels(*values: int) -> Labels:
    return np.array(values, dtype=np.int64)


TASKS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 5)), max_size=12).map(
        lambda frames: (labels(*(t for t, _ in frames)), labels(*(f for _, f in frames)))
    ),
    max_size=4,
)

# Found 5 lies on 3 of the 4 background frames, found 1 on background, step 1, step 1, step 2, found 2 on step 2.
TRUTH = [labels(0, 0, 0, 0, 1, 1), labels(2, 2)]
FOUND = [labels(5, 5, 5, 1, 1, 1), labels(1, 2)]


def close(score: Score, precision: float, recall: float, iou: float) -> bool:
    wanted = (precision, recall, harmonic(precision, recall), iou)
    return (score.precision, score.recall, score.f1, score.iou) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("protocol", "truth", "found", "scores"),
    [
        # 5 -> background, 1 -> 1, 2 -> 2: mean of (1, 2/4, 1), (3/4, 1, 1/2) and (3/4, 2/4, 1/2).
        (protocol_a, TRUTH, FOUND, (5 / 6, 3 / 4, 7 / 12)),
        # 1 -> 1, 2 -> 2, and 5 is one step too many: sums (1/2 + 1), (1 + 1/2), (1/2 + 1/2) over 3.
        (protocol_d, TRUTH, FOUND, (1 / 2, 1 / 2, 1 / 3)),
        # 3 right of 8 frames given a step and of 4 that are one.
        (protocol_pooled, TRUTH, FOUND, (3 / 8, 3 / 4, 3 / 9)),
        # D charges for steps not found, for steps too many, and for a step laid on background.
        (protocol_d, [labels(1, 2, 3)], [labels(1, 0, 0)], (1 / 3, 1 / 3, 1 / 3)),
        (protocol_d, [labels(1, 0, 0)], [labels(1, 2, 3)], (1 / 3, 1 / 3, 1 / 3)),
        (protocol_d, [labels(0, 0, 0, 1)], [labels(1, 1, 1, 1)], (1 / 4, 1, 1 / 4)),
        # Background left alone is no credit under D, but a class of its own under A.
        (protocol_d, [labels(0, 0, 1, 2)], [labels(0, 0, 1, 1)], (1 / 4, 1 / 2, 1 / 4)),
        (protocol_a, [labels(0, 0, 1, 2)], [labels(0, 0, 1, 1)], (3 / 4, 1, 3 / 4)),
    ],
)
def test_by_hand(
    protocol: ScoringProtocol, truth: list[Labels], found: list[Labels], scores: tuple[float, float, float]
) -> None:
    assert close(protocol(truth, found), *scores)


def test_b_by_hand() -> None:
    """One recording is right under swapped numbers; in the other 1 -> background and 2 -> 1 share 2 and 1 frames."""
    truth = [labels(1, 1, 2, 2), labels(0, 0, 0, 1)]
    found = [labels(2, 2, 1, 1), labels(1, 1, 2, 2)]
    assert close(protocol_b(truth, found), (1 + 3 / 4) / 2, (1 + 5 / 6) / 2, (1 + 7 / 12) / 2)


def test_b_forgives_what_a_guide_cannot_use() -> None:
    """The two labels change their meaning from one recording to the next."""
    truth = [labels(1, 1, 2, 2), labels(1, 1, 2, 2)]
    found = [labels(1, 1, 2, 2), labels(2, 2, 1, 1)]
    assert close(protocol_b(truth, found), 1, 1, 1)
    assert close(protocol_a(truth, found), 1 / 2, 1 / 2, 1 / 3)
    assert close(protocol_d(truth, found), 1 / 2, 1 / 2, 1 / 3)


def test_one_label_for_everything_is_worthless_under_d() -> None:
    truth = [labels(*[0] * 60, *[1] * 10, *[2] * 10, *[3] * 10, *[4] * 10)]
    assert protocol_d(truth, [np.ones(100, dtype=np.int64)]).f1 < 0.1


# The numbers are right, every step begins a frame late.
NUMBERED = [labels(0, 1, 1, 1, 2, 2)], [labels(0, 0, 1, 1, 1, 2)]


def test_given_numbers_by_hand() -> None:
    """A: background 1/2, 1, 1/2; step 1 2/3, 2/3, 1/2; step 2 1, 1/2, 1/2. D: the steps alone."""
    numbers = same_numbers(NUMBERED[1])
    assert close(protocol_a(*NUMBERED, numbers), (1 / 2 + 2 / 3 + 1) / 3, (1 + 2 / 3 + 1 / 2) / 3, 1 / 2)
    assert close(protocol_d(*NUMBERED, numbers), (2 / 3 + 1) / 2, (2 / 3 + 1 / 2) / 2, 1 / 2)
    assert close(protocol_b(*NUMBERED, numbers), (1 / 2 + 2 / 3 + 1) / 3, (1 + 2 / 3 + 1 / 2) / 3, 1 / 2)
    assert close(protocol_pooled(*NUMBERED, numbers), 3 / 4, 3 / 5, 3 / 6)


def test_exchanged_numbers_are_forgiven_by_a_match_and_not_where_they_were_given() -> None:
    truth, found = [labels(1, 1, 2, 2)], [labels(2, 2, 1, 1)]
    for protocol in PROTOCOLS.values():
        assert close(protocol(truth, found), 1, 1, 1)
        assert protocol(truth, found, same_numbers(found)) == NOTHING


def test_given_numbers_charge_for_steps_missed_and_steps_that_are_not_there() -> None:
    """Step 1 is right; 2 and 3 are not found, 7 is nobody's: D divides by the three steps there are."""
    truth, found = [labels(1, 2, 3)], [labels(1, 7, 0)]
    assert close(protocol_d(truth, found, same_numbers(found)), 1 / 3, 1 / 3, 1 / 3)


@given(task=TASKS)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_given_numbers_never_score_above_the_best_match(task: list[tuple[Labels, Labels]]) -> None:
    """The Hungarian match has the most right frames of all."""
    truth, found = [t for t, _ in task], [f for _, f in task]
    assert protocol_pooled(truth, found, same_numbers(found)).f1 <= protocol_pooled(truth, found).f1 + 1e-12


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
def test_no_recording_and_empty_recordings_score_nothing(protocol: ScoringProtocol) -> None:
    assert protocol([], []) == NOTHING
    assert protocol([labels()], [labels()]) == NOTHING


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
def test_an_empty_recording_changes_nothing(protocol: ScoringProtocol) -> None:
    assert protocol([*TRUTH, labels()], [*FOUND, labels()]) == protocol(TRUTH, FOUND)


@pytest.mark.parametrize("protocol", [protocol_d, protocol_pooled])
def test_no_step_found_or_none_there_scores_nothing(protocol: ScoringProtocol) -> None:
    assert protocol([labels(1, 2)], [labels(0, -1)]) == NOTHING
    assert protocol([labels(0, 0)], [labels(1, 2)]) == NOTHING
    assert protocol([labels(0, 0)], [labels(0, 0)]) == NOTHING


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
@given(task=TASKS)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_unknown_counts_as_background_and_two_runs_agree(
    protocol: ScoringProtocol, task: list[tuple[Labels, Labels]]
) -> None:
    truth, found = [t for t, _ in task], [f for _, f in task]
    assert protocol(truth, found) == protocol(truth, [np.maximum(f, 0) for f in found])


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
@given(task=TASKS)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_the_truth_under_other_numbers_is_perfect(protocol: ScoringProtocol, task: list[tuple[Labels, Labels]]) -> None:
    truth = [t for t, _ in task]
    found = [np.where(t > 0, 10 - t, 0) for t in truth]
    score = protocol(truth, found)
    if any((t > 0).any() for t in truth):
        assert score == Score(1.0, 1.0, 1.0, 1.0)


@given(task=TASKS)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_pooled_protocols_do_not_care_where_a_recording_ends(task: list[tuple[Labels, Labels]]) -> None:
    truth, found = [t for t, _ in task], [f for _, f in task]
    if task:
        whole = [np.concatenate(truth)], [np.concatenate(found)]
        assert protocol_a(truth, found) == protocol_a(*whole)
        assert protocol_d(truth, found) == protocol_d(*whole)
