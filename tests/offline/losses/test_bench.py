"""The bench compares the same value computed three ways."""

from __future__ import annotations

from offline.losses.bench import bench_loss


def test_batched_is_faster_than_the_loop_even_when_small() -> None:
    times = bench_loss("cpu", videos=3, frames=8, width=16, repeats=1)
    assert times.speedup > 2
    assert min(times.batched_s, times.per_pair_s, times.literal_s) > 0
