"""The embedder of one task: what its head sees, the head itself, and the embeddings of whole recordings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from guide.bundle import read_arrays
from guide.domain import Features
from guide.errors import BundleError
from guide.label.directions import unit_directions
from guide.perceive.appearance import AppearanceSettings, Embedder
from guide.teach.collection import Collection
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.embedding import LinearEmbedder
from guide.teach.view import centred
from guide.whole_file import whole_file
from offline.batches import Clip
from offline.config import Recipe
from offline.context import context_indices
from offline.features import RecordingFeatures, collection_of
from offline.losses.batch import Loss
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.registry import build_loss
from offline.model import HeadSettings, build_head

ROWS_AT_ONCE = 256
STATISTICS_ROWS = 4096  # enough for a mean and a spread
SAMPLED_AT_ONCE = 32


class StandardHead(nn.Module):
    """A head behind a fixed standardisation of its input.

    >>> head = StandardHead(nn.Flatten(), torch.tensor([1.0, 1.0]), torch.tensor([2.0, 0.5]))
    >>> head(torch.tensor([[[3.0, 2.0]]])).tolist()
    [[1.0, 2.0]]
    """

    offset: Tensor
    scale: Tensor

    def __init__(self, head: nn.Module, offset: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.head = head
        self.register_buffer("offset", offset)
        self.register_buffer("scale", scale)

    def forward(self, context: Tensor) -> Tensor:
        embedding: Tensor = self.head((context - self.offset) / self.scale)
        return embedding


@dataclass(frozen=True, slots=True)
class Inputs:
    """What live embedder and trained head see in each recording, and when; all but `rows` of means is memory-mapped."""

    recordings: tuple[RecordingFeatures, ...]
    rows: tuple[NDArray[Any], ...]  # each (T, C, H, W) maps, or (T, d) means along principal directions
    rate: float
    settings: AppearanceSettings
    step_s: float
    """What an average step takes: the median recording over the number of steps."""
    copies: tuple[tuple[NDArray[Any], ...], ...] = ()
    """Of each recording what the trunk pools (T, P) in other views of it, where there are any."""

    def demonstrations(self, folder: Path | None = None) -> Demonstrations:
        """The recordings as teaching sees them, in the embedding that the live side takes; it is kept in the folder."""
        ids, times, pooled = zip(*((one.id, one.times, one.pooled) for one in self.recordings), strict=True)
        file = None if folder is None else folder / f"embedder-{self._digest()}.npz"
        kept = None if file is None else _read_embedder(file)
        made = demonstrate(ids, times, pooled, self.rate, self.settings, self.copies, kept)
        if file is not None and kept is None:
            _keep_embedder(made.embedder, file)
        return made

    def _digest(self) -> str:
        """Names all that the live embedder is fitted to."""
        digest = hashlib.sha256(repr((self.rate, self.settings)).encode())
        for array in (*((one.times, one.pooled) for one in self.recordings), *self.copies):
            for part in array:
                digest.update(f"{part.dtype}{part.shape}".encode())
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:20]

    def collection(self, embeddings: Sequence[Features]) -> Collection:
        """The recordings as finders take them: of what was pooled the means alone."""
        return collection_of(self.recordings, embeddings)

    def clips(self, recipe: Recipe) -> list[Clip]:
        """The recordings as training sees them."""
        stride_s = context_stride_s(self, recipe)
        return [
            Clip(rows, context_indices(one.times, recipe.context_count, stride_s, self.rate), one.times * self.rate)
            for one, rows in zip(self.recordings, self.rows, strict=True)
        ]


def _read_embedder(file: Path) -> LinearEmbedder | None:
    """What was kept, or nothing where there is no such file or it is damaged: it can be fitted again."""
    try:
        arrays = read_arrays(file)
        return LinearEmbedder(arrays["mean"], arrays["scale"], arrays["directions"])
    except (BundleError, KeyError):
        return None


def _keep_embedder(embedder: Embedder, file: Path) -> None:
    assert isinstance(embedder, LinearEmbedder), "that is what is fitted"
    with whole_file(file) as unfinished:
        np.savez(unfinished, mean=embedder.mean, scale=embedder.scale, directions=embedder.directions)


def prepare_inputs(recordings: Sequence[RecordingFeatures], recipe: Recipe, visits: float = 1.0) -> Inputs:
    """What both embedders see; `visits` is how often a step comes in a recording, on average, by the labels given."""
    step_s = float(np.median([recording.duration_s for recording in recordings])) / recipe.steps
    settings = AppearanceSettings.for_step(step_s / visits)
    rows: list[NDArray[Any]] = [recording.maps for recording in recordings if recording.maps is not None]
    if recipe.head != "conv" or len(rows) < len(recordings):
        rows = head_rows([recording.means for recording in recordings], recipe.directions)
    return Inputs(tuple(recordings), tuple(rows), recordings[0].rate, settings, step_s)


def head_rows(means: Sequence[NDArray[np.floating[Any]]], directions: int) -> list[NDArray[Any]]:
    """What a head sees of means (T, M): less their recording's, along principal directions, (T, d)."""
    along = head_directions(means, directions)
    return [(centred(each) @ along).astype(np.float32) for each in means]


