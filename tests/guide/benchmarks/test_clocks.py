"""Stopwatches add up, and cores are given back."""

from __future__ import annotations

import os

import pytest

from guide.benchmarks.clocks import Stopwatch, on_cores


def test_a_stopwatch_adds_up() -> None:
    watch = Stopwatch()
    with watch:
        pass
    once = watch.total
    with watch:
        sum(range(1000))
    assert watch.total.wall_s > once.wall_s >= 0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not bind threads to cores")
def test_cores_are_given_back_after_an_error() -> None:
    before = os.sched_getaffinity(0)
    with on_cores(1) as chosen:
        assert chosen == len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
    with pytest.raises(ZeroDivisionError), on_cores(1):
        _fail()
    assert os.sched_getaffinity(0) == before


def _fail() -> None:
    raise ZeroDivisionError
