"""The loss benchmark at a tiny size: one part a device, the ratio among the figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from offline.study.benchmarks import losses
from offline.study.benchmarks.losses import measure_losses


def test_a_part_for_each_device() -> None:
    parts = measure_losses(videos=2, frames=4, width=8, repeats=1)
    assert len(parts) == (2 if torch.cuda.is_available() else 1)
    figures = {figure.name: figure for figure in parts[0].figures}
    assert figures["times faster than the literal loop"].least == 10.0
    assert all(figure.value > 0 for figure in figures.values())


def test_what_is_timed_is_the_same_value_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[float] = []
    timed = losses._best_time

    def keep(value: Callable[[], Tensor], embeddings: Tensor, repeats: int) -> float:
        values.append(float(value().detach()))
        return timed(value, embeddings, repeats)

    monkeypatch.setattr(losses, "_best_time", keep)
    losses.time_losses("cpu", videos=3, frames=8, width=16, repeats=1)
    batched, per_pair, literal = values
    assert per_pair == pytest.approx(batched, rel=1e-5)
    assert literal == pytest.approx(batched, rel=1e-5)
