"""How much faster the batched TC3I is than the loop it replaces."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from offline.losses.cidm import ContrastiveLoss
from offline.losses.literal import literal_tc3i
from offline.losses.tc3i import Tc3iLoss

Batch = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class LossTimes:
    """Seconds for one TC3I value and its gradient, the best of several runs on one machine.

    >>> LossTimes(batched_s=0.001, per_pair_s=0.008, literal_s=0.02).speedup
    20.0
    """

    batched_s: float
    """All pairs at once."""
    per_pair_s: float
    """The same vector operations, called once for each pair of recordings."""
    literal_s: float
    """A loop over pairs and frames, as the equations read."""

    @property
    def speedup(self) -> float:
        """How many times faster than the literal loop."""
        return self.literal_s / self.batched_s


def bench_loss(device: str, videos: int = 5, frames: int = 32, width: int = 128, repeats: int = 5) -> LossTimes:
    """Give the times of TC3I, forward and backward, for `videos` recordings of `frames` frames each."""
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(videos, frames, width, generator=generator).to(device).requires_grad_()
    steps = torch.rand(videos, frames, generator=generator).mul(600).sort(1).values.to(device)
    batch = (embeddings, steps, torch.full((videos,), 600.0, device=device))
    loss = Tc3iLoss(cidm=ContrastiveLoss(window=60))

    def by_pair() -> Tensor:
        return torch.stack([loss(*_rows(batch, pair)) for pair in combinations(range(videos), 2)]).mean()

    return LossTimes(
        batched_s=_best_time(lambda: loss(*batch), embeddings, repeats * 4),
        per_pair_s=_best_time(by_pair, embeddings, repeats),
        literal_s=_best_time(lambda: literal_tc3i(loss, *batch), embeddings, repeats),
    )


def _rows(batch: Batch, rows: tuple[int, ...]) -> Batch:
    embeddings, steps, lengths = batch
    return embeddings[list(rows)], steps[list(rows)], lengths[list(rows)]


def _best_time(value: Callable[[], Tensor], embeddings: Tensor, repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):  # the first run warms up, and is the best only by mistake
        embeddings.grad = None
        started = time.perf_counter()
        torch.autograd.backward(value())
        if embeddings.is_cuda:
            torch.cuda.synchronize(embeddings.device)
        times.append(time.perf_counter() - started)
    return min(times[1:])
