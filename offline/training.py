"""The embedder trained: heads one after another, each with first weights and batches of its own.

One head ends in different places with different first weights and batches; several side by side depend less on chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

from offline.batches import Batches
from offline.config import Recipe
from offline.embedding import Inputs, build_head_for, make_loss
from offline.loop import LoopSettings, Progress, Report, Trained, train, weights_hash
from offline.model import HeadsSideBySide


def train_embedder(
    inputs: Inputs, recipe: Recipe, seed: int, device: torch.device, folder: Path, report: Report | None = None
) -> tuple[nn.Module, Trained]:
    """The trained heads side by side, or those that `folder` holds from an earlier run; `report` counts all as one."""
    clips, loss = inputs.clips(recipe), make_loss(inputs, recipe)
    heads: list[nn.Module] = []
    ends: list[Trained] = []
    for own_seed, place in zip(_seeds(recipe, seed), head_folders(folder, recipe), strict=True):
        head = build_head_for(inputs, recipe, own_seed).to(device)
        batches = Batches(clips, recipe.batch_videos, recipe.sampled_frames, own_seed)
        told = None if report is None else _after(report, sum(end.iterations for end in ends))
        ends.append(train(head, loss, batches, LoopSettings.of(recipe, own_seed), place, told))
        heads.append(head)
    embedder = HeadsSideBySide(heads)
    why = "; ".join(dict.fromkeys(end.why_ended for end in ends))
    held_out = sum(end.held_out_loss for end in ends) / len(ends)
    return embedder, Trained(sum(end.iterations for end in ends), why, weights_hash(embedder), held_out)


def head_folders(folder: Path, recipe: Recipe) -> list[Path]:
    """Where the checkpoints and curves of each head lie."""
    return [folder / f"head-{number + 1}" for number in range(recipe.heads)]


def _seeds(recipe: Recipe, seed: int) -> Iterator[int]:
    return iter(range(recipe.heads * seed, recipe.heads * (seed + 1)))


def _after(report: Report, done: int) -> Report:
    def told(state: Progress, loss: float, rate: float) -> None:
        report(Progress(done + state.iteration, state.smoothed, state.best), loss, rate)

    return told
