"""Acceptance of A and B on EgoProceL's real labels: the known no-vision rows at 2 fps and K = 7."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from guide.domain import Labels
from offline.metrics import Score, average, expected_random, protocol_a, protocol_b
from offline.metrics.protocols import ScoringProtocol
from offline.study.datasets.egoprocel_json import read_tasks, subset_of

SHARED = os.environ.get("CNC_SHARED_DATA")
K = 7

pytestmark = pytest.mark.skipif(SHARED is None, reason="CNC_SHARED_DATA does not point to the real data")


@pytest.fixture(scope="module")
def truths() -> dict[str, list[Labels]]:
    tasks = read_tasks(Path(str(SHARED)) / "egoprocel")
    return {name: [recording.labels(2.0) for recording in task.recordings] for name, task in tasks.items()}


def over_subsets(scores: dict[str, Score]) -> Score:
    """The mean over the six sub-sets of the means over their tasks."""
    subsets: dict[str, list[Score]] = defaultdict(list)
    for task, score in scores.items():
        subsets[subset_of(task)].append(score)
    return average([average(tasks) for tasks in subsets.values()])


def drawn(truth: list[Labels]) -> list[Labels]:
    rng = np.random.default_rng(0)
    return [rng.integers(1, K + 1, len(labels)) for labels in truth]


def split(truth: list[Labels]) -> list[Labels]:
    return [1 + np.arange(len(labels), dtype=np.int64) * K // len(labels) for labels in truth]


@pytest.mark.parametrize(
    ("protocol", "f1", "iou", "tolerance"),
    [(protocol_a, 40.2, 21.1, 0.1), (protocol_b, 50.8, 28.5, 0.1)],
)
def test_equal_split(
    truths: dict[str, list[Labels]], protocol: ScoringProtocol, f1: float, iou: float, tolerance: float
) -> None:
    score = over_subsets({task: protocol(truth, split(truth)) for task, truth in truths.items()})
    assert (100 * score.f1, 100 * score.iou) == pytest.approx((f1, iou), abs=tolerance)


def matched_to_absent_steps(truth: list[Labels], found: list[Labels]) -> Score:
    """B as it is usually computed: steps of the task that a recording lacks are matched too, such pairs then dropped.

    A label that shares no frame with a step left over may then go to an absent one and cost nothing.
    """
    steps = 1 + max(int(labels.max()) for labels in truth)
    figures = []
    for t, f in zip(truth, found, strict=True):
        shared = np.zeros((steps, K))
        np.add.at(shared, (t, f - 1), 1)
        i, j = linear_sum_assignment(shared, maximize=True)
        right, true, given = shared[i, j], shared.sum(1)[i], shared.sum(0)[j]
        there = true > 0
        figures.append([np.mean((right / over)[there]) for over in (given, np.maximum(true, 1), true + given - right)])
    precision, recall, iou = np.mean(figures, axis=0)
    return Score.of(float(precision), float(recall), float(iou))


def test_what_others_get_under_b(truths: dict[str, list[Labels]]) -> None:
    """The known 51.3 / 28.7, but for a tenth of F1."""
    score = over_subsets({task: matched_to_absent_steps(truth, split(truth)) for task, truth in truths.items()})
    assert (100 * score.f1, 100 * score.iou) == pytest.approx((51.2, 28.7), abs=0.06)


def test_random(truths: dict[str, list[Labels]]) -> None:
    a = over_subsets({task: protocol_a(truth, drawn(truth)) for task, truth in truths.items()})
    b = over_subsets({task: protocol_b(truth, drawn(truth)) for task, truth in truths.items()})
    assert (100 * a.f1, 100 * a.iou) == pytest.approx((14.8, 6.1), abs=0.2)
    assert 100 * b.f1 == pytest.approx(18.4, abs=0.3)


def test_the_expectation_of_random(truths: dict[str, list[Labels]]) -> None:
    """The match profits from chance: the drawn row stands one point above the limit of many frames."""
    limit = over_subsets({task: expected_random(truth, K, "A") for task, truth in truths.items()})
    assert 100 * limit.f1 == pytest.approx(14.8 - 0.9, abs=0.1)
