"""TC3I over all pairs at once against the loop over pairs and frames it replaces."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from guide.benchmarks.figures import Figure, Part, processor
from offline.losses.cidm import ContrastiveLoss
from offline.losses.literal import literal_tc3i
from offline.losses.tc3i import Tc3iLoss

LEAST_TIMES_FASTER = 10.0

Batch = tuple[Tensor, Tensor, Tensor]


def measure_losses(videos: int = 5, frames: int = 32, width: int = 128, repeats: int = 5) -> list[Part]:
    """One part for the CPU and, where there is one, one for the GPU."""
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    return [_measure(device, videos, frames, width, repeats) for device in devices]


def _measure(device: str, videos: int, frames: int, width: int, repeats: int) -> Part:
    batched_s, per_pair_s, literal_s = time_losses(device, videos, frames, width, repeats)
    figures = (
        Figure("batched, forward and backward", 1e3 * batched_s, "ms"),
        Figure("the same, called pair by pair", 1e3 * per_pair_s, "ms"),
        Figure("literal loop over pairs and frames", 1e3 * literal_s, "ms"),
        Figure("times faster than pair by pair", per_pair_s / batched_s),
        Figure("times faster than the literal loop", literal_s / batched_s, least=LEAST_TIMES_FASTER),
    )
    where = torch.cuda.get_device_name() if device == "cuda" else processor()
    return Part(f"TC3I of {videos} videos x {frames} frames x {width}", where, figures)


def time_losses(device: str, videos: int, frames: int, width: int, repeats: int) -> tuple[float, float, float]:
    """Seconds for one TC3I value and its gradient, the best of several runs: all pairs at once, the same operations
    called once for each pair of recordings, and a loop over pairs and frames, as the equations read."""
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(videos, frames, width, generator=generator).to(device).requires_grad_()
    steps = torch.rand(videos, frames, generator=generator).mul(600).sort(1).values.to(device)
    batch = (embeddings, steps, torch.full((videos,), 600.0, device=device))
    loss = Tc3iLoss(cidm=ContrastiveLoss(window=60))

    def by_pair() -> Tensor:
        return torch.stack([loss(*_rows(batch, pair)) for pair in combinations(range(videos), 2)]).mean()

    return (
        _best_time(lambda: loss(*batch), embeddings, repeats * 4),
        _best_time(by_pair, embeddings, repeats),
        _best_time(lambda: literal_tc3i(loss, *batch), embeddings, repeats),
    )


def _rows(batch: Batch, rows: tuple[int, ...]) -> Batch:
    embeddings, steps, lengths = batch
    return embeddings[list(rows)], steps[list(rows)], lengths[list(rows)]


def _best_time(value: Callable[[], Tensor], embeddings: Tensor, repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):  # the first run is a warm-up
        embeddings.grad = None
        started = time.perf_counter()
        torch.autograd.backward(value())
        if embeddings.is_cuda:
            torch.cuda.synchronize(embeddings.device)
        times.append(time.perf_counter() - started)
    return min(times[1:])
