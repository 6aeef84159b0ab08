"""Collections and what is found in them: checked values, numbering by time."""

from __future__ import annotations

import numpy as np
import pytest

from guide.errors import InputError
from offline.keysteps.base import Collection, Found, check_k, numbered, rank_by_time, split


def test_lengths_and_size() -> None:
    collection = Collection.at_rate([np.zeros((3, 2), np.float32), np.zeros((5, 2), np.float32)], 2.0)
    assert collection.lengths == (3, 5)
    assert collection.size == 8
    assert collection.times[1].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    ("embedding", "times", "rate", "told"),
    [
        (np.zeros((2, 2)), np.arange(2.0), 1.0, "float32"),
        (np.zeros((2, 0), np.float32), np.arange(2.0), 1.0, "float32"),
        (np.zeros((2, 2), np.float32), np.arange(3.0), 1.0, "2 increasing times"),
        (np.zeros((2, 2), np.float32), np.zeros(2), 1.0, "2 increasing times"),
        (np.zeros((2, 2), np.float32), np.arange(2.0), 0.0, "rate above 0"),
    ],
)
def test_refuses_arrays_that_do_not_fit(embedding: np.ndarray, times: np.ndarray, rate: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Collection((embedding,), (times,), rate)


def test_names_the_recording_with_values_that_are_not_finite() -> None:
    bad = np.zeros((2, 2), np.float32)
    bad[1, 1] = np.nan
    with pytest.raises(InputError, match="recording 1 holds NaN"):
        Collection.at_rate([np.zeros((2, 2), np.float32), bad], 1.0)


def test_refuses_recordings_of_different_width() -> None:
    with pytest.raises(ValueError, match="recording 1"):
        Collection.at_rate([np.zeros((2, 2), np.float32), np.zeros((2, 3), np.float32)], 1.0)


@pytest.mark.parametrize("k", [0, 5])
def test_says_which_k_are_possible(k: int) -> None:
    with pytest.raises(InputError, match=r"between 1 and the number of frames \(4\)"):
        check_k(Collection.at_rate([np.zeros((4, 1), np.float32)], 1.0), k)


def test_labels_are_int64() -> None:
    with pytest.raises(ValueError, match="int64"):
        Found((np.zeros(3),))  # type: ignore[arg-type]


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
    assert found.notes == ("only 3 of the 4 key-steps asked for label any frame: try a smaller --k",)
