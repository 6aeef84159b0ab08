"""What a bundle says of trust: written and read back, hostile arrays refused, steps that look otherwise told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from guide.domain import UNKNOWN, StepEvent, StepState
from guide.errors import BundleError
from guide.label.confidence import Calibration
from guide.label.limits import Judge, Judgement
from guide.label.manner import Manners
from guide.label.recogniser import Recogniser

PLAIN = Recogniser(np.zeros(2), np.eye(2), np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0, 1]), 9.0, 1.0)
FULL = Judgement(Calibration(0.5, 0.1), Calibration(2.0, -1.0), np.ones(2), 3.0, ((1, 2.0),))
MANNERS = Manners(np.array([[1.0], [0.0]]), np.array([1]), np.array([[[4.0], [4.5], [5.0]]]))
MANNERED = replace(FULL, far=50.0, own=((1, 40.0),), manners=MANNERS, manner_limits=((1, 0.5),))


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


def test_manners_come_back_too_and_bundles_without_them_are_silent_about_them() -> None:
    read = Judgement.from_arrays(MANNERED.to_arrays(), PLAIN)
    assert read.manner_limits == MANNERED.manner_limits
    assert read.manners is not None
    np.testing.assert_array_equal(read.manners.usual, MANNERS.usual)
    before = Judgement.from_arrays(FULL.to_arrays(), PLAIN)
    assert (before.manners, before.manner_limits) == (None, ())


@pytest.mark.parametrize(
    "spoilt",
    [
        {"manner_limits": np.array([[9.0, 1.0]])},
        {"manner_limits": np.array([[1.0, 0.0]])},
        {"manner_directions": np.ones((3, 1))},
        {"manner_usual": np.full((1, 3, 1), np.nan)},
    ],
    ids=str,
)
def test_spoilt_manners_are_refused(spoilt: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match=r"export it again\.$"):
        Judgement.from_arrays({**MANNERED.to_arrays(), **spoilt}, PLAIN)


@pytest.mark.parametrize("lacking", ["manner_directions", "manner_numbers", "manner_usual"])
def test_half_of_the_manners_is_refused(lacking: str) -> None:
    arrays = MANNERED.to_arrays()
    del arrays[lacking]
    with pytest.raises(BundleError, match=lacking):
        Judgement.from_arrays(arrays, PLAIN)


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


def test_a_look_that_is_known_is_not_taken_again() -> None:
    costs, places = np.array([0.1, 0.9, 1.0]), [np.full(2, far, np.float32) for far in (0.0, 3.0, 30.0)]
    one, two = Judge(PLAIN, FULL), Judge(PLAIN, FULL)
    for second, place in enumerate(places):
        known = PLAIN.along(place[None])
        np.testing.assert_array_equal(one.push(place, costs, second), two.push(place, costs, second, known))


def follow(judge: Judge, places: Sequence[float], strange: Sequence[int] = ()) -> float | None:
    """The ratio of a step that is seen at these places, one a second; at some moments the camera is covered."""
    for at, x in enumerate(places):
        row = np.array([x, 1e4 if at in strange else 0.0])
        judge.push(row, np.array([0.5, 0.5, 0.0 if at in strange else 1.0]), float(at))
    judge.hear(event(1.0, "confirmed", 0.0))
    return judge.hear(event(len(places), "ended", 0.0, float(len(places) - 1)))


def test_a_step_done_the_other_way_round_is_told_though_it_looks_the_same() -> None:
    usual, backwards = [4.0, 4.0, 4.5, 4.5, 5.0, 5.0], [5.0, 5.0, 4.5, 4.5, 4.0, 4.0]
    seen, other = follow(Judge(PLAIN, MANNERED), usual), follow(Judge(PLAIN, MANNERED), backwards)
    assert seen is not None
    assert seen < 0.5
    assert other == pytest.approx(np.sqrt(2 / 3) / 0.5)


def test_unknown_moments_are_no_part_of_a_step_and_what_looks_back_on_them_neither() -> None:
    places = [4.0, 4.0, 4.5, 4.5, 5.0, 5.0]
    forgetful = Judge(PLAIN, MANNERED, memory_s=0.01)  # features that hold nothing of the second before
    assert follow(forgetful, [4.0, 4.0, 9.0, 4.5, 5.0, 5.0], strange=(2,)) == pytest.approx(
        0.5 / np.sqrt(12) / 0.5, abs=0.3
    )
    assert follow(Judge(PLAIN, MANNERED, memory_s=20.0), places, strange=(2,)) is None
