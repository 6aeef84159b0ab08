"""Batches drawn ahead are those drawn when asked for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offline.batches import Batches, Clip
from offline.prefetch import PrefetchedBatches


def some_batches() -> Batches:
    rng = np.random.default_rng(0)
    clips = [
        Clip(rng.normal(size=(40, 3)).astype(np.float16), np.arange(40)[:, None], np.arange(40.0)) for _ in range(3)
    ]
    return Batches(clips, videos=2, frames=8, seed=1)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_each_iteration_gets_its_own_batch(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    batches = some_batches()
    with PrefetchedBatches(batches, torch.device(device)) as ahead:
        for iteration in (0, 1, 2, 7, 8):  # as after a resume, numbers may jump
            batch, expected = ahead.training(iteration), batches.training(iteration)
            assert batch.inputs.device.type == device
            assert torch.equal(batch.inputs.cpu(), expected.inputs.float())
            assert torch.equal(batch.steps.cpu(), expected.steps)
            assert torch.equal(batch.lengths.cpu(), expected.lengths)
