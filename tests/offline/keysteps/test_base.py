"""What finders share: possible numbers of steps, numbering by time."""

from __future__ import annotations

import numpy as np
import pytest

from guide.errors import InputError
from guide.teach.collection import Collection
from offline.keysteps.base import check_k, numbered, rank_by_time, split


@pytest.mark.parametrize("k", [0, 5])
def test_says_which_k_are_possible(k: int) -> None:
    with pytest.raises(InputError, match=r"between 1 and the number of frames \(4\)"):
        check_k(Collection.at_rate([np.zeros((4, 1), np.float32)], 1.0), k)


def test_split_gives_each_recording_its_own() -> None:
    assert [part.tolist() for part in split(np.arange(5), [2, 3])] == [[0, 1], [2, 3, 4]]


def test_steps_are_numbered_by_their_mean_time_and_unused_ones_last() -> None:
    # Column 2 comes first in both recordings, column 0 second, column 1 never, column 3 at the end.
    labels = [np.array([2, 2, 0, 3]), np.array([2, 0, 0, 3])]
    assert rank_by_time(labels, 4).tolist() == [2, 0, 3, 1]
    found = numbered(labels, np.arange(4.0)[:, None])
    assert [each.tolist() for each in found.labels] == [[1, 1, 2, 3], [1, 2, 2, 3]]
    assert found.centres is not None
    assert found.centres[:, 0].tolist() == [2.0, 0.0, 3.0, 1.0]
    assert found.notes == ("only 3 of the 4 steps asked for were found: ask for fewer",)
