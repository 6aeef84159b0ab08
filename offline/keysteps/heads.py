"""TC3I heads side by side: several small perceptrons trained as one batched network, their embeddings concatenated.

One head ends in different places with different first weights; several together depend less on chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from guide.domain import Features, Times
from guide.label.directions import principal_directions
from guide.teach.refine import Floats
from guide.teach.view import centred
from offline.losses.batch import Loss
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.tc3i import Tc3iLoss
from offline.paper import MARGIN

SAMPLE = 6000  # frames from which the principal directions are taken
SHORTEST_S = 1e-3  # a recording of a single frame still has a length to divide by


@dataclass(frozen=True, slots=True)
class HeadsSettings:
    """How the heads are built and trained."""

    heads: int = 5
    """Heads that differ in their first weights and in the frames they see."""
    directions: int = 128
    """Principal directions of the features that the heads see."""
    hidden: int = 256
    """Width of a head's hidden layer."""
    embedding: int = 64
    """Width of a head's embedding."""
    videos: int = 5
    """Recordings that a head sees at a time, or all where there are fewer."""
    frames: int = 32
    """Frames of each of them."""
    iterations: int = 300
    """Steps of training; Adam takes them."""
    learning_rate: float = 1e-3
    """Adam's."""
    weight_decay: float = 1e-5
    """Adam's."""
    tcc_weight: float = 1.0
    """Weight of the cycle term in TC3I."""
    xi: float = 3.0
    """Weight of C-IDM in TC3I."""
    window: float = 0.5
    """C-IDM: frames closer than this are neighbours, in average steps."""
    gamma_unit: float = 0.5
    """C-IDM's unit of temporal distance, in median recordings."""


class Heads(nn.Module):
    """H perceptrons with one hidden layer each, as one network: inputs (H, B, d) give embeddings (H, B, D).

    >>> heads = Heads(HeadsSettings(heads=2, hidden=8, embedding=3), 4, torch.Generator().manual_seed(0))
    >>> heads(torch.zeros(2, 5, 4)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, settings: HeadsSettings, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = nn.Parameter(_drawn(settings.heads, width, settings.hidden, generator))
        self.first_bias = nn.Parameter(torch.zeros(settings.heads, 1, settings.hidden))
        self.second = nn.Parameter(_drawn(settings.heads, settings.hidden, settings.embedding, generator))
        self.second_bias = nn.Parameter(torch.zeros(settings.heads, 1, settings.embedding))

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = torch.baddbmm(self.first_bias, inputs, self.first).relu()
        return torch.baddbmm(self.second_bias, hidden, self.second)


@dataclass(frozen=True, slots=True)
class TrainedHeads:
    """Heads that were trained, and the principal directions (P, d) in which they see features."""

    heads: Heads
    directions: Floats

    def inputs(self, features: NDArray[np.floating]) -> Tensor:
        """Features (T, P) of unit length, centred on their recording, in these directions, (T, d)."""
        return torch.from_numpy((centred(features) @ self.directions).astype(np.float32))

    @torch.inference_mode()
    def embed(self, features: NDArray[np.floating]) -> Features:
        """Embeddings (T, H D) of a recording's features (T, P): those of all heads side by side."""
        rows = self.inputs(features)
        embedded: Tensor = self.heads(rows.expand(len(self.heads.first), *rows.shape))
        return np.ascontiguousarray(embedded.permute(1, 0, 2).flatten(1).numpy())


