"""The embedding that prototypes live in: order-free features along the directions in which demonstrations vary most.

No label and no time has a part in it, so it sees what is done and not when: an embedding trained on time would see the
usual order even where it is broken. `head.onnx` is this map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Times
from guide.label.directions import Floats, find_reduction
from guide.perceive.appearance import ROWS_AT_ONCE, AppearanceSettings, Embedder, appearance_parts

COMPONENTS = 200  # principal directions: recordings are few and features many
MOST_FITTED = 8_000  # frames that the directions come from, about, and as many of each other order


@dataclass(frozen=True, slots=True, eq=False)
class LinearEmbedder:
    """Standardised features along principal directions and, as the last number, the length of what lies outside them.

    >>> embedder = LinearEmbedder(np.zeros(2), np.ones(2), np.array([[1.0], [0.0]]))
    >>> embedder.embed(np.array([[3.0, 0.0], [0.0, 2.0]], np.float32)).tolist()
    [[3.0, 0.0], [0.0, 2.0]]
    """

    mean: Floats  # (2P,)
    scale: Floats  # (2P,), one over the spread of each feature
    directions: Floats  # (2P, d), orthonormal

    def embed(self, features: NDArray[Any]) -> Features:
        """The embeddings (N, d + 1) of order-free features (N, 2P)."""
        directions = self.directions.astype(np.float32)
        starts = range(0, max(len(features), 1), ROWS_AT_ONCE)
        return np.concatenate([self._embed(features[start : start + ROWS_AT_ONCE], directions) for start in starts])

    def _embed(self, features: NDArray[Any], directions: NDArray[np.float32]) -> Features:
        rows = ((np.asarray(features, np.float64) - self.mean) * self.scale).astype(np.float32)
        inside = rows @ directions
        outside = np.einsum("tp,tp->t", rows, rows) - np.einsum("td,td->t", inside, inside)
        return np.column_stack([inside, np.sqrt(np.maximum(outside, 0.0))]).astype(np.float32)


def fitted_stride(lengths: Sequence[int]) -> int:
    """Of so many frames an embedder is fitted to every so many-th: more do not change it, and hours take gigabytes."""
    return max(-(-sum(lengths) // MOST_FITTED), 1)


def fit_embedder(recordings: Sequence[NDArray[Any]]) -> LinearEmbedder:
    """The embedder of recordings' order-free features (T, 2P), of long ones every so many-th."""
    found = find_reduction(recordings, COMPONENTS)
    directions = found.directions / found.scale[:, None]
    if not directions.shape[1]:  # a still picture: nothing varies, so any direction will do
        directions = np.eye(len(directions), 1)
    return LinearEmbedder(found.mean, found.scale, directions)


def embed_recording(pooled: NDArray[Any], times: Times, settings: AppearanceSettings, embedder: Embedder) -> Features:
    """The embeddings (T, D) of a recording's pooled trunk outputs (T, P), a part at a time: it may be hours long."""
    return np.concatenate([embedder.embed(part) for part in appearance_parts(pooled, times, settings)])
