"""The working rate, worked by hand and by property."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.perceive.pace import Pace


def taken(times: list[float], rate: float) -> list[int]:
    pace = Pace(rate)
    return [number for number, at in enumerate(times) if pace.push(at)]


@pytest.mark.parametrize(
    ("source", "rate", "count"),
    [(30.0, 2.0, 60), (29.97, 2.0, 60), (59.94, 5.0, 150), (25.0, 10.0, 300), (7.0, 2.0, 60)],
)
def test_frames_per_second_come_out_true(source: float, rate: float, count: int) -> None:
    times = [number / source for number in range(int(30 * source))]
    assert abs(len(taken(times, rate)) - count) <= 1


@pytest.mark.parametrize("source", [29.97, 30.0, 59.94])
def test_the_sources_own_rate_takes_every_frame_even_in_rounded_milliseconds(source: float) -> None:
    times = [round(number / source, 3) for number in range(2000)]
    assert len(taken(times, source)) == 2000


def test_a_source_slower_than_the_rate_gives_all_it_has() -> None:
    assert taken([0.0, 0.4, 0.8, 1.2], rate=10.0) == [0, 1, 2, 3]


def test_missed_ticks_are_not_made_up_for() -> None:
    assert taken([0.0, 5.0, 5.1, 5.2, 5.5], rate=2.0) == [0, 1, 4]


def test_ticks_start_at_the_first_frame() -> None:
    pace = Pace(1.0)
    assert [pace.push(at) for at in (3.7, 4.0, 4.7)] == [True, False, True]


@pytest.mark.parametrize("rate", [0.0, -2.0, float("nan"), float("inf")])
def test_a_senseless_rate_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="positive number"):
        Pace(rate)


@settings(derandomize=True, deadline=None)
@given(
    gaps=st.lists(st.floats(0.0, 2.0), min_size=1, max_size=60),
    rate=st.floats(0.2, 60.0),
    start=st.floats(0.0, 100.0),
)
def test_at_most_one_frame_a_tick_and_none_is_passed_over(gaps: list[float], rate: float, start: float) -> None:
    times = (start + np.cumsum([0.0, *gaps])).tolist()
    early = min(1e-3, 0.25 / rate)
    ticks = [int(np.floor((at - times[0] + early) * rate)) for at in times]
    first_of_each_tick = [number for number in range(len(times)) if number == 0 or ticks[number] > ticks[number - 1]]
    assert taken(times, rate) == first_of_each_tick
