"""Batches depend on the seed and the iteration alone, and hold-out frames are never trained on."""

from __future__ import annotations

import numpy as np
import torch

from offline.batches import HELD_OUT_EVERY, Batches, Clip


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


def test_a_batch_is_what_rows_gives_whatever_the_type() -> None:
    for kind in (np.float16, np.float32):
        clips = [Clip(clip.inputs.astype(kind), clip.context, clip.steps) for clip in CLIPS]
        batch = Batches(clips, 3, 8, seed=1).training(0).to(torch.device("cpu"))
        assert batch.inputs.dtype == torch.float32
        for inputs, steps in zip(batch.inputs, batch.steps, strict=True):
            number = int(inputs[0, 0, 0] // 100)
            assert torch.equal(inputs, clips[number].rows(steps.numpy().astype(np.int64)))


def test_clips_of_two_types_share_a_batch() -> None:
    wide = Clip(CLIPS[1].inputs.astype(np.float32), CLIPS[1].context, CLIPS[1].steps)
    mixed, plain = Batches([CLIPS[0], wide], 2, 8, seed=1), Batches(CLIPS[:2], 2, 8, seed=1)
    assert torch.equal(mixed.training(0).inputs, plain.training(0).inputs.float())