def head_directions(means: Sequence[NDArray[np.floating[Any]]], count: int) -> NDArray[np.float64]:
    """The principal directions (M, d) of means (T, M) less their recording's."""
    stride = -(-sum(map(len, means)) // STATISTICS_ROWS)
    return unit_directions(np.concatenate([centred(each)[::stride].copy() for each in means]), count)


def context_stride_s(inputs: Inputs, recipe: Recipe) -> float:
    """Seconds between the moments an embedding sees: the recipe's, or a tenth of an average step."""
    return recipe.context_stride_s or inputs.step_s / 10


def build_head_for(inputs: Inputs, recipe: Recipe, seed: int) -> nn.Module:
    """An untrained head for these inputs; the seed decides its weights."""
    torch.manual_seed(seed)
    rank = inputs.rows[0].ndim - 1
    settings = HeadSettings(
        channels=inputs.rows[0].shape[1],
        width=recipe.head_width,
        bottleneck=recipe.bottleneck or None,
        pool=recipe.pool,
        embedding=recipe.embedding_width,
        dropout=recipe.dropout,
    )
    head = build_head(settings, rank)
    return head if rank == 1 else StandardHead(head, *_statistics(inputs.rows))


def window_s(inputs: Inputs, recipe: Recipe) -> float:
    """C-IDM's window: the recipe's or half an average step, and at most a quarter of the shortest recording."""
    return min(recipe.window_s or inputs.step_s / 2, min(recording.duration_s for recording in inputs.recordings) / 4)


def gamma_unit_s(inputs: Inputs, recipe: Recipe) -> float:
    """C-IDM's unit of temporal distance, in seconds: the recipe's, or half the median recording."""
    return recipe.gamma_unit_s or float(np.median([recording.duration_s for recording in inputs.recordings])) / 2


def make_loss(inputs: Inputs, recipe: Recipe) -> Loss:
    """The recipe's loss, its seconds turned into frames at the working rate."""
    cycle = CycleLoss(recipe.temperature, recipe.variance_weight, trust=recipe.trust)
    window, gamma_unit = window_s(inputs, recipe) * inputs.rate, gamma_unit_s(inputs, recipe) * inputs.rate
    cidm = ContrastiveLoss(window, recipe.margin, gamma_unit)
    return build_loss(recipe.loss, cycle, cidm, recipe.xi, recipe.tcc_weight)


@torch.inference_mode()
def embed(head: nn.Module, clip: Clip) -> Features:
    """The embedding of every frame, (T, D)."""
    head.eval()
    device = next(head.parameters()).device
    parts = [head(clip.rows(chunk).to(device)).float().cpu().numpy() for chunk in _chunks(len(clip.steps))]
    return np.concatenate(parts)


def _chunks(count: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, count, ROWS_AT_ONCE):
        yield np.arange(start, min(start + ROWS_AT_ONCE, count))


def _sample(rows: Sequence[NDArray[Any]]) -> Iterator[NDArray[np.float32]]:
    """Frames spread evenly over all recordings, a few at a time: those of maps would take gigabytes together."""
    each = max(STATISTICS_ROWS // len(rows), 2)
    for part in rows:
        picked = np.unique(np.linspace(0, len(part) - 1, each).astype(np.int64))
        for start in range(0, len(picked), SAMPLED_AT_ONCE):
            yield np.asarray(part[picked[start : start + SAMPLED_AT_ONCE]], np.float32)


def _statistics(rows: Sequence[NDArray[Any]]) -> tuple[Tensor, Tensor]:
    """Mean and spread of each channel of maps, shaped to broadcast over them."""
    axes = (0, *range(2, rows[0].ndim))
    count, total, squares = 0, np.zeros(rows[0].shape[1]), np.zeros(rows[0].shape[1])
    for part in _sample(rows):
        values = part.astype(np.float64)
        count += values.size // values.shape[1]
        total += values.sum(axes)
        squares += np.square(values).sum(axes)
    mean = total / count
    spread = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    shape = (len(mean),) + (1,) * (rows[0].ndim - 2)
    return _tensor(mean.reshape(shape)), _tensor(np.where(spread > 1e-6, spread, 1.0).reshape(shape))


def _tensor(values: NDArray[np.floating[Any]]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, np.float32))
