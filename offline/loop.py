"""The training loop: convergence, checkpoints, several processes; a run that was killed ends with the same weights."""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from guide.errors import InputError, OutputError
from offline.batches import Batch, Batches, restore
from offline.losses.batch import Loss

log = logging.getLogger(__name__)

SMOOTHING = 0.5  # of the held-out loss: half of each look is the new one
LEAST_FALL = 2e-3  # a relative fall below this is none
CHECKPOINT = "checkpoint.pt"
METRICS = "metrics.jsonl"


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """What the loop needs to know of a recipe."""

    learning_rate: float
    weight_decay: float
    most_iterations: int
    evaluate_every: int
    patience: int
    seed: int


@dataclass(slots=True)
class Progress:
    """Where training stands; lies in the checkpoint.

    >>> Progress().iteration
    0
    """

    iteration: int = 0
    smoothed: float = float("inf")
    best: float = float("inf")
    looks_without_fall: int = 0
    why_ended: str = ""


@dataclass(frozen=True, slots=True)
class Trained:
    """How training ended."""

    iterations: int
    why_ended: str
    weights_hash: str


Report = Callable[[Progress, float, float], None]  # progress, training loss, iterations a second


def train(
    model: nn.Module,
    loss: Loss,
    batches: Batches,
    settings: LoopSettings,
    folder: Path,
    report: Report | None = None,
) -> Trained:
    """Trains `model` in place until the smoothed held-out loss no longer falls, or `most_iterations`."""
    run = _Run(model, loss, batches, settings, folder)
    run.resume()
    while not run.progress.why_ended:
        run.iterate(report)
    return Trained(run.progress.iteration, run.progress.why_ended, weights_hash(model))


def weights_hash(model: nn.Module) -> str:
    """A hash of all weights and buffers, for telling two results apart."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


class _Run:
    def __init__(self, model: nn.Module, loss: Loss, batches: Batches, settings: LoopSettings, folder: Path) -> None:
        self._model, self._loss, self._batches, self._settings, self._folder = model, loss, batches, settings, folder
        self._device = next(model.parameters()).device
        self._amp = self._device.type == "cuda"
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._world = dist.get_world_size() if dist.is_initialized() else 1
        self._rank = dist.get_rank() if dist.is_initialized() else 0
        self._parallel = nn.parallel.DistributedDataParallel(model) if self._world > 1 else model
        self._held_out = [batch.to(self._device) for batch in batches.held_out()]
        self._clock = time.monotonic()
        self.progress = Progress()

    def iterate(self, report: Report | None) -> None:
        """Trains to the next look, looks, and writes a checkpoint."""
        last = min(self.progress.iteration + self._settings.evaluate_every, self._settings.most_iterations)
        total = 0.0
        count = last - self.progress.iteration
        while self.progress.iteration < last:
            total += self._step()
        self._look()
        rate = self._rate(count)
        self._write(total / count, rate)
        if report is not None and self._rank == 0:
            report(self.progress, total / count, rate)

    def resume(self) -> None:
        """Continues from the folder's checkpoint, if there is one; from a damaged one training starts anew."""
        path = self._folder / CHECKPOINT
        if not path.is_file():
            return
        start = copy.deepcopy(self._state())
        try:
            self._restore(torch.load(path, map_location=self._device, weights_only=True))
        except Exception as error:  # torch raises many kinds for a file that is not whole
            log.warning("%s is damaged (%s): training starts anew.", path, type(error).__name__)
            self._restore(start)  # a part may have been loaded
        self._trim_metrics()

    def _state(self) -> dict[str, Any]:
        return {
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "progress": asdict(self.progress),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])

    def _step(self) -> float:
        # Dropout draws from torch's generator: seeding it by the iteration makes a resumed run draw the same.
        torch.manual_seed(self._settings.seed * 1_000_003 + self.progress.iteration)
        self._parallel.train()
        batch = self._batches.training(self.progress.iteration).to(self._device)
        value = self._evaluate(batch)
        self._optimizer.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self.progress.iteration += 1
        return float(value.detach())

    def _evaluate(self, batch: Batch) -> Tensor:
        mine = batch.part(self._rank, self._world) if self._world > 1 else batch
        videos, frames = mine.steps.shape
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._amp):
            flat = self._parallel(mine.inputs.flatten(0, 1))
        embeddings = flat.float().reshape(videos, frames, -1)
        if self._world > 1:
            # Each process computes the whole loss; the gathered embeddings carry its gradient home.
            embeddings = restore(_Gather.apply(embeddings), len(batch.lengths))
        return self._loss(embeddings, batch.steps.float(), batch.lengths.float())

    @torch.no_grad()
    def _look(self) -> None:
        self._parallel.eval()
        value = sum(float(self._evaluate(batch)) for batch in self._held_out) / len(self._held_out)
        state = self.progress
        if not math.isfinite(value):
            raise InputError(
                f"training diverged: its loss on held-out frames is {value} after {state.iteration} iterations; "
                f"try a lower learning_rate than {self._settings.learning_rate:g}."
            )
        state.smoothed = value if state.smoothed == float("inf") else SMOOTHING * (value + state.smoothed)
        if state.smoothed < state.best - LEAST_FALL * abs(state.best) or state.best == float("inf"):
            state.best, state.looks_without_fall = state.smoothed, 0
        else:
            state.looks_without_fall += 1
        if state.looks_without_fall >= self._settings.patience:
            state.why_ended = f"converged: no fall in {self._settings.patience} looks at held-out frames"
        elif state.iteration >= self._settings.most_iterations:
            state.why_ended = f"reached its {self._settings.most_iterations} iterations before it converged"

    def _write(self, training_loss: float, rate: float) -> None:
        if self._rank != 0:
            return
        line = {
            "iteration": self.progress.iteration,
            "loss": training_loss,
            "held_out": self.progress.smoothed,
            "iterations_per_second": round(rate, 3),
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._folder / CHECKPOINT, self._state())
            with (self._folder / METRICS).open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
        except (OSError, RuntimeError) as cause:  # torch reports a full disk as RuntimeError
            raise OutputError(
                f"{self._folder} cannot take a checkpoint ({cause}): free some space, then continue."
            ) from cause

    def _trim_metrics(self) -> None:
        """Drops lines written after the checkpoint that is continued from."""
        path = self._folder / METRICS
        if self._rank == 0 and path.is_file():
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
            kept = [line for line in lines if line["iteration"] <= self.progress.iteration]
            path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")

    def _rate(self, count: int) -> float:
        now = time.monotonic()
        rate, self._clock = count / max(now - self._clock, 1e-9), now
        return rate


class _Gather(torch.autograd.Function):
    """The tensors of all processes; the gradient of each comes home from every process's loss."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> tuple[Tensor, ...]:
        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, mine.contiguous())
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        whole = torch.stack(gradients)
        dist.all_reduce(whole)
        return whole[dist.get_rank()]


def _replace(path: Path, state: dict[str, Any]) -> None:
    aside = path.with_suffix(".new")
    try:
        torch.save(state, aside)
        with aside.open("rb") as stream:
            os.fsync(stream.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
