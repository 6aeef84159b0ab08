"""The capacity model and the simulation of queues: sizes that follow from costs, and queues that behave like queues."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guide.benchmarks.capacity_model import BUSY, IN_FLIGHT, Costs, needs, simulate, walls

COSTS = Costs(0.030, 0.025, 0.0004, 25e3, 250e6, 6e6, 12.0, 2.5, write_s=0.003, gpu_rate=1000.0)


@given(headsets=st.integers(1, 10_000), rate=st.floats(0.2, 15))
def test_twice_as_many_headsets_need_twice_as_much(headsets: int, rate: float) -> None:
    one, two = needs(headsets, rate, COSTS), needs(2 * headsets, rate, COSTS)
    for name in (
        "replica_cores",
        "gateway_cores",
        "gpus",
        "gpu_cores",
        "network_bytes",
        "rows",
        "writes",
        "connections",
    ):
        assert getattr(two, name) == pytest.approx(2 * getattr(one, name))
    assert one.memory_bytes <= two.memory_bytes <= 2 * one.memory_bytes
    assert one.replicas >= one.replica_cores, "a replica is a core"


def test_a_wall_is_where_the_model_says_busy() -> None:
    found = dict(walls(5.0, COSTS))
    assert list(found.values()) == sorted(found.values())
    assert needs(round(found["one gateway, which is one core"]), 5.0, COSTS).gateway_cores == pytest.approx(1, rel=0.01)
    machines = needs(round(found["a machine's connection, before writes are merged"]), 5.0, COSTS).connections
    assert machines == pytest.approx(1, rel=0.01)


@given(
    arrivals=st.lists(st.lists(st.floats(0, 20), max_size=40).map(sorted), min_size=1, max_size=8),
    replicas=st.integers(1, 4), frame_s=st.floats(0, 2),
)  # fmt: skip
def test_every_frame_is_replied_to_or_not_sent_and_no_reply_comes_too_soon(
    arrivals: list[list[float]], replicas: int, frame_s: float
) -> None:
    replies, unsent = simulate(arrivals, replicas, frame_s)
    assert len(replies) + unsent == sum(map(len, arrivals))
    assert all(0.8 * frame_s - 1e-9 <= one for one in replies)
    most = 1.2 * frame_s * IN_FLIGHT * -(-len(arrivals) // replicas)
    assert all(one <= most + 1e-9 for one in replies), "no more wait than may be in flight"


@pytest.mark.parametrize(("load", "is_prompt"), [(BUSY, True), (1.5, False)])
def test_queues_stay_short_below_the_limit_and_not_above(load: float, is_prompt: bool) -> None:
    headsets, rate, frame_s = 20, 5.0, 0.002
    rate = load / (headsets * frame_s)
    arrivals = [[number / headsets / rate + tick / rate for tick in range(400)] for number in range(headsets)]
    replies, unsent = simulate(arrivals, 1, frame_s)
    assert (unsent == 0 and sorted(replies)[-20] < 5 * frame_s) is is_prompt


def test_a_headset_alone_waits_for_nobody() -> None:
    replies, unsent = simulate([[float(tick) for tick in range(50)]], 1, 0.1)
    assert unsent == 0
    assert all(0.08 <= one <= 0.12 for one in replies)