class Sampler:
    """Draws for each head some recordings, and some frames of each.

    >>> few = HeadsSettings(heads=3, videos=2, frames=4)
    >>> sampler = Sampler([torch.zeros(9, 5)] * 2, [np.arange(9.0)] * 2, seed=0, settings=few)
    >>> [tuple(each.shape) for each in sampler.draw()]
    [(3, 2, 4, 5), (3, 2, 4), (3, 2)]
    """

    def __init__(self, rows: Sequence[Tensor], times: Sequence[Times], seed: int, settings: HeadsSettings) -> None:
        self._rows, self._settings = torch.cat(list(rows)), settings
        self._rng = np.random.default_rng(seed)
        self._sizes = np.array([len(each) for each in rows])
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._moments = np.concatenate([each - each[0] for each in times])
        self.lengths_s = np.array([max(each[-1] - each[0], SHORTEST_S) for each in times])

    @property
    def videos(self) -> int:
        """Recordings that each head sees at a time."""
        return min(self._settings.videos, len(self._sizes))

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (H, V, N, d), their moments (H, V, N) and the recordings' lengths (H, V), both in seconds."""
        heads, frames = self._settings.heads, self._settings.frames
        videos = np.argsort(self._rng.random((heads, len(self._sizes))), axis=1)[:, : self.videos]
        where = np.sort(self._rng.random((heads, self.videos, frames)), axis=-1)
        places = self._starts[videos][..., None] + (where * self._sizes[videos][..., None]).astype(np.int64)
        moments, lengths = torch.from_numpy(self._moments[places]), torch.from_numpy(self.lengths_s[videos])
        return self._rows[torch.from_numpy(places)], moments.float(), lengths.float()


def train_heads(
    features: Sequence[NDArray[np.floating]], times: Sequence[Times], step_s: float, seed: int, settings: HeadsSettings
) -> TrainedHeads:
    """Heads trained by TC3I on recordings' features (T, P), each head on frames of its own drawing."""
    basis = input_directions(features, settings.directions)
    heads = Heads(settings, basis.shape[1], torch.Generator().manual_seed(seed))
    trained = TrainedHeads(heads, basis)
    sampler = Sampler([trained.inputs(each) for each in features], times, seed, settings)
    loss = head_loss(sampler, step_s, settings)
    optimizer = torch.optim.Adam(heads.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    for _ in range(settings.iterations):
        optimizer.zero_grad(set_to_none=True)
        total_loss(loss, heads, *sampler.draw()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return trained


def total_loss(loss: Loss, heads: Heads, inputs: Tensor, moments: Tensor, lengths: Tensor) -> Tensor:
    """The sum of all heads' losses, for what a sampler drew: no head learns the slower for the others."""
    embeddings = heads(inputs.flatten(1, 2)).unflatten(1, inputs.shape[1:3])  # (H, V, N, D)
    # In turn: one batched call would save a tenth of the training time, and every loss would need an axis for heads.
    return torch.stack([loss(*each) for each in zip(embeddings, moments, lengths, strict=True)]).sum()


def input_directions(features: Sequence[NDArray[np.floating]], count: int) -> Floats:
    """Directions (P, d) of unit spread of features (T, P) of unit length, centred on their recordings."""
    stride = -(-sum(map(len, features)) // SAMPLE)
    return unit_directions(np.concatenate([centred(each)[::stride] for each in features]), count)


def unit_directions(rows: Floats, count: int) -> Floats:
    """Principal directions (P, d) of rows (T, P), scaled so that values along them have unit spread on the whole.

    >>> float(np.linalg.norm(unit_directions(np.array([[4.0, 0.0], [-4.0, 0.0]]), 1)))
    0.25
    """
    directions = principal_directions(rows, count)
    if not directions.size:  # nothing varies
        return np.zeros((rows.shape[1], 1))
    return np.asarray(directions / (rows @ directions).std())


def head_loss(sampler: Sampler, step_s: float, settings: HeadsSettings) -> Loss:
    """TC3I of one head, for moments and lengths in seconds."""
    window_s = min(settings.window * step_s, float(sampler.lengths_s.min()) / 4)
    cidm = ContrastiveLoss(window_s, MARGIN, settings.gamma_unit * float(np.median(sampler.lengths_s)))
    if sampler.videos < 2:  # a single recording has no other to go to and come back from
        return cidm
    return Tc3iLoss(CycleLoss(trust="close"), cidm, settings.xi, settings.tcc_weight)


def _drawn(heads: int, inputs: int, outputs: int, generator: torch.Generator) -> Tensor:
    """Weights (H, inputs, outputs) as torch draws a linear layer's: evenly within 1 / sqrt(inputs)."""
    return torch.empty(heads, inputs, outputs).uniform_(-1, 1, generator=generator) / math.sqrt(inputs)
