"""The training loop: convergence, checkpoints, several processes; a run that was killed ends with the same weights."""

from __future__ import annotations

import copy
import hashlib
import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from guide.errors import InputError, OutputError
from guide.whole_file import whole_file
from offline.batches import Batch, Batches
from offline.config import Recipe
from offline.cuda_graph import with_cuda_graph
from offline.curves import Curves, Point
from offline.losses.batch import Loss
from offline.prefetch import PrefetchedBatches
from offline.sharing import gather_rows, my_rows, share_norms, share_state

log = logging.getLogger(__name__)

SMOOTHING = 0.5  # of the held-out loss: half of each look is the new one
LEAST_FALL = 2e-3  # a relative fall below this is none
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """What the loop needs to know of a recipe.

    >>> LoopSettings.of(Recipe(patience=7), seed=1).patience
    7
    """

    learning_rate: float
    weight_decay: float
    most_iterations: int
    evaluate_every: int
    patience: int
    seed: int

    @classmethod
    def of(cls, recipe: Recipe, seed: int) -> LoopSettings:
        """Those of a recipe."""
        names = (each.name for each in fields(cls) if each.name != "seed")
        return cls(**{name: getattr(recipe, name) for name in names}, seed=seed)


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
    """How training ended; `held_out_loss` is the smoothed one of its last look."""

    iterations: int
    why_ended: str
    weights_hash: str
    held_out_loss: float


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
    with run.curves, run.ahead:
        while not run.progress.why_ended:
            run.iterate(report)
    end = run.progress
    return Trained(end.iteration, end.why_ended, weights_hash(model), end.smoothed)


