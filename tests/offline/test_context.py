"""The context: what a plain look back over the past chooses, by time and never by count."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.perceive.pace import Pace
from offline.context import context_indices


def plain_indices(times: list[float], count: int, stride_s: float, rate: float) -> list[list[int]]:
    """Frame by frame: the newest that is old enough, or the first; a clock that goes back stands still."""
    at = list(accumulate(times, max))
    found = []
    for now in range(len(at)):
        ages = [max(0.0, k * stride_s - 1 / (3 * rate)) for k in range(count - 1, 0, -1)]
        found.append([max((n for n in range(now + 1) if at[n] <= at[now] - age), default=0) for age in ages] + [now])
    return found


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    source=st.sampled_from([5.0, 10.0, 24.0, 29.97, 30.0, 59.94]),
    rate=st.sampled_from([2.0, 5.0, 9.1, 10.0, 29.97]),
    count=st.integers(1, 4),
    stride_s=st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.37]),
    dropped=st.sets(st.integers(0, 150)),
    milliseconds=st.booleans(),
)
def test_the_choice_is_the_plain_one_at_odd_rates_with_dropped_frames(
    source: float, rate: float, count: int, stride_s: float, dropped: set[int], milliseconds: bool
) -> None:
    pace = Pace(rate)
    all_times = [round(n / source, 3) if milliseconds else n / source for n in range(150) if n not in dropped]
    times = [at for at in all_times if pace.push(at)]
    found = context_indices(np.array(times), count, stride_s, rate)
    assert found.shape == (len(times), count)
    assert found.tolist() == plain_indices(times, count, stride_s, rate)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    gaps=st.lists(st.floats(-0.3, 1.5), min_size=1, max_size=50),
    count=st.integers(1, 4),
    stride_s=st.floats(0.0, 2.0),
    rate=st.floats(0.5, 30.0),
)
def test_the_choice_is_the_plain_one_on_any_times_even_going_back(
    gaps: list[float], count: int, stride_s: float, rate: float
) -> None:
    times = np.cumsum([0.0, *gaps])
    found = context_indices(times, count, stride_s, rate)
    assert found.tolist() == plain_indices(times.tolist(), count, stride_s, rate)


@pytest.mark.parametrize("source", [10.0, 29.97, 30.0, 59.94])
@pytest.mark.parametrize("rate", [2.0, 5.0])
def test_jitter_does_not_shift_the_choice(source: float, rate: float) -> None:
    pace = Pace(rate)
    times = np.array([at for at in (number / source for number in range(6000)) if pace.push(at)])
    back = np.arange(len(times)) - context_indices(times, 2, 1.0, rate)[:, 0]
    assert set(back[int(rate) :]) == {int(rate)}


def test_dropped_frames_do_not_shift_it_in_time() -> None:
    times = np.delete(np.arange(40) / 10, [11, 12, 13, 25])
    chosen = times[context_indices(times, 2, 0.5, 10.0)[:, 0]]
    later = times >= 0.5
    ages = (times - chosen)[later]
    assert (ages >= 0.5 - 1 / 30).all()
    assert (ages <= 0.9).all()


def test_at_the_start_the_first_is_repeated() -> None:
    found = context_indices(np.arange(1000) / 10, count=3, stride_s=0.5, rate=10.0).tolist()
    assert (found[0], found[7], found[999]) == ([0, 0, 0], [0, 2, 7], [989, 994, 999])


@pytest.mark.parametrize(("count", "stride_s", "rate"), [(0, 1.0, 1.0), (2, -1.0, 1.0), (2, 1.0, 0.0)])
def test_senseless_settings_are_refused(count: int, stride_s: float, rate: float) -> None:
    with pytest.raises(ValueError, match="context needs"):
        context_indices(np.zeros(3), count, stride_s, rate)


def test_no_times_no_context() -> None:
    assert context_indices(np.zeros(0), 2, 0.5, 2.0).shape == (0, 2)
