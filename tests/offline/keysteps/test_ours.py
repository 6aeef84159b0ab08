"""Ours on steps that are easy to see but differ in length: far better than slices of time, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Features, Labels
from guide.teach.collection import Collection
from guide.teach.subsample import Fewer
from offline.keysteps.equal import Equal
from offline.keysteps.ours import Ours
from offline.metrics import PROTOCOLS

K = 4
RATE = 2.0


def recording(seed: int) -> tuple[Features, Labels]:
    """Steps of very different lengths, in an order that differs a little from person to person."""
    rng = np.random.default_rng(seed)
    order = [1, 2, 3, 4] if seed % 2 else [1, 3, 2, 4]
    labels = np.repeat(order, rng.integers(10, 60, K)).astype(np.int64)
    prototypes = np.random.default_rng(99).normal(0, 3, (K + 1, 8))
    rows = prototypes[labels] + rng.normal(0, 0.7, (len(labels), 8))
    return rows.astype(np.float32), labels


def collection() -> tuple[Collection, list[Labels]]:
    drawn = [recording(seed) for seed in range(5)]
    return Collection.at_rate([rows for rows, _ in drawn], RATE), [labels for _, labels in drawn]


def test_it_beats_slices_of_time() -> None:
    made, truth = collection()
    ours = PROTOCOLS["D"](truth, Ours().find(made, K, seed=0).labels)
    equal = PROTOCOLS["D"](truth, Equal().find(made, K, seed=0).labels)
    assert ours.f1 > equal.f1 + 0.1
    assert ours.f1 > 0.8


def test_it_gives_the_same_each_time_and_labels_every_frame() -> None:
    made, truth = collection()
    one, two = (Ours().find(made, K, seed=3) for _ in range(2))
    for first, second, true in zip(one.labels, two.labels, truth, strict=True):
        np.testing.assert_array_equal(first, second)
        assert first.shape == true.shape
        assert set(first.tolist()) <= set(range(K + 1))


def test_steps_are_numbered_in_the_order_of_time_and_have_centres() -> None:
    made, _ = collection()
    found = Ours().find(made, K, seed=0)
    assert found.centres is not None
    assert found.centres.shape == (K, 8)
    when = [
        np.mean([np.flatnonzero(labels == step).mean() / len(labels) for labels in found.labels if step in labels])
        for step in (1, K)
    ]
    assert when[0] < when[1]


def test_a_collection_too_long_to_look_at_is_labelled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some recordings in fewer frames teach; every frame of every recording gets a label, nearly as good."""
    made, truth = collection()
    monkeypatch.setattr("offline.keysteps.ours.fewer", lambda whole, *_: Fewer(whole, 2, (0, 1, 3)))
    found = Ours().find(made, K, seed=0)
    assert [len(each) for each in found.labels] == [len(each) for each in truth]
    assert PROTOCOLS["D"](truth, found.labels).f1 > 0.75
