"""Finders that look at nothing, worked by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.collection import Collection
from offline.keysteps.blind import Equal, Random, Uniform, slices


def blank(*lengths: int) -> Collection:
    return Collection.at_rate([np.zeros((length, 1), np.float32) for length in lengths], 1.0)


def test_random_is_seeded_and_uniform() -> None:
    first, again, other = (Random().find(blank(6000), 4, seed).labels[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    np.testing.assert_allclose(np.bincount(first)[1:] / 6000, 0.25, atol=0.03)


def test_uniform_cuts_the_concatenation() -> None:
    labels = Uniform().find(blank(4, 7, 1), k=3, seed=0).labels
    assert [each.tolist() for each in labels] == [[1, 1, 1, 1], [2, 2, 2, 2, 3, 3, 3], [3]]


def test_equal_cuts_each_recording() -> None:
    labels = Equal().find(blank(4, 7), k=2, seed=0).labels
    assert [each.tolist() for each in labels] == [[1, 1, 2, 2], [1, 1, 1, 1, 2, 2, 2]]


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40))
def test_slices_rise_and_differ_by_one_frame_at_most(length: int, k: int) -> None:
    labels = slices(length, k)
    assert labels[0] == 1
    assert (np.diff(labels) >= 0).all()
    assert labels.max() <= k
    if k <= length:
        count = np.bincount(labels, minlength=k + 1)[1:]
        assert count.max() - count.min() <= 1
