"""Scores on the frames of steps, against a count by hand and a literal loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline.metrics.live import step_frames

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=30)


@given(LABELS)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_it_is_the_literal_count(pairs: list[tuple[int, int]]) -> None:
    truth, found = np.array(pairs).T
    asked = [(true, said) for true, said in pairs if true > 0]
    score = step_frames(truth, found)
    if not asked:
        assert np.isnan(score.accuracy)
        return
    assert score.accuracy == pytest.approx(sum(true == said for true, said in asked) / len(asked))
    scores = []
    for step in {true for true, _ in asked}:
        right = sum(true == said == step for true, said in asked)
        precision = right / max(sum(said == step for _, said in asked), 1)
        recall = right / sum(true == step for true, _ in asked)
        scores.append(2 * precision * recall / (precision + recall) if right else 0.0)
    assert score.macro_f1 == pytest.approx(np.mean(scores))


def test_background_counts_as_wrong_where_a_step_is_done_and_not_at_all_elsewhere() -> None:
    truth = np.array([0, 0, 1, 1])
    assert step_frames(truth, np.array([1, 1, 1, 0])).accuracy == 0.5


def test_labels_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="came with"):
        step_frames(np.zeros(3, np.int64), np.zeros(2, np.int64))
