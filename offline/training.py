"""The embedder trained: heads one after another, each with first weights and batches of its own.

One head ends in different places with different first weights and batches; several side by side depend less on chance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn

from offline.batches import Batches
from offline.config import Recipe
from offline.embedding import Inputs, build_head_for, make_loss
from offline.features import RecordingFeatures
from offline.loop import LoopSettings, Progress, Report, Trained, train, weights_hash
from offline.model import HeadsSideBySide

RUN_VERSION = 8  # raised whenever the same recipe gives other weights, labels or embedders: older runs are left alone
ROWS_AT_ONCE = 4096


def train_embedder(
    inputs: Inputs, recipe: Recipe, seed: int, device: torch.device, folder: Path, report: Report | None = None
) -> tuple[nn.Module, Trained]:
    """The trained heads side by side, or those that `folder` holds from an earlier run; `report` counts all as one."""
    heads: list[nn.Module] = []
    ends: list[Trained] = []
    for own_seed, place in zip(head_seeds(recipe, seed), head_folders(folder, recipe), strict=True):
        told = None if report is None else _after(report, sum(end.iterations for end in ends))
        head, end = train_head(inputs, recipe, own_seed, device, place, told)
        heads.append(head)
        ends.append(end)
    embedder = HeadsSideBySide(heads)
    why = " or ".join(dict.fromkeys(end.why_ended for end in ends))
    held_out = sum(end.held_out_loss for end in ends) / len(ends)
    return embedder, Trained(sum(end.iterations for end in ends), why, weights_hash(embedder), held_out)


def train_head(
    inputs: Inputs, recipe: Recipe, seed: int, device: torch.device, folder: Path, report: Report | None = None
) -> tuple[nn.Module, Trained]:
    """One head, trained with a seed of its own, or as far as `folder` holds it from an earlier run."""
    head = build_head_for(inputs, recipe, seed).to(device)
    batches = Batches(inputs.clips(recipe), recipe.batch_videos, recipe.sampled_frames, seed)
    return head, train(head, make_loss(inputs, recipe), batches, LoopSettings.of(recipe, seed), folder, report)


def run_key(recordings: Sequence[RecordingFeatures], recipe: Recipe, seed: int) -> str:
    """Names a training run by everything that decides its weights."""
    aside = {"looks", "views"}  # the head sees one look at recordings as they are
    deciding = {name: value for name, value in asdict(recipe).items() if name not in aside}
    digest = hashlib.sha256(json.dumps([RUN_VERSION, deciding, seed], sort_keys=True).encode())
    for recording in recordings:
        digest.update(f"{recording.id}\0{recording.mean_width}".encode())
        digest.update(recording.times.tobytes())
        for start in range(0, len(recording), ROWS_AT_ONCE):
            digest.update(recording.pooled[start : start + ROWS_AT_ONCE].tobytes())
    return digest.hexdigest()[:20]


def head_folders(folder: Path, recipe: Recipe) -> list[Path]:
    """Where the checkpoints and curves of each head lie."""
    return [folder / f"head-{number + 1}" for number in range(recipe.heads)]


def head_seeds(recipe: Recipe, seed: int) -> range:
    """The seed of each head."""
    return range(recipe.heads * seed, recipe.heads * (seed + 1))


def _after(report: Report, done: int) -> Report:
    def told(state: Progress, loss: float, rate: float) -> None:
        report(Progress(done + state.iteration, state.smoothed, state.best), loss, rate)

    return told
