"""Demonstrations as teaching sees them: what the trunk saw, frame by frame, when, and its embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Labels, Segment, Times
from guide.perceive.appearance import REMEMBERED_STEPS, AppearanceSettings, Embedder, appearance
from guide.teach.annotations import labels_to_segments
from guide.teach.collection import Collection
from guide.teach.embedding import LinearEmbedder, embed_recording, fit_embedder, fitted_stride
from guide.teach.reorder import shuffled_parts

SHUFFLES = 2  # other orders in which the embedder sees each demonstration


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One recording of the task at the working rate; arrays may be memory-mapped.

    >>> import numpy as np
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


@dataclass(frozen=True, slots=True)
class Demonstrations:
    """The demonstrations of one task, how far back their order-free features look, and what embeds these.

    >>> import numpy as np
    >>> pooled = [np.eye(3)[[0, 0, 1]], np.eye(3)[[0, 1, 1]]]
    >>> both = demonstrate(["a", "b"], [np.arange(3) / 2] * 2, pooled, 2.0, AppearanceSettings())
    >>> both.items[1].embedding.shape == both.embed(pooled[1], np.arange(3) / 2).shape
    True
    """

    items: tuple[Demonstration, ...]
    rate: float
    settings: AppearanceSettings
    embedder: Embedder
    copies: tuple[tuple[NDArray[Any], ...], ...] = ()
    """Of each demonstration what the trunk pooled (T, P) of its frames in other light or another view, where any is."""

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

    def embed(self, pooled: NDArray[Any], times: Times) -> Features:
        """The embeddings (T, D) of pooled trunk outputs (T, P), such as a demonstration's in another order."""
        return embed_recording(pooled, times, self.settings, self.embedder)

    def segments(self, labels: Sequence[Labels]) -> tuple[tuple[Segment, ...], ...]:
        """The steps of each demonstration by labels (T,) of its frames, in order of time."""
        return tuple(
            tuple(labels_to_segments(each, one.times, self.rate)) for each, one in zip(labels, self.items, strict=True)
        )

    def collection(self) -> Collection:
        """The same as finders take it."""
        return Collection(self.embeddings, self.times, self.rate, tuple(one.pooled for one in self.items))


def demonstrate(
    ids: Sequence[str],
    times: Sequence[Times],
    pooled: Sequence[NDArray[Any]],
    rate: float,
    settings: AppearanceSettings,
    copies: tuple[tuple[NDArray[Any], ...], ...] = (),
    embedder: Embedder | None = None,
) -> Demonstrations:
    """Recordings' pooled trunk outputs (T, P) as demonstrations, with an embedder fitted to them and their copies.

    An `embedder` that was fitted to just these before saves the time.
    """
    if embedder is None:
        shown = [*zip(times, pooled, strict=True)]
        shown += [(at, each) for at, own in zip(times, copies, strict=bool(copies)) for each in own]
        embedder = _fit([at for at, _ in shown], [each for _, each in shown], rate, settings)
    items = tuple(
        Demonstration(id_, at, own, embed_recording(own, at, settings, embedder))
        for id_, at, own in zip(ids, times, pooled, strict=True)
    )
    return Demonstrations(items, rate, settings, embedder, copies)


def _fit(
    times: Sequence[Times], pooled: Sequence[NDArray[Any]], rate: float, settings: AppearanceSettings
) -> LinearEmbedder:
    """The embedder of recordings as they are and with their parts in other orders.

    What features look back on varies little in the usual order: where somebody works in another one, what tells steps
    apart would lie outside the directions.
    """
    every, rng = fitted_stride([len(each) for each in times]), np.random.default_rng(0)
    part = round(settings.memory_s / REMEMBERED_STEPS * rate)
    shown = []
    for each, at in zip(pooled, times, strict=True):
        orders = [shuffled_parts(len(at), part, rng) for _ in range(SHUFFLES)]
        shown.append(appearance(each, at, settings, every))
        shown += [appearance(each[order], at, settings, every) for order in orders]
    return fit_embedder(shown)
