"""Demonstrations as teaching sees them: what the trunk and the embedder saw, frame by frame, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Times
from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach.collection import Collection


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One recording of the task at the working rate; arrays may be memory-mapped.

    >>> Demonstration("a", np.arange(3) / 2, np.zeros((3, 8)), np.zeros((3, 2), np.float32)).duration_s
    1.0
    """

    id: str
    times: Times  # (T,)
    pooled: NDArray[Any]  # (T, P), what the trunk pooled, in any float type
    embedding: Features  # (T, D)

    def __post_init__(self) -> None:
        if not len(self.times) == len(self.pooled) == len(self.embedding) > 0:
            raise ValueError(
                f"{self.id} has {len(self.times)} times, {len(self.pooled)} and {len(self.embedding)} rows"
            )

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration_s(self) -> float:
        return float(self.times[-1] - self.times[0])


@dataclass(frozen=True)
class Demonstrations:
    """The demonstrations of one task, and how far back their order-free features look.

    `kept` are those features (T, 2P) where they are at hand already; else they are made when first asked for.

    >>> one = Demonstration("a", np.arange(3) / 2, np.ones((3, 8)), np.zeros((3, 2), np.float32))
    >>> Demonstrations((one,), 2.0, AppearanceSettings()).features[0].shape
    (3, 16)
    """

    items: tuple[Demonstration, ...]
    rate: float
    settings: AppearanceSettings
    kept: tuple[NDArray[np.float32], ...] | None = None

    @cached_property
    def features(self) -> tuple[NDArray[np.float32], ...]:
        """The order-free features (T, 2P) of each demonstration."""
        if self.kept is not None:
            return self.kept
        return tuple(appearance(one.pooled, one.times, self.settings) for one in self.items)

    @property
    def embeddings(self) -> tuple[Features, ...]:
        return tuple(one.embedding for one in self.items)

    @property
    def times(self) -> tuple[Times, ...]:
        return tuple(one.times for one in self.items)

    @property
    def ends(self) -> dict[str, float]:
        """When each demonstration ends by its id: a tick after its last frame."""
        return {one.id: float(one.times[-1]) + 1 / self.rate for one in self.items}

    def collection(self) -> Collection:
        """The same as finders take it."""
        return Collection(self.embeddings, self.times, self.rate, tuple(one.pooled for one in self.items))
