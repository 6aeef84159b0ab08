"""CTE: an embedding that knows the time, clusters in the order of time, and one fixed order for every recording.

After Kukleva et al. (continuous temporal embedding). Precisely: a perceptron with two hidden layers learns from single
frames where in the recording they lie, t/T, by the squared error. Its second hidden layer is the embedding. k-means
gives K clusters, numbered by the mean time of their frames, and each a Gaussian with a variance for every dimension.
The labels of a recording are the likeliest ones that run through all key-steps in that order: dynamic programming.

Left out: their background model for instructional videos, so every frame gets a key-step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from guide.domain import Labels
from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, rank_by_time, unused
from offline.keysteps.kmeans import KMeansSettings, kmeans, nearest, sample

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TemporalSettings:
    """How the perceptron learns to tell the time.

    >>> TemporalSettings().width
    40
    """

    width: int = 40
    """Numbers in the embedding; the first hidden layer has twice as many."""
    epochs: int = 30
    """Passes over all frames."""
    batch: int = 256
    """Frames in a batch."""
    learning_rate: float = 1e-3
    """Adam's."""
    weight_decay: float = 1e-4
    """Adam's; a thousand features of a few thousand frames can be learned by heart."""
    least_variance: float = 0.01
    """Floor of a Gaussian's variance, as a part of the embedding's variance on the whole."""
    clusters: KMeansSettings = field(default_factory=KMeansSettings)
    """The k-means on the embedding."""


@dataclass(frozen=True, slots=True)
class TemporalEmbedding:
    """Learns its own embedding, from the features where the collection has them.

    >>> ramp = np.linspace(0, 1, 60, dtype=np.float32)[:, None]
    >>> TemporalEmbedding().find(Collection.at_rate([ramp, ramp], 1.0), k=3, seed=0).labels[0][[0, 30, -1]]
    array([1, 2, 3])
    """

    settings: TemporalSettings = field(default_factory=TemporalSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        embedded = embed_time(collection.features or collection.embeddings, seed, self.settings)
        timed = replace(collection, embeddings=embedded, features=())
        centres = kmeans(sample(timed, self.settings.clusters.most_frames, seed), k, seed, self.settings.clusters)
        clusters = [nearest(each, centres)[0] for each in embedded]
        order = rank_by_time(clusters, k)
        scores = log_likelihoods(np.concatenate(embedded), np.concatenate(clusters), k, self.settings.least_variance)
        parts = np.split(scores[:, order], np.cumsum(collection.lengths)[:-1])
        return Found(tuple(ordered_path(each) + 1 for each in parts), notes=unused(clusters, k))


def embed_time(
    features: Sequence[NDArray[Any]], seed: int, settings: TemporalSettings
) -> tuple[NDArray[np.float32], ...]:
    """The second hidden layer (T, width) for each recording's features (T, P), after learning from all of them."""
    rows = torch.from_numpy(_standard(np.concatenate([np.asarray(each, np.float32) for each in features])))
    when = torch.from_numpy(np.concatenate([(np.arange(len(each)) + 0.5) / len(each) for each in features])).float()
    with torch.random.fork_rng(devices=[]):  # nobody else's draws are moved
        torch.manual_seed(seed)
        hidden, out = _network(rows.shape[1], settings.width)
        _learn(nn.Sequential(hidden, nn.ReLU(), out), rows, when, seed, settings)
    with torch.inference_mode():
        embedded = hidden(rows).numpy()
    return tuple(np.split(embedded, np.cumsum([len(each) for each in features])[:-1]))


def _standard(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = rows.std(axis=0)
    return np.asarray((rows - rows.mean(axis=0)) / np.where(spread > 1e-6, spread, 1.0), np.float32)


def _network(inputs: int, width: int) -> tuple[nn.Module, nn.Module]:
    hidden = nn.Sequential(nn.Linear(inputs, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
    return hidden, nn.Linear(width, 1)


def _learn(network: nn.Module, rows: Tensor, when: Tensor, seed: int, settings: TemporalSettings) -> None:
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    rng = np.random.default_rng(seed)
    for _ in range(settings.epochs):
        order = torch.from_numpy(rng.permutation(len(rows)))
        for chosen in torch.split(order, settings.batch):
            error = ((network(rows[chosen])[:, 0] - when[chosen]) ** 2).mean()
            optimizer.zero_grad(set_to_none=True)
            error.backward()
            optimizer.step()


def log_likelihoods(rows: NDArray[np.floating], clusters: Labels, k: int, least_variance: float) -> Array:
    """log p(x | cluster) (N, k) of rows (N, D), one Gaussian a cluster; an empty cluster has that of all frames."""
    data = rows.astype(np.float64)
    floor = max(least_variance * float(data.var(axis=0).mean()), 1e-12)
    scores = np.empty((len(data), k))
    for cluster in range(k):
        mine = data[clusters == cluster] if (clusters == cluster).any() else data
        variance = mine.var(axis=0) + floor
        scores[:, cluster] = -0.5 * (((data - mine.mean(axis=0)) ** 2 / variance) + np.log(variance)).sum(axis=1)
    return scores


def ordered_path(scores: Array) -> Labels:
    """Columns (T,) of the best path through scores (T, K) that starts in the first column and visits each in turn.

    A recording shorter than K frames cannot: its path may leave columns out, but never goes back.
    """
    frames, steps = scores.shape
    is_long = frames >= steps
    value = np.where(np.arange(steps) == 0, scores[0], -np.inf) if is_long else scores[0]
    came_from = np.zeros(scores.shape, dtype=np.int64)
    for t in range(1, frames):
        came_from[t] = _one_step(value) if is_long else _any_step(value)
        value = value[came_from[t]] + scores[t]
    path = np.empty(frames, dtype=np.int64)
    path[-1] = steps - 1 if is_long else value.argmax()
    for t in reversed(range(1, frames)):
        path[t - 1] = came_from[t, path[t]]
    return path


def _one_step(value: Array) -> NDArray[np.int64]:
    """For each column the better one to come from: itself or the one before."""
    columns = np.arange(len(value))
    before = np.r_[-np.inf, value[:-1]]
    return np.where(before > value, columns - 1, columns)


def _any_step(value: Array) -> NDArray[np.int64]:
    """For each column the best one to come from: itself or any before."""
    return np.array([int(value[: column + 1].argmax()) for column in range(len(value))], dtype=np.int64)
