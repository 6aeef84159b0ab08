"""Every finder by name, one suite for all: right lengths, right range, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from guide.errors import InputError
from guide.teach.collection import Collection
from offline.keysteps.registry import FINDERS, finder


@pytest.fixture(scope="module")
def collection() -> Collection:
    rng = np.random.default_rng(0)
    prototypes = 3 * rng.normal(size=(4, 8))
    made = [np.repeat(prototypes, each, axis=0) + rng.normal(size=(4 * each, 8)) for each in (12, 20, 15, 17)]
    return Collection.at_rate([each.astype(np.float32) for each in made], 2.0)


@pytest.mark.parametrize("name", sorted(FINDERS))
def test_labels_fit_the_collection(name: str, collection: Collection) -> None:
    found = finder(name).find(collection, k=4, seed=0)
    assert tuple(len(labels) for labels in found.labels) == collection.lengths
    assert all(labels.min() >= 0 and labels.max() <= 4 for labels in found.labels)
    again = finder(name).find(collection, k=4, seed=0)
    for one, other in zip(found.labels, again.labels, strict=True):
        np.testing.assert_array_equal(one, other)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(InputError, match="random, uniform, equal"):
        finder("magic")


@pytest.mark.parametrize("name", sorted(FINDERS))
def test_more_steps_than_a_recording_has_frames(name: str) -> None:
    rng = np.random.default_rng(0)
    short = Collection.at_rate([rng.normal(size=(n, 3)).astype(np.float32) for n in (2, 9, 7)], 1.0)
    labels = finder(name).find(short, k=5, seed=0).labels
    assert [len(each) for each in labels] == [2, 9, 7]
    assert all(each.min() >= 0 and each.max() <= 5 for each in labels)
