"""The random row worked out against the random row drawn."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Labels
from offline.metrics.expectation import expected_random
from offline.metrics.protocols import protocol_a, protocol_b, protocol_d, protocol_pooled
from offline.metrics.score import NOTHING, Score


def task(shares: tuple[float, ...], frames: int = 200_000) -> list[Labels]:
    """One recording in which class c fills shares[c] of the frames."""
    return [np.repeat(np.arange(len(shares), dtype=np.int64), [round(share * frames) for share in shares])]


def as_tuple(score: Score) -> tuple[float, ...]:
    return score.precision, score.recall, score.f1, score.iou


MIXES = [
    (0.5, 0.2, 0.15, 0.1, 0.05),
    (0.0, 0.4, 0.3, 0.2, 0.1),
    (0.3, 0.7),
]


@pytest.mark.parametrize("shares", MIXES)
@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_drawn_rows_come_near(shares: tuple[float, ...], k: int) -> None:
    truth = task(shares)
    found = [np.random.default_rng(k).integers(1, k + 1, len(truth[0]))]
    assert as_tuple(expected_random(truth, k, "A")) == pytest.approx(as_tuple(protocol_a(truth, found)), abs=0.006)
    assert as_tuple(expected_random(truth, k, "D")) == pytest.approx(as_tuple(protocol_d(truth, found)), abs=0.006)
    pooled = as_tuple(protocol_pooled(truth, found))
    assert as_tuple(expected_random(truth, k, "pooled")) == pytest.approx(pooled, abs=0.006)


def test_b_takes_every_recording_by_itself() -> None:
    truth = task(MIXES[0]) + task(MIXES[2])
    found = [np.random.default_rng(7).integers(1, 4, len(labels)) for labels in truth]
    assert as_tuple(expected_random(truth, 3, "B")) == pytest.approx(as_tuple(protocol_b(truth, found)), abs=0.006)
    assert as_tuple(expected_random(truth, 3, "A")) != pytest.approx(as_tuple(protocol_b(truth, found)), abs=0.02)


def test_by_hand() -> None:
    """Half background, one step; two labels. A: precisions 1/2, recalls 1/2, IoU 1/3. D: one step too many."""
    truth = task((0.5, 0.5), 10)
    assert as_tuple(expected_random(truth, 2, "A")) == pytest.approx((1 / 2, 1 / 2, 1 / 2, 1 / 3))
    assert as_tuple(expected_random(truth, 2, "D")) == pytest.approx((1 / 4, 1 / 4, 1 / 4, 1 / 6))
    # pooled: the label matched with the step is right on half of it; every frame has a label, half of them a step
    assert as_tuple(expected_random(truth, 2, "pooled")) == pytest.approx((1 / 4, 1 / 2, 1 / 3, 1 / 5))


def test_no_steps_nothing_to_expect() -> None:
    assert expected_random(task((1.0,), 10), 3, "D") == NOTHING
    assert expected_random([], 3, "A") == NOTHING
    assert expected_random([np.zeros(0, np.int64)], 3, "B") == NOTHING
    assert expected_random(task((1.0,), 10), 3, "pooled") == NOTHING
