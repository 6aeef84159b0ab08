"""How much sense labels make is a literal count: nothing where nothing is found, all of it for a clear task."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Labels
from guide.teach.refine import RefineSettings
from offline.keysteps.consistency import sense
from tests.plain_discriminant import fit_discriminant

K = 3


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


def test_sense_of_all_of_a_task_of_some_and_of_none() -> None:
    rng = np.random.default_rng(7)
    looks = 9 * np.eye(K + 1)
    labels: list[Labels] = [np.repeat(np.array([0, *order, 0]), 9) for order in ([1, 2, 3], [2, 1, 3], [1, 2, 3])]
    rows = [looks[each] + rng.normal(0, 0.5, (len(each), K + 1)) for each in labels]
    settings = RefineSettings()
    assert sense(rows, labels, K, settings) > 0.99
    without_one = [np.where(each == 2, 0, each) for each in labels]
    assert sense(rows, without_one, K, settings) < 0.67
    assert sense(rows, [np.zeros_like(each) for each in labels], K, settings) == 0.0
