"""Splits stay inside their step and cut every stretch."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.split import split_at_share, split_by_look
from tests.small_task import make_demonstrations, make_labels


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_only_frames_of_the_step_change(labels: list[int], share: float) -> None:
    before = np.array(labels)
    after = split_at_share([before], 2, 9, share)[0]
    np.testing.assert_array_equal(after[before != 2], before[before != 2])
    assert set(after[before == 2].tolist()) <= {2, 9}


def test_a_look_that_does_not_change_still_gives_valid_labels() -> None:
    demonstrations, labels = make_demonstrations(), make_labels()
    after = split_by_look(demonstrations, labels, 1, 4)
    for one, other in zip(labels, after, strict=True):
        np.testing.assert_array_equal(other[one != 1], one[one != 1])
        assert set(other[one == 1].tolist()) <= {1, 4}


def test_a_step_without_frames_stays() -> None:
    labels = make_labels()
    assert all((a == b).all() for a, b in zip(split_by_look(make_demonstrations(), labels, 8, 9), labels, strict=True))
