"""Batches depend on the seed and the iteration alone, and hold-out frames are never trained on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offline.batches import HELD_OUT_EVERY, Batch, Batches, Clip, restore


def make_clip(frames: int, offset: float) -> Clip:
    numbers = np.arange(frames)
    inputs = (offset + numbers[:, None]).astype(np.float16)
    return Clip(inputs, np.stack([np.maximum(numbers - 2, 0), numbers], axis=1), numbers.astype(np.float64))


CLIPS = [make_clip(40, 0.0), make_clip(64, 100.0), make_clip(50, 200.0)]


def test_the_same_iteration_gives_the_same_batch() -> None:
    one, two = Batches(CLIPS, 2, 8, seed=3), Batches(CLIPS, 2, 8, seed=3)
    two.training(0)
    assert torch.equal(one.training(5).inputs, two.training(5).inputs)
    assert not torch.equal(one.training(5).inputs, one.training(6).inputs)


def test_rows_show_the_context_oldest_first() -> None:
    rows = CLIPS[1].rows(np.array([0, 1, 5]))
    assert rows[:, :, 0].tolist() == [[100, 100], [100, 101], [103, 105]]
    assert rows.dtype == torch.float32


def test_held_out_frames_are_never_trained_on() -> None:
    batches = Batches(CLIPS, 3, 64, seed=0)
    trained = {int(step) for n in range(30) for step in batches.training(n).steps.flatten()}
    watched = {int(step) for batch in batches.held_out() for step in batch.steps.flatten()}
    assert trained.isdisjoint(watched)
    assert {step % HELD_OUT_EVERY for step in watched} == {HELD_OUT_EVERY - 1}


@pytest.mark.parametrize(("videos", "world"), [(5, 2), (4, 2), (3, 4), (7, 3), (2, 1)])
def test_parts_of_all_processes_make_the_batch(videos: int, world: int) -> None:
    batch = Batch(torch.arange(videos)[:, None], torch.arange(videos)[:, None], torch.arange(videos))
    parts = [batch.part(rank, world) for rank in range(world)]
    assert len({len(part.lengths) for part in parts}) == 1
    assert restore([part.inputs for part in parts], videos)[:, 0].tolist() == list(range(videos))
