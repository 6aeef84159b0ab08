"""Collections and what is found in them are checked values."""

from __future__ import annotations

import numpy as np
import pytest

from guide.errors import InputError
from guide.teach.collection import Collection, Found


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


def test_labels_are_int64() -> None:
    with pytest.raises(ValueError, match="int64"):
        Found((np.zeros(3),))  # type: ignore[arg-type]
