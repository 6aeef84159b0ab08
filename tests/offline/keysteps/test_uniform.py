"""The published uniform split, worked by hand."""

from __future__ import annotations

import numpy as np

from guide.teach.collection import Collection
from offline.keysteps.equal import Equal
from offline.keysteps.uniform import Uniform


def blank(*lengths: int) -> Collection:
    return Collection.at_rate([np.zeros((length, 1), np.float32) for length in lengths], 1.0)


def test_uniform_cuts_the_concatenation() -> None:
    labels = Uniform().find(blank(4, 7, 1), k=3, seed=0).labels
    assert [each.tolist() for each in labels] == [[1, 1, 1, 1], [2, 2, 2, 2, 3, 3, 3], [3]]


def test_uniform_and_equal_agree_on_one_recording() -> None:
    np.testing.assert_array_equal(Equal().find(blank(23), 5, 0).labels[0], Uniform().find(blank(23), 5, 0).labels[0])
