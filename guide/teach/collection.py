"""The recordings of one task frame by frame, and the key-steps found in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Labels, Times
from guide.errors import InputError


@dataclass(frozen=True, slots=True)
class Collection:
    """The recordings of one task as embeddings, frame by frame, at a working rate in frames a second.

    >>> Collection.at_rate([np.zeros((4, 2), np.float32)], rate=2.0).times[0]
    array([0. , 0.5, 1. , 1.5])
    """

    embeddings: tuple[Features, ...]  # each (T_i, D) float32
    times: tuple[Times, ...]  # each (T_i,), seconds, increasing
    rate: float
    features: tuple[NDArray[Any], ...] = ()  # each (T_i, P): what the trunk saw, for finders that look again

    def __post_init__(self) -> None:
        if not self.embeddings or len(self.embeddings) != len(self.times) or self.rate <= 0:
            raise ValueError(
                f"a collection needs recordings with times and a rate above 0, got {len(self.embeddings)} recordings, "
                f"{len(self.times)} time axes, rate {self.rate}"
            )
        if self.features and tuple(len(rows) for rows in self.features) != self.lengths:
            raise ValueError("a collection's features need one row a frame, as its embeddings have")
        for number, (embedding, time) in enumerate(zip(self.embeddings, self.times, strict=True)):
            self._check(number, embedding, time)

    def _check(self, number: int, embedding: Features, time: Times) -> None:
        width = self.embeddings[0].shape[-1]
        if embedding.dtype != np.float32 or embedding.ndim != 2 or 0 in embedding.shape or embedding.shape[1] != width:
            raise ValueError(f"recording {number} needs (T, {width}) float32, got {embedding.shape} {embedding.dtype}")
        if time.shape != embedding.shape[:1] or (np.diff(time) <= 0).any():
            raise ValueError(f"recording {number} needs {len(embedding)} increasing times, got {time.shape}")
        if not np.isfinite(embedding).all():
            raise InputError(
                f"embeddings are finite numbers, recording {number} holds NaN or infinity: "
                "train the embedder again with a lower learning rate, or check its features."
            )

    @classmethod
    def at_rate(cls, embeddings: Sequence[Features], rate: float) -> Collection:
        """A collection whose frames were taken exactly every 1/rate seconds."""
        return cls(tuple(embeddings), tuple(np.arange(len(e)) / rate for e in embeddings), rate)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Frames in each recording."""
        return tuple(len(embedding) for embedding in self.embeddings)

    @property
    def size(self) -> int:
        """Frames in all recordings."""
        return sum(self.lengths)


@dataclass(frozen=True, slots=True)
class Found:
    """Key-steps found in a collection: one label array a recording (1..K, 0 background), and what the user must know.

    >>> Found((np.array([1, 1, 2]),)).notes
    ()
    """

    labels: tuple[Labels, ...]
    centres: NDArray[np.float64] | None = None  # (K, D); row n belongs to key-step n + 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for labels in self.labels:
            if labels.dtype != np.int64 or labels.ndim != 1:
                raise ValueError(f"labels are (T,) int64, got {labels.shape} {labels.dtype}")
