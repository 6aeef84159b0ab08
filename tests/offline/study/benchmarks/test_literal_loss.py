"""The bench times three ways to the same value."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor

from offline.study.benchmarks import literal_loss as bench


def test_what_is_timed_is_the_same_value_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[float] = []
    timed = bench._best_time

    def keep(value: Callable[[], Tensor], embeddings: Tensor, repeats: int) -> float:
        values.append(float(value().detach()))
        return timed(value, embeddings, repeats)

    monkeypatch.setattr(bench, "_best_time", keep)
    times = bench.bench_loss("cpu", videos=3, frames=8, width=16, repeats=1)
    batched, per_pair, literal = values
    assert per_pair == pytest.approx(batched, rel=1e-5)
    assert literal == pytest.approx(batched, rel=1e-5)
    assert times.speedup == times.literal_s / times.batched_s
