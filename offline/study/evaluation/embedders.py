"""Embeddings of a task's recordings, each loss and seed trained as `offline.train` does, and kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from guide.domain import Features
from guide.errors import InputError
from offline.batches import FEWEST_FRAMES
from offline.config import Recipe
from offline.embedding import embed, prepare_inputs
from offline.features import RecordingFeatures
from offline.loop import Progress
from offline.study.keep import Kept, content_key, source_hash
from offline.training import train_embedder

TrainingProgress = Callable[[int, str], None]  # iterations done, and a few words

UNSEEN = ("clusterer", "fuzzifier")  # settings of the recipe that no embedder sees
SOURCES = (
    "offline.embedding", "offline.model", "offline.loop", "offline.batches", "offline.context", "offline.losses",
    "offline.training",
    "guide.fading", "guide.label.directions", "guide.perceive.appearance",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Embedders:
    """Trains embedders, or reads what they gave the last time."""

    folder: Path
    device: torch.device

    def key(self, recordings: Sequence[RecordingFeatures], recipe: Recipe, seed: int) -> str:
        """Names the embeddings: recordings, recipe with its loss and number of steps, seed, device and code."""
        settings = {name: value for name, value in asdict(recipe).items() if name not in UNSEEN}
        return content_key(recordings, settings, seed, self.device.type, source_hash(*SOURCES))

    def embeddings(
        self, recordings: Sequence[RecordingFeatures], recipe: Recipe, seed: int, tell: TrainingProgress
    ) -> tuple[Features, ...]:
        """One (T, D) a recording."""
        require_trainable(recordings)
        key, kept = self.key(recordings, recipe, seed), Kept(self.folder / "embeddings")
        arrays = kept.read(key)
        if arrays is None or len(arrays) != len(recordings):
            found = self._train(recordings, recipe, seed, self.folder / "runs" / key, tell)
            arrays = {f"embedding_{number}": each for number, each in enumerate(found)}
            kept.write(key, dict(arrays))
            shutil.rmtree(self.folder / "runs" / key, ignore_errors=True)
        return tuple(np.asarray(arrays[f"embedding_{number}"], np.float32) for number in range(len(recordings)))

    def _train(
        self, recordings: Sequence[RecordingFeatures], recipe: Recipe, seed: int, folder: Path, tell: TrainingProgress
    ) -> list[Features]:
        inputs = prepare_inputs(recordings, recipe)

        def report(state: Progress, loss: float, rate: float) -> None:
            tell(state.iteration, f"iteration {state.iteration}, held out {state.smoothed:.4f}")

        embedder, _ = train_embedder(inputs, recipe, seed, self.device, folder, report)
        return [embed(embedder, clip) for clip in inputs.clips(recipe)]


def require_trainable(recordings: Sequence[RecordingFeatures]) -> None:
    """Raises InputError where there is too little to train an embedder on."""
    if len(recordings) < 2:
        raise InputError(
            f"an embedder compares recordings and needs at least 2, got {len(recordings)}: add recordings, or give "
            "--losses raw."
        )
    for recording in recordings:
        if len(recording) < FEWEST_FRAMES:
            raise InputError(
                f"a recording needs at least {FEWEST_FRAMES} frames to train on, but {recording.id} has "
                f"{len(recording)}: leave it out, raise --fps, or give --losses raw."
            )
