"""The ProCut Module: steps found, flicker removed, recordings kept apart."""

from __future__ import annotations

import numpy as np

from guide.label.energy import LinkSettings
from guide.teach.collection import Collection
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.kmeans import HardClusters
from offline.keysteps.pcm import ProCut


def recordings(orders: list[list[int]], each: int = 40, noise: float = 0.6, seed: int = 0) -> Collection:
    """Recordings at 2 frames a second with the given steps, `each` frames long."""
    rng = np.random.default_rng(seed)
    prototypes = rng.normal(size=(5, 16))
    made = [np.repeat(prototypes[order], each, axis=0) for order in orders]
    return Collection.at_rate([(m + noise * rng.normal(size=m.shape)).astype(np.float32) for m in made], 2.0)


def changes(labels: np.ndarray) -> int:
    return int((np.diff(labels) != 0).sum())


def test_finds_steps_in_any_order() -> None:
    found = ProCut().find(recordings([[0, 1, 2, 3], [0, 2, 1, 3]]), k=4, seed=0)
    first, second = found.labels
    assert first[0] == second[0] == 1
    assert first[-1] == second[-1] == 4
    assert [changes(first), changes(second)] == [3, 3]
    np.testing.assert_array_equal(first[40:80], second[80:120])
    assert found.notes == ()


def test_removes_the_flicker_that_hard_clusters_leave() -> None:
    collection = recordings([[0, 1, 2], [1, 2, 0]], noise=2.0)
    cut, hard = (finder.find(collection, 3, 0).labels for finder in (ProCut(), HardClusters()))
    assert sum(map(changes, cut)) < sum(map(changes, hard)) / 4


def test_no_links_across_recordings() -> None:
    """Where one recording ends and the next begins the step may change for nothing, however strong the links."""
    ends_in_0, one_frame_of_1 = recordings([[1, 0]], noise=0.1), recordings([[1]], each=1, noise=0.1)
    joined = Collection(
        (*ends_in_0.embeddings, *one_frame_of_1.embeddings), (*ends_in_0.times, *one_frame_of_1.times), 2.0
    )
    found = ProCut(links=LinkSettings(weight=8.0)).find(joined, k=2, seed=0)
    assert found.labels[0].tolist() == [1] * 40 + [2] * 40
    assert found.labels[1].tolist() == [1]


def test_order_of_recordings_does_not_matter() -> None:
    apart = recordings([[0, 1], [1, 0], [0, 1]], noise=0.3)
    turned = Collection(apart.embeddings[::-1], apart.times[::-1], apart.rate)
    labels, turned_labels = (ProCut().find(each, 2, 0).labels for each in (apart, turned))
    for one, other in zip(labels, turned_labels[::-1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_seed_decides() -> None:
    collection = recordings([[0, 1, 2, 3], [0, 2, 1, 3]], noise=1.5)
    one, two = (ProCut().find(collection, 4, 5) for _ in range(2))
    for first, second in zip(one.labels, two.labels, strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_collapse_reaches_the_user() -> None:
    rng = np.random.default_rng(0)
    collection = Collection.at_rate([rng.normal(size=(300, 128)).astype(np.float32)], 2.0)
    found = ProCut(clusters=FuzzySettings(fuzzifier=2.0)).find(collection, 8, 0)
    assert any("too much alike" in note for note in found.notes)


def test_short_recordings_keep_their_short_steps() -> None:
    """Steps of 2 s survive links meant for steps of half a minute."""
    found = ProCut().find(recordings([[0, 1, 2, 3]] * 3, each=4, noise=0.1), k=4, seed=0)
    assert [changes(labels) for labels in found.labels] == [3, 3, 3]
