"""Seeded batches of frames: what iteration n sees depends on the seed and n alone, so a resumed run sees the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

HELD_OUT_EVERY = 8  # every eighth frame of a recording is never trained on: enough to watch convergence
FEWEST_FRAMES = 2 * HELD_OUT_EVERY  # of a recording: two of them are left to watch convergence on
_TRAIN, _HELD_OUT = 0, 1


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording as training sees it.

    >>> Clip(np.zeros((4, 3), np.float32), np.array([[0, 0], [0, 1], [1, 2], [2, 3]]), np.arange(4.0)).length
    4.0
    """

    inputs: NDArray[Any]  # (T, ...) trunk maps or features, float16 or float32, perhaps memory-mapped
    context: NDArray[np.int64]  # (T, c) which rows each embedding sees, oldest first
    steps: NDArray[np.float64]  # (T,) frame positions at the working rate

    @property
    def length(self) -> float:
        """Frames at the working rate."""
        return float(self.steps[-1]) + 1.0

    def rows(self, chosen: NDArray[np.int64]) -> Tensor:
        """Network input of the chosen frames, (N, c, ...) float32."""
        wanted = self.context[chosen]
        unique, back = np.unique(wanted, return_inverse=True)
        return torch.from_numpy(np.asarray(self.inputs[unique], dtype=np.float32)[back.reshape(wanted.shape)])

    def copy_rows(self, chosen: NDArray[np.int64], place: NDArray[Any]) -> None:
        """Copies what `rows` gives into place (N, c, ...), of this or a wider type, and touches nothing twice."""
        flat = place.reshape(-1, *place.shape[2:])
        if flat.dtype == self.inputs.dtype:
            # Clipping is for speed: with the check for indices out of bounds numpy copies twice.
            np.take(self.inputs, self.context[chosen].reshape(-1), axis=0, out=flat, mode="clip")
        else:
            flat[:] = self.inputs[self.context[chosen].reshape(-1)]


@dataclass(frozen=True, slots=True)
class Batch:
    """Frames of V videos: inputs (V, N, c, ...), their positions (V, N) and the videos' lengths (V,)."""

    inputs: Tensor  # as they are cached, float16 or float32, until they are on the device
    steps: Tensor
    lengths: Tensor

    def to(self, device: torch.device) -> Batch:
        """On the device, inputs in float32."""
        return self.send(device).float()

    def send(self, device: torch.device) -> Batch:
        """On the device as it is; from pinned memory this does not wait for the copy."""
        parts = (part.to(device, non_blocking=True) for part in (self.inputs, self.steps, self.lengths))
        return Batch(*parts)

    def float(self) -> Batch:
        """With inputs in float32."""
        return Batch(self.inputs.float(), self.steps, self.lengths)


class Batches:
    """Draws batches from clips.

    >>> clip = Clip(np.zeros((32, 3), np.float32), np.arange(32)[:, None], np.arange(32.0))
    >>> Batches([clip, clip], videos=5, frames=8, seed=0).training(0).inputs.shape
    torch.Size([2, 8, 1, 3])
    """

    def __init__(self, clips: Sequence[Clip], videos: int, frames: int, seed: int) -> None:
        self._clips = tuple(clips)
        self._videos = min(videos, len(self._clips))
        self._seed = seed
        numbers = [np.arange(len(clip.steps)) for clip in self._clips]
        self._held_out = [n[n % HELD_OUT_EVERY == HELD_OUT_EVERY - 1] for n in numbers]
        self._training = [n[n % HELD_OUT_EVERY != HELD_OUT_EVERY - 1] for n in numbers]
        self._frames = min(frames, *(len(pool) for pool in self._training))
        self._held_out_frames = min(frames, *(len(pool) for pool in self._held_out))

    def training(self, iteration: int, is_pinned: bool = False) -> Batch:
        """The batch of one iteration; `is_pinned` has it in memory that a GPU reads by itself."""
        rng = np.random.default_rng((self._seed, _TRAIN, iteration))
        return self._draw(self._training, self._frames, rng, is_pinned)

    def held_out(self, count: int = 4) -> tuple[Batch, ...]:
        """The batches convergence is watched on, the same at every look."""
        rngs = [np.random.default_rng((self._seed, _HELD_OUT, number)) for number in range(count)]
        return tuple(self._draw(self._held_out, self._held_out_frames, rng) for rng in rngs)

    def _draw(
        self, pools: list[NDArray[np.int64]], frames: int, rng: np.random.Generator, is_pinned: bool = False
    ) -> Batch:
        chosen = rng.choice(len(self._clips), size=self._videos, replace=False)
        clips = [self._clips[number] for number in chosen]
        picked = [np.sort(rng.choice(pools[number], size=frames, replace=False)) for number in chosen]
        inputs = self._room(frames, is_pinned)
        for clip, rows, place in zip(clips, picked, inputs.numpy(), strict=True):
            clip.copy_rows(rows, place)
        steps = np.stack([clip.steps[rows] for clip, rows in zip(clips, picked, strict=True)])
        lengths = torch.tensor([clip.length for clip in clips], dtype=torch.float64)
        parts = (torch.from_numpy(steps), lengths)
        return Batch(inputs, *(part.pin_memory() if is_pinned else part for part in parts))

    def _room(self, frames: int, is_pinned: bool) -> Tensor:
        """Memory for the inputs (V, N, c, ...) of a batch; half as much where all clips are cached in float16."""
        first = self._clips[0]
        is_half = all(clip.inputs.dtype == np.float16 for clip in self._clips)
        shape = (self._videos, frames, first.context.shape[1], *first.inputs.shape[1:])
        return torch.empty(shape, dtype=torch.float16 if is_half else torch.float32, pin_memory=is_pinned)
