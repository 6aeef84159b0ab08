"""What a bundle says of trust: written and read back, hostile arrays refused, steps that look otherwise told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guide.domain import UNKNOWN, StepEvent, StepState
from guide.errors import BundleError
from guide.label.confidence import Calibration
from guide.label.judgement import Judge, Judgement
from guide.label.recogniser import Recogniser

PLAIN = Recogniser(np.zeros(2), np.eye(2), np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0, 1]), 9.0, 1.0)
FULL = Judgement(Calibration(0.5, 0.1), Calibration(2.0, -1.0), np.ones(2), 3.0, ((1, 2.0),))


def event(at: float, state: StepState, start: float, end: float | None = None, step: int = 1) -> StepEvent:
    return StepEvent(at, step, state, start, end, 0.9)


def test_it_comes_back_as_it_was_written() -> None:
    read = Judgement.from_arrays(FULL.to_arrays(), PLAIN)
    assert (read.labels, read.steps, read.far, read.own) == (FULL.labels, FULL.steps, FULL.far, FULL.own)
    assert read.scale is not None
    assert read.scale.tolist() == [1.0, 1.0]


def test_bundles_of_before_mean_what_they_meant() -> None:
    read = Judgement.from_arrays(PLAIN.to_arrays(), PLAIN)
    assert (read.labels, read.steps, read.far, read.own) == (Calibration(), Calibration(), None, ())
    costs = np.array([0.3, 0.8, 0.9])
    assert Judge(PLAIN, read).push(np.full(2, 1e3, np.float32), costs, 0.0) is costs


@pytest.mark.parametrize(
    "spoilt",
    [
        {"confidence": np.ones(4)},
        {"confidence": np.array([[0.0, 0.0], [1.0, 0.0]])},
        {"confidence": np.array([[1e9, 0.0], [1.0, 0.0]])},
        {"confidence": np.array([["a", "b"], ["c", "d"]])},
        {"far": np.array([0.0])},
        {"far": np.array([1.0, 2.0])},
        {"far": np.array([np.inf])},
        {"scale": np.ones(3)},
        {"scale": np.array([1.0, 0.0])},
        {"scale": np.array([1.0, np.nan])},
        {"own": np.array([[9.0, 1.0]])},
        {"own": np.array([[1.0, -1.0]])},
        {"own": np.array([1.0, 1.0])},
        {"own": np.ones((1, 3))},
    ],
    ids=str,
)
def test_damaged_or_hostile_limits_are_refused(spoilt: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match=r"export it again\.$"):
        Judgement.from_arrays({**FULL.to_arrays(), **spoilt}, PLAIN)


@pytest.mark.parametrize("lacking", ["scale", "own"])
def test_half_of_the_limits_is_refused(lacking: str) -> None:
    arrays = FULL.to_arrays()
    del arrays[lacking]
    with pytest.raises(BundleError, match=lacking):
        Judgement.from_arrays(arrays, PLAIN)


def test_a_step_is_as_far_as_its_moments_are_on_average() -> None:
    judge = Judge(PLAIN, FULL)
    for at, x in enumerate((4.0, 7.0, 9.0, 100.0)):  # 0, 3 and 5 from its centre; the last belongs to it no more
        judge.push(np.array([x, 0.0]), np.array([0.5, 0.5, 1.0]), float(at))
    assert judge.hear(event(1.0, "confirmed", 0.0)) is None
    assert judge.hear(event(3.0, "ended", 0.0, 2.0)) == pytest.approx((0 + 3 + 5) / 3 / 2.0)


def test_what_was_never_confirmed_or_has_no_limit_is_not_judged() -> None:
    judge = Judge(PLAIN, FULL)
    judge.push(np.array([40.0, 0.0]), np.array([0.5, 0.5, 1.0]), 0.0)
    assert judge.hear(event(1.0, "ended", 0.0, 0.0)) is None
    for step in (0, UNKNOWN, 7):
        assert judge.hear(event(1.0, "confirmed", 0.0, step=step)) is None
        assert judge.hear(event(2.0, "ended", 0.0, 0.0, step=step)) is None


def test_what_stays_far_becomes_unknown() -> None:
    judge, costs = Judge(PLAIN, FULL), np.array([0.1, 0.9, 1.0])
    known = judge.push(np.zeros(2), costs, 0.0)
    strange = [judge.push(np.array([0.0, 30.0]), costs, at / 5) for at in range(1, 8)]
    assert known[-1] > 0.99
    assert strange[-1][-1] < 0.01
    np.testing.assert_allclose((1 - strange[-1]).sum(), 1.0)
