"""Either keeps the finder whose steps the recordings recognise in each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from guide.domain import Labels
from guide.teach.collection import Collection, Found
from guide.teach.subsample import Fewer
from offline.keysteps.either import Either
from offline.keysteps.equal import Equal

K = 3
LOOKS = 5 * np.random.default_rng(5).normal(size=(K + 1, 6))


@dataclass(frozen=True)
class Says:
    """A finder that says what it was told."""

    labels: tuple[Labels, ...]

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        return Found(self.labels)


def recordings(count: int) -> tuple[Collection, tuple[Labels, ...]]:
    made, labels = [], []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        own = np.repeat([0, *rng.permutation([1, 2, 3])], rng.integers(8, 20, K + 1)).astype(np.int64)
        made.append((LOOKS[own] + rng.normal(size=(len(own), 6))).astype(np.float32))
        labels.append(own)
    return Collection.at_rate(made, 2.0), tuple(labels)


@pytest.mark.parametrize("is_first", [True, False])
def test_true_steps_make_more_sense_than_slices_of_time(is_first: bool) -> None:
    made, truth = recordings(5)
    slices = Says(Equal().find(made, K, 0).labels)
    finders = (("true", Says(truth)), ("slices", slices))
    found = Either(finders if is_first else finders[::-1]).find(made, K, 0)
    for each, true in zip(found.labels, truth, strict=True):
        np.testing.assert_array_equal(each, true)
    assert "key-steps by true" in found.notes[-1]


def test_a_long_collection_is_judged_in_fewer_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = recordings(5)
    monkeypatch.setattr("offline.keysteps.either.fewer", lambda whole, *_: Fewer(whole, 2, (0, 1, 3)))
    slices = Says(Equal().find(made, K, 0).labels)
    assert Either((("slices", slices), ("true", Says(truth)))).find(made, K, 0).labels == truth


def test_a_collapse_loses() -> None:
    """One step everywhere is recognised, begun once and present: on features that say nothing it would win."""
    noise = Collection.at_rate(
        [np.random.default_rng(n).normal(size=(40, 6)).astype(np.float32) for n in range(5)], 2.0
    )
    one = Says(tuple(np.ones(40, np.int64) for _ in range(5)))
    three = Says(Equal().find(noise, K, 0).labels)
    assert Either((("one", one), ("three", three))).find(noise, K, 0).labels == three.labels


def test_two_recordings_are_left_to_the_first() -> None:
    made, truth = recordings(2)
    slices = Says(Equal().find(made, K, 0).labels)
    assert Either((("slices", slices), ("true", Says(truth)))).find(made, K, 0).labels == slices.labels