def weights_hash(model: nn.Module) -> str:
    """A hash of all weights and buffers, for telling two results apart."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


class _Run:
    def __init__(self, model: nn.Module, loss: Loss, batches: Batches, settings: LoopSettings, folder: Path) -> None:
        self._model, self._loss, self._settings, self._folder = model, loss, settings, folder
        self._device = next(model.parameters()).device
        self._amp = self._device.type == "cuda"
        if self._amp:  # what a GPU's matrix units read; it changes where weights lie, not their values
            model.to(memory_format=torch.channels_last_3d)
        self._optimizer: torch.optim.Adam  # only of a run that has not ended: torch needs seconds to start one
        self._world = dist.get_world_size() if dist.is_initialized() else 1
        self._rank = dist.get_rank() if dist.is_initialized() else 0
        self._parallel = model if self._world == 1 else _parallel(model)
        self._held_out = [batch.send(self._device) for batch in batches.held_out()]  # maps stay in half precision
        self._clock = time.monotonic()
        self.curves = Curves(folder)
        self._training_loss = loss
        if self._amp and self._world == 1:
            self._training_loss = with_cuda_graph(loss, model, batches.training(0).to(self._device))
        self.ahead = PrefetchedBatches(batches, self._device)
        self.progress = Progress()

    def iterate(self, report: Report | None) -> None:
        """Trains to the next look, looks, and writes a checkpoint."""
        last = min(self.progress.iteration + self._settings.evaluate_every, self._settings.most_iterations)
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        count = last - self.progress.iteration
        while self.progress.iteration < last:
            total += self._step()
        self._look()
        mean, rate = float(total) / count, self._rate(count)
        self._write(mean, rate)
        if report is not None and self._rank == 0:
            report(self.progress, mean, rate)

    def resume(self) -> None:
        """Continues from the folder's checkpoint, if there is one; from a damaged one training starts anew."""
        model = copy.deepcopy(self._model.state_dict())
        start = {"model": model, "optimizer": None, "progress": asdict(self.progress)}
        state = self._read() if self._rank == 0 else None
        if self._world > 1:
            state = share_state(state, self._device)
        try:
            self._restore(start if state is None else state)
        except Exception as error:  # torch raises many kinds for what does not fit
            self._complain(error)
            self._restore(start)  # a part may have been loaded
        if self._rank == 0 and not self.progress.why_ended:
            with self._writing():
                self.curves.go_on_from(self.progress.iteration)

    def _read(self) -> dict[str, Any] | None:
        path = self._folder / CHECKPOINT
        if not path.is_file():
            return None
        try:
            state: dict[str, Any] = torch.load(path, map_location=self._device, weights_only=True)
        except Exception as error:  # torch raises many kinds for a file that is not whole
            self._complain(error)
            return None
        return state

    def _complain(self, error: Exception) -> None:
        if self._rank == 0:
            path = self._folder / CHECKPOINT
            log.warning("%s is damaged (%s): training starts anew.", path, type(error).__name__)

    def _state(self) -> dict[str, Any]:
        return {
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "progress": asdict(self.progress),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._model.load_state_dict(state["model"])
        self.progress = Progress(**state["progress"])
        if self.progress.why_ended:
            return
        self._optimizer = torch.optim.Adam(
            self._model.parameters(),
            lr=self._settings.learning_rate,
            weight_decay=self._settings.weight_decay,
            fused=self._amp or None,
        )
        if state["optimizer"] is not None:
            self._optimizer.load_state_dict(state["optimizer"])

    def _step(self) -> Tensor:
        """The loss of one iteration, left on the device: asking for its value would wait for the GPU at every step."""
        torch.manual_seed(_dropout_seed(self._settings.seed, self.progress.iteration, self._rank, self._world))
        self._parallel.train()
        batch = self.ahead.training(self.progress.iteration)
        value = self._evaluate(batch, self._training_loss)
        self._optimizer.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self.progress.iteration += 1
        return value.detach()

    def _evaluate(self, batch: Batch, loss: Loss) -> Tensor:
        videos, frames = batch.steps.shape
        rows = batch.inputs.flatten(0, 1)
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._amp):
            flat = self._parallel(rows if self._world == 1 else my_rows(rows))
        if self._world > 1:
            # Each process computes the whole loss; the gathered embeddings carry its gradient home.
            flat = gather_rows(flat.float(), videos * frames)
        return loss(flat.float().reshape(videos, frames, -1), batch.steps.float(), batch.lengths.float())

    @torch.no_grad()
    def _look(self) -> None:
        self._parallel.eval()
        value = sum(float(self._evaluate(batch.float(), self._loss)) for batch in self._held_out)
        value /= len(self._held_out)
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
            state.why_ended = f"did its {self._settings.most_iterations} iterations"

    def _write(self, training_loss: float, rate: float) -> None:
        if self._rank != 0:
            return
        point = Point(self.progress.iteration, training_loss, self.progress.smoothed, round(rate, 3))
        with self._writing():
            self.curves.push(point)  # before the checkpoint: killed in between, the point is dropped and made again
            _save(self._folder / CHECKPOINT, self._state())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError) as cause:  # torch reports a full disk as RuntimeError
            raise OutputError(
                f"{self._folder} cannot take a checkpoint ({cause}): free some space, then continue."
            ) from cause

    def _rate(self, count: int) -> float:
        now = time.monotonic()
        rate, self._clock = count / max(now - self._clock, 1e-9), now
        return rate


def _dropout_seed(seed: int, iteration: int, rank: int, world: int) -> int:
    """What torch's generator starts an iteration from: a resumed run draws the same, each process for its own rows.

    On a CPU it takes the low 32 bits only, so the rank must show in these.
    """
    return (seed * 1_000_003 + iteration) * world + rank


def _parallel(model: nn.Module) -> nn.Module:
    """The model with its gradients averaged over the processes; its batch norms see the whole batch."""
    return nn.parallel.DistributedDataParallel(share_norms(model))


def _save(path: Path, state: dict[str, Any]) -> None:
    with whole_file(path) as unfinished:
        torch.save(state, unfinished)
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())
