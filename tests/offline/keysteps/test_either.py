"""Either keeps the finder whose steps the recordings recognise in each other, and its measure is a literal count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from guide.domain import Labels
from guide.label.discriminant import fit_discriminant
from guide.teach.collection import Collection, Found
from guide.teach.refine import RefineSettings
from guide.teach.thin import Fewer
from offline.keysteps.either import Either
from offline.keysteps.equal import Equal
from offline.keysteps.sense import sense

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


def test_sense_is_what_it_says() -> None:
    rng = np.random.default_rng(6)
    rows = [rng.normal(size=(length, 4)) for length in (30, 25, 20)]
    labels: list[Labels] = [np.sort(rng.integers(0, K, len(each))) for each in rows]
    labels[0] = labels[0][rng.permutation(30)]  # begun more than once
    settings = RefineSettings()
    judged = []
    for left in range(3):
        others = [number for number in range(3) if number != left]
        learned = fit_discriminant([rows[n] for n in others], [labels[n] for n in others], settings.shrinkage)
        apart = (rows[left][:, None] - learned.centres[None]) @ learned.whitening
        judged.append(learned.numbers[(apart**2).sum(-1).argmin(1)])
    expected = []
    for step in range(1, K + 1):  # the last labels no frame
        hit = sum(int(((a == step) & (b == step)).sum()) for a, b in zip(judged, labels, strict=True))
        have = [each for each in labels if step in each]
        total = sum(int((a == step).sum()) for a in (*judged, *labels))
        begun = [int((np.diff(np.concatenate([[-1], each])) != 0)[each == step].sum()) for each in have]
        once = sum(count == 1 for count in begun) / max(len(have), 1)
        expected.append((2 * hit / total if total else 0.0) * once * len(have) / 3)
    assert sense(rows, labels, K, settings) == pytest.approx(np.mean(expected))
