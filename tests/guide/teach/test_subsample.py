"""Fewer frames and recordings: short collections stay as they are, long ones find their way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.collection import Collection
from guide.teach.subsample import FRAMES_A_STEP, USUAL_WIDTH, Fewer, fewer


def make(lengths: list[int], rate: float = 2.0) -> Collection:
    rng = np.random.default_rng(0)
    features = tuple(rng.random((length, 5)).astype(np.float16) + np.float16(0.1) for length in lengths)
    embeddings = tuple(rng.random((length, 3)).astype(np.float32) for length in lengths)
    return Collection(embeddings, tuple(np.arange(length) / rate for length in lengths), rate, features)


def test_a_short_collection_is_left_as_it_is() -> None:
    short = make([10, 20])
    few = fewer(short, k=2, seed=0, most=30)
    assert (few.every, few.numbers, few.others) == (1, (0, 1), ())
    assert few.collection() is short


def test_frames_are_merged_first() -> None:
    few = fewer(make([400, 400]), k=4, seed=0, most=200)
    assert (few.every, few.numbers) == (4, (0, 1))
    assert few.collection().lengths == (100, 100)


def test_steps_keep_their_frames_and_recordings_are_left_out_instead() -> None:
    few = fewer(make([100] * 10), k=4, seed=0, keep=[7], most=300)
    assert few.every == 100 // (4 * FRAMES_A_STEP)
    assert 7 in few.numbers
    assert 2 <= len(few.numbers) < 10
    assert sorted([*few.numbers, *few.others]) == list(range(10))
    assert few.collection().size <= 300 + 10


def test_two_recordings_are_left_however_long() -> None:
    assert len(fewer(make([60, 60, 60]), k=5, seed=1, most=30).numbers) == 2


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(1, 9))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_labels_find_their_way_there_and_back(lengths: list[int], every: int) -> None:
    few = Fewer(make(lengths), every, tuple(range(len(lengths))))
    for number, size in enumerate(few.collection().lengths):
        labels = np.arange(lengths[number], dtype=np.int64) // every
        thin = few.thin(labels)
        assert len(thin) == size
        np.testing.assert_array_equal(few.all_frames(number, thin), labels)


def test_groups_are_means_of_rows_of_unit_length_whatever_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    full = make([23])
    monkeypatch.setattr("guide.teach.subsample.ROWS_AT_ONCE", 7)
    thin = Fewer(full, 3, (0,)).collection()
    rows = full.features[0].astype(np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    groups = [slice(begin, begin + 3) for begin in range(0, 23, 3)]
    assert thin.rate == 2.0 / 3
    np.testing.assert_allclose(thin.features[0], [unit[group].mean(0) for group in groups], rtol=1e-5)
    np.testing.assert_allclose(thin.embeddings[0], [full.embeddings[0][group].mean(0) for group in groups], rtol=1e-5)
    np.testing.assert_allclose(thin.times[0], [full.times[0][group].mean() for group in groups])


def test_of_wide_features_fewer_frames_are_held() -> None:
    narrow, wide = (
        Collection.at_rate([np.zeros((400, width), np.float32)] * 2, 2.0) for width in (USUAL_WIDTH, 2 * USUAL_WIDTH)
    )
    assert fewer(narrow, k=2, seed=0, most=800).every == 1
    assert fewer(wide, k=2, seed=0, most=800).every == 2
