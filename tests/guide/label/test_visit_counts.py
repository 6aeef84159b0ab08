"""How often steps are done."""

from __future__ import annotations

import numpy as np
import pytest

from guide.label.visit_counts import EGOPROCEL, VisitCounts


def test_what_nobody_has_seen_is_as_in_other_tasks() -> None:
    found = VisitCounts.learn(np.zeros((0, 2), np.int64))
    np.testing.assert_allclose(found.more, np.tile(EGOPROCEL[:2], (2, 1)))
    assert found.usual.tolist() == [1, 1]


def test_where_nothing_repeats_two_recordings_are_enough_to_say_so() -> None:
    twelve, one = VisitCounts.learn(np.ones((2, 12), np.int64)), VisitCounts.learn(np.ones((2, 1), np.int64))
    assert twelve.more[:, 0].max() < 0.01 < one.more[0, 0]  # other steps speak for a step
    assert (VisitCounts.learn(np.ones((12, 12), np.int64)).more[:, 0] < twelve.more[:, 0]).all()


def test_a_step_done_three_times_by_all_is_likely_to_come_twice_more_and_not_a_fourth_time() -> None:
    found = VisitCounts.learn([[1, 3], [1, 3], [1, 3], [1, 3]])
    assert found.more[1, :2].min() > 0.85
    assert found.more[1, 2] < 0.05
    assert found.more[0, 0] < found.more[1, 0]


def test_a_step_done_two_or_five_times_may_come_as_often_as_one_likes() -> None:
    found = VisitCounts.learn([[1, 2], [1, 5], [1, 3], [1, 4]])
    assert found.more[1, :4].min() > 0.4


def test_visits_beyond_the_most_count_as_the_most_and_none_is_certain_to_come() -> None:
    found = VisitCounts.learn([[1, 3], [1, 3]])
    again = found.again(np.array([[0, 9], [1, 4]]))
    assert again.tolist() == [[1.0, found.more[1, -1]], [found.more[0, 0], found.more[1, -1]]]


def test_steps_of_which_nothing_is_ruled_are_come_back_to_as_elsewhere() -> None:
    found = VisitCounts.learn(np.ones((12, 2), np.int64))
    freed = found.freed(np.array([False, True]))
    assert freed.more[0].tolist() == found.more[0].tolist()
    assert freed.more[1, 0] == EGOPROCEL[0]


def test_visits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="visits of steps need"):
        VisitCounts(np.full((2, 2), 0.5), np.array([1, 0]))
