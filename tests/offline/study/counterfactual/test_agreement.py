"""Agreement of labels on the same frames."""

from __future__ import annotations

import numpy as np
import pytest

from offline.study.counterfactual.agreement import agreement, near_splices


def test_the_share_of_equal_best_labels_away_from_splices() -> None:
    one = 1 - np.eye(4)
    other = one[[0, 1, 3, 3]]
    assert agreement(one, other, np.zeros(4, np.bool_)) == 0.75
    assert agreement(one, other, np.array([False, False, True, False])) == 1.0


def test_nothing_left_to_compare_is_no_number() -> None:
    assert np.isnan(agreement(np.eye(2), np.eye(2), np.ones(2, np.bool_)))
    assert np.isnan(agreement(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, np.bool_)))


def test_frames_that_are_not_the_same_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="the same frames"):
        agreement(np.eye(2), np.eye(3), np.zeros(2, np.bool_))


def test_near_a_splice_is_after_it_and_if_wanted_before() -> None:
    near = near_splices(np.arange(6.0), [2.0], after_s=1.0, before_s=1.0)
    assert near.tolist() == [False, True, True, True, False, False]
