"""Times of live frames: they only go forward, keep the stamps' spacing and outlive every jump."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.ingest.clock import LEAP_S, STEP_S, CaptureClock, SteadyClock

anything = st.floats(allow_nan=True, allow_infinity=True)
steps_s = st.floats(0.0, 5.0)


@given(st.lists(st.tuples(steps_s, st.none() | anything), min_size=1, max_size=40))
@settings(derandomize=True, deadline=None)
def test_moments_increase_whatever_the_stamps_say(shots: list[tuple[float, float | None]]) -> None:
    clock, now = CaptureClock(), 100.0
    moments, arrivals = [], []
    for step_s, stamp in shots:
        now += step_s
        moments.append(clock.push(now, stamp))
        arrivals.append(now)
    assert all(a < b for a, b in itertools.pairwise(moments))
    # Never later than the arrival, but for the least distance between frames that came at one moment.
    assert all(moment <= at + STEP_S * len(shots) + 1e-4 for moment, at in zip(moments, arrivals, strict=True))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
@settings(derandomize=True, deadline=None)
def test_a_steady_clock_never_goes_back_nor_leaps(readings: list[float]) -> None:
    left = iter(readings)
    clock = SteadyClock(lambda: next(left))
    told = [clock() for _ in readings]
    assert all(0 <= b - a <= LEAP_S + 1e-6 for a, b in itertools.pairwise(told))


def test_a_clock_without_leaps_is_left_alone() -> None:
    left = iter([5.0, 5.5, 50.0])
    clock = SteadyClock(lambda: next(left))
    assert [clock() for _ in range(3)] == [5.0, 5.5, 50.0]
    assert clock.leaps == 0


def test_without_stamps_the_time_of_arrival_counts() -> None:
    clock = CaptureClock()
    assert [clock.push(now) for now in (3.0, 3.2, 3.2, 3.1)] == [3.0, 3.2, 3.2 + STEP_S, 3.2 + STEP_S + STEP_S]


def test_the_stamps_spacing_outlives_a_jerky_network() -> None:
    stamps = np.arange(200) / 20
    late = np.random.default_rng(0).uniform(0.05, 0.6, 200)  # each frame arrives this much later than it was taken
    arrivals = np.maximum.accumulate(500 + stamps + late)
    clock = CaptureClock()
    moments = [clock.push(now, stamp) for now, stamp in zip(arrivals, stamps, strict=True)]
    np.testing.assert_allclose(np.diff(moments[60:]), 0.05, atol=0.02)  # arrivals jitter by half a second
    assert clock.resets == 0


def test_a_slow_quartz_does_not_look_like_lateness() -> None:
    clock = CaptureClock()
    for second in range(7200):
        clock.push(float(second), second * (1 - 2e-4))  # loses 1.4 s in two hours
    assert clock.behind_s < 0.01
    assert clock.resets == 0


def test_lateness_is_measured() -> None:
    clock = CaptureClock()
    clock.push(10.0, 0.0)
    clock.push(14.0, 1.0)
    assert clock.behind_s == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize("stamp", [-3600.0, -0.04, 3600.0], ids=["back", "a little back", "ahead"])
def test_a_jump_is_tied_to_the_time_of_arrival(stamp: float) -> None:
    clock = CaptureClock()
    clock.push(10.0, 0.0)
    assert clock.push(10.1, stamp) == pytest.approx(10.1)
    assert clock.resets == 1


def test_a_stamp_that_comes_twice_is_no_jump() -> None:
    clock = CaptureClock()
    moments = [clock.push(now, stamp) for now, stamp in ((10.0, 5.0), (10.1, 5.1), (10.2, 5.1), (10.3, 5.2))]
    assert moments == pytest.approx([10.0, 10.1, 10.1 + STEP_S, 10.2], abs=5e-4)
    assert clock.resets == 0


def test_a_device_opened_anew_may_count_from_anywhere_without_a_word() -> None:
    clock = CaptureClock()
    clock.push(10.0, 700.0)
    clock.reopen()
    assert clock.push(20.0, 3.0) == pytest.approx(20.0)
    assert clock.resets == 0
