"""A training step of the paper's preset on cached trunk maps: how much of it is not the network."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from guide.benchmarks.figures import Figure, Part, processor
from offline.batches import Batch, Batches
from offline.config import PAPER, Recipe
from offline.embedding import build_head_for, make_loss, prepare_inputs
from offline.features import RecordingFeatures
from offline.loop import LoopSettings, _Run
from offline.npy_file import GrowingNpy

MOST_SHARE = 20.0  # percent of a step


@dataclass(frozen=True, slots=True)
class StepSizes:
    """What is trained on."""

    recordings: int = 6
    frames: int = 240
    """Frames in each recording: two minutes at the paper's rate, half a gigabyte of maps in all."""
    map_shape: tuple[int, int, int] = (1024, 14, 14)
    recipe: Recipe = PAPER
    steps: int = 40
    """Steps timed at a time, after as many that are not; the best of three times counts."""


# Without a GPU a step of the real size takes minutes: this only shows that the code runs.
WITHOUT_GPU = StepSizes(
    frames=64, map_shape=(16, 14, 14), recipe=replace(PAPER, head_width=16, sampled_frames=8), steps=2
)


def measure_training(sizes: StepSizes | None = None) -> list[Part]:
    """The step and its parts on the GPU, or a small one on the CPU where there is none."""
    has_gpu = torch.cuda.is_available()
    chosen = sizes or (StepSizes() if has_gpu else WITHOUT_GPU)
    with tempfile.TemporaryDirectory() as folder:
        return [_measure(chosen, torch.device("cuda" if has_gpu else "cpu"), Path(folder))]


def _measure(sizes: StepSizes, device: torch.device, folder: Path) -> Part:
    inputs = prepare_inputs(_recordings(sizes, folder), sizes.recipe)
    head = build_head_for(inputs, sizes.recipe, 0).to(device)
    loss = make_loss(inputs, sizes.recipe)
    batches = Batches(inputs.clips(sizes.recipe), sizes.recipe.batch_videos, sizes.recipe.sampled_frames, 0)
    settings = LoopSettings(sizes.recipe.learning_rate, sizes.recipe.weight_decay, 10**9, 10**9, 1, seed=0)
    run = _Run(head, loss, batches, settings, folder)
    run.resume()
    clock = _Clock(device, sizes.steps)
    with run.ahead:
        step_s = clock.time(run._step)
        numbers = count(10**6)
        ahead_s = clock.time(lambda: run.ahead.training(next(numbers)))
    batch = batches.training(0).to(device)
    network_s = clock.time(lambda: _network(head, batch, run))
    embeddings = torch.randn(*batch.steps.shape, sizes.recipe.embedding_width, device=device, requires_grad=True)
    steps, lengths = batch.steps.float(), batch.lengths.float()
    parts = {
        "loss": clock.time(lambda: torch.autograd.backward(loss(embeddings, steps, lengths))),
        "optimiser": clock.time(run._optimizer.step),
        "data drawn ahead": ahead_s,
        "data drawn when asked for": clock.time(lambda: batches.training(1).to(device)),
    }
    return _part(sizes, device, step_s, network_s, parts)


def _recordings(sizes: StepSizes, folder: Path) -> list[RecordingFeatures]:
    """Random maps and what is pooled from them, memory-mapped as the feature cache has them."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(sizes.recordings):
        path = folder / f"maps-{number}.npy"
        with GrowingNpy(path) as growing:
            for _ in range(sizes.frames):
                growing.append(rng.standard_normal((1, *sizes.map_shape), np.float32).astype(np.float16))
        maps = np.load(path, mmap_mode="r", allow_pickle=False)
        pooled = rng.standard_normal((sizes.frames, sizes.map_shape[0]), np.float32)
        times = np.arange(sizes.frames) / sizes.recipe.fps
        made.append(RecordingFeatures(str(number), sizes.recipe.fps, times, pooled, maps))
    return made


def _network(head: torch.nn.Module, batch: Batch, run: _Run) -> None:
    """Forward and backward of the head alone, in mixed precision on a GPU."""
    head.zero_grad(set_to_none=True)
    rows = batch.inputs.flatten(0, 1)
    with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=run._amp):
        embeddings: Tensor = head(rows)
    torch.autograd.backward(embeddings.float().sum())


class _Clock:
    def __init__(self, device: torch.device, count: int) -> None:
        self._device, self._count = device, count

    def time(self, act: Callable[[], object]) -> float:
        """Seconds for one call, the best mean of three."""
        self._run(act)
        return min(self._run(act) for _ in range(3))

    def _run(self, act: Callable[[], object]) -> float:
        begin = time.perf_counter()
        for _ in range(self._count):
            act()
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return (time.perf_counter() - begin) / self._count


def _part(sizes: StepSizes, device: torch.device, step_s: float, network_s: float, parts: dict[str, float]) -> Part:
    is_gpu = device.type == "cuda"
    share = 100 * max(0.0, 1 - network_s / step_s)
    figures = (
        Figure("steps", 1 / step_s, "a s"),
        Figure("a step", 1e3 * step_s, "ms"),
        Figure("the network, forward and backward", 1e3 * network_s, "ms"),
        Figure("data, loss and optimiser in the step", share, "%", most=MOST_SHARE if is_gpu else None),
        *(Figure(f"{name}, alone", 1e3 * seconds, "ms") for name, seconds in parts.items()),
    )
    shape = " x ".join(map(str, sizes.map_shape))
    notes = () if is_gpu else ("no GPU: maps and head are small, and only show that the code runs",)
    where = torch.cuda.get_device_name(device) if is_gpu else processor()
    return Part(f"Training step, cached maps {shape}, c = {sizes.recipe.context_count}", where, figures, notes)
