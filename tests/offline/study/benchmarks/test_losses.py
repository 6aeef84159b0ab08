"""The loss bench at a tiny size: one part a device, the ratio among the figures."""

from __future__ import annotations

import torch

from offline.study.benchmarks.losses import measure_losses


def test_a_part_for_each_device() -> None:
    parts = measure_losses(videos=2, frames=4, width=8, repeats=1)
    assert len(parts) == (2 if torch.cuda.is_available() else 1)
    figures = {figure.name: figure for figure in parts[0].figures}
    assert figures["times faster than the literal loop"].least == 10.0
    assert all(figure.value > 0 for figure in figures.values())
