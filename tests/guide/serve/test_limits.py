"""Limits: none that would let nothing in, and a rate that holds over any stretch of time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.serve.limits import Limits, RateLimiter


@pytest.mark.parametrize(
    "wrong", [{"most_clients": 0}, {"most_rate": 0.0}, {"most_rate": float("nan")}, {"in_flight": 0}]
)
def test_limits_that_let_nothing_in_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Limits(**wrong)


@settings(derandomize=True, deadline=None)
@given(st.floats(0.5, 100), st.lists(st.floats(0, 0.5), min_size=1, max_size=200))
def test_no_more_pass_than_the_rate_and_one_second_allow(rate: float, pauses: list[float]) -> None:
    now = [0.0]
    limiter = RateLimiter(rate, lambda: now[0])
    passed = 0
    for pause in pauses:
        now[0] += pause
        passed += limiter.take()
    assert passed <= rate * now[0] + max(1.0, rate) + 1e-6


def test_one_who_keeps_to_the_rate_is_never_refused() -> None:
    now = [0.0]
    limiter = RateLimiter(5.0, lambda: now[0])
    for _ in range(100):
        now[0] += 0.2
        assert limiter.take()
