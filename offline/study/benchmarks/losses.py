"""TC3I over all pairs at once against the loop over pairs and frames it replaces."""

from __future__ import annotations

import torch

from guide.benchmarks.figures import Figure, Part, processor
from offline.study.benchmarks.literal_loss import bench_loss

LEAST_TIMES_FASTER = 10.0


def measure_losses(videos: int = 5, frames: int = 32, width: int = 128, repeats: int = 5) -> list[Part]:
    """One part for the CPU and, where there is one, one for the GPU."""
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    return [_measure(device, videos, frames, width, repeats) for device in devices]


def _measure(device: str, videos: int, frames: int, width: int, repeats: int) -> Part:
    times = bench_loss(device, videos, frames, width, repeats)
    figures = (
        Figure("batched, forward and backward", 1e3 * times.batched_s, "ms"),
        Figure("the same, called pair by pair", 1e3 * times.per_pair_s, "ms"),
        Figure("literal loop over pairs and frames", 1e3 * times.literal_s, "ms"),
        Figure("times faster than pair by pair", times.per_pair_s / times.batched_s),
        Figure("times faster than the literal loop", times.speedup, least=LEAST_TIMES_FASTER),
    )
    where = torch.cuda.get_device_name() if device == "cuda" else processor()
    return Part(f"TC3I of {videos} videos x {frames} frames x {width}", where, figures)
