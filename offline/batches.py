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


@dataclass(frozen=True, slots=True)
class Batch:
    """Frames of V videos: inputs (V, N, c, ...), their positions (V, N) and the videos' lengths (V,)."""

    inputs: Tensor
    steps: Tensor
    lengths: Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(self.inputs.to(device), self.steps.to(device), self.lengths.to(device))

    def part(self, rank: int, world: int) -> Batch:
        """The videos of one process, as many for each: the last are padded with the first."""
        chosen = _shares(len(self.lengths), world)[rank]
        return Batch(self.inputs[chosen], self.steps[chosen], self.lengths[chosen])


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

    def training(self, iteration: int) -> Batch:
        """The batch of one iteration."""
        return self._draw(self._training, self._frames, np.random.default_rng((self._seed, _TRAIN, iteration)))

    def held_out(self, count: int = 4) -> tuple[Batch, ...]:
        """The batches convergence is watched on, the same at every look."""
        rngs = [np.random.default_rng((self._seed, _HELD_OUT, number)) for number in range(count)]
        return tuple(self._draw(self._held_out, self._held_out_frames, rng) for rng in rngs)

    def _draw(self, pools: list[NDArray[np.int64]], frames: int, rng: np.random.Generator) -> Batch:
        chosen = rng.choice(len(self._clips), size=self._videos, replace=False)
        rows, steps, lengths = [], [], []
        for number in chosen:
            picked = np.sort(rng.choice(pools[number], size=frames, replace=False))
            rows.append(self._clips[number].rows(picked))
            steps.append(torch.from_numpy(self._clips[number].steps[picked]))
            lengths.append(self._clips[number].length)
        return Batch(torch.stack(rows), torch.stack(steps), torch.tensor(lengths, dtype=torch.float64))


def restore(parts: Sequence[Tensor], videos: int) -> Tensor:
    """The videos of all processes' parts in their first order, padding dropped: the inverse of `Batch.part`."""
    stacked = torch.cat(list(parts))
    order = [number for share in _shares(videos, len(parts)) for number in share]
    return stacked[[order.index(number) for number in range(videos)]]


def _shares(videos: int, world: int) -> list[list[int]]:
    each = -(-videos // world)
    padded = [number % videos for number in range(each * world)]
    return [padded[rank * each : (rank + 1) * each] for rank in range(world)]
