"""Few labels: which recordings are chosen, which are scored, and that numbers count."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from guide.teach.collection import Found
from offline.features import RecordingFeatures
from offline.study.evaluation.few import MOST_CHOICES, FewLabels, choices, is_few, score_others
from offline.study.evaluation.task import LabelledTask

SEEN = RecordingFeatures("a", 1.0, np.arange(4.0), np.zeros((4, 2), np.float32))
TRUTH = np.array([1, 1, 2, 2])
TASK = LabelledTask("1", "tea", {1: "boil", 2: "pour"}, (SEEN,) * 3, (TRUTH,) * 3)


@pytest.mark.parametrize(("recordings", "labelled"), [(5, 1), (5, 2), (5, 4), (12, 1), (2, 1)])
def test_few_choices_are_all_taken(recordings: int, labelled: int) -> None:
    assert choices(recordings, labelled) == list(combinations(range(recordings), labelled))


@pytest.mark.parametrize(("recordings", "labelled"), [(13, 1), (11, 2), (11, 4), (200, 100)])
def test_of_many_choices_twelve_are_drawn_each_once_and_always_the_same(recordings: int, labelled: int) -> None:
    drawn = choices(recordings, labelled)
    assert len(set(drawn)) == len(drawn) == MOST_CHOICES
    assert drawn == choices(recordings, labelled)
    assert drawn != choices(recordings, labelled, seed=1)
    assert all(len(set(each)) == labelled and max(each) < recordings for each in drawn)


@pytest.mark.parametrize(("most", "expected"), [(54, 54), (55, 55), (1000, 55), (1, 1)])
def test_more_or_fewer_choices_may_be_asked_for(most: int, expected: int) -> None:
    drawn = choices(11, 2, most)
    assert len(set(drawn)) == len(drawn) == expected
    assert set(drawn) <= set(combinations(range(11), 2))


@pytest.mark.parametrize("labelled", [3, 4, 0])
def test_there_is_no_choice_where_none_is_left_to_score_or_none_labelled(labelled: int) -> None:
    assert choices(3, labelled) == []


def test_only_the_others_are_scored_and_by_their_numbers() -> None:
    """The second recording is right, the third has its numbers exchanged: half of all frames are right."""
    found = Found((np.zeros(4, np.int64), TRUTH, 3 - TRUTH))
    scores = score_others(TASK, (0,), found, ("A", "D"))
    assert scores.extras["MoF"] == 1 / 2
    assert scores.protocols["D"].f1 == scores.protocols["A"].f1 == 1 / 2
    assert score_others(TASK, (0, 2), found, ("D",)).protocols["D"].f1 == 1.0
    assert score_others(TASK, (0, 1), found, ("D",)).protocols["D"].f1 == 0.0


def test_a_row_says_how_it_came_about() -> None:
    scores = score_others(TASK, (0,), Found((TRUTH,) * 3), ("D",))
    assert FewLabels(1, (scores,) * 3, 3).note == "1 labelled: mean over all 3 choices of the labelled recordings"
    drawn = FewLabels(4, (scores,) * 12, 330)
    assert drawn.note == "4 labelled: mean over 12 of 330 choices of the labelled recordings, drawn with seed 0"
    assert is_few(drawn.name)
    assert not is_few("tc3i + ours")
