"""From a frame (or a row of features) to what recognition rests on: order-free features and the embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame
from guide.errors import InputError
from guide.perceive.appearance import Appearance, AppearanceSettings, difference
from guide.perceive.context import Context
from guide.perceive.embedder import Embedder, Floats, OnnxTrunk
from guide.perceive.pace import Pace
from guide.perceive.preprocess import Preprocessing, to_network_input


@dataclass(frozen=True, slots=True)
class Percept:
    """What was seen at a moment: order-free features (2P,) and the embedding (D,)."""

    at: float
    appearance: NDArray[np.float32]
    embedding: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PerceptionSettings:
    """What the bundle says of perception."""

    rate: float
    context_count: int
    context_stride_s: float
    uses_maps: bool
    width: int
    head_width: int
    """How many features, the first ones, the embedding sees; no more than there are."""
    appearance: AppearanceSettings


class Perceiver:
    """Turns frames into percepts; `is_due` says which frames the working rate wants, the others are passed over.

    Without a trunk it takes rows of precomputed features instead of pictures.
    """

    def __init__(self, settings: PerceptionSettings, head: Embedder, trunk: OnnxTrunk | None = None) -> None:
        self._settings, self._head, self._trunk = settings, head, trunk
        self._preprocessing = None if trunk is None else Preprocessing.from_metadata(trunk.metadata)
        self._pace = Pace(settings.rate)
        self._appearance = Appearance(settings.appearance)
        self._context = Context[Floats](settings.context_count, settings.context_stride_s, settings.rate)

    @property
    def rate(self) -> float:
        """The working rate, in frames a second."""
        return self._settings.rate

    def is_due(self, at: float) -> bool:
        """Whether a frame taken at `at` is one to process; asked once a frame, before it is even decoded."""
        return self._pace.push(at)

    def see(self, frame: Frame) -> Percept:
        """The percept of a frame that is due."""
        if self._trunk is None or self._preprocessing is None:
            raise InputError("this bundle was learned from features, not from pictures: give it a .npy file.")
        picture = to_network_input(frame.image, self._preprocessing)[None]
        if self._settings.uses_maps:
            output = self._trunk.forward(picture)
            return self._perceive(output.pooled[0], frame.at, output.maps[0])
        return self._perceive(self._trunk.pool(picture)[0], frame.at, None)

    def take(self, row: Floats, at: float) -> Percept:
        """The percept of a row of features (P,)."""
        if self._settings.uses_maps:
            raise InputError("this bundle's embedding sees whole pictures: give it a video, not features.")
        if row.shape != (self._settings.width,):
            raise InputError(
                f"this bundle was learned from {self._settings.width} features a row, {row.shape[0]} came: "
                "use the same network for the features, or another bundle."
            )
        return self._perceive(row, at, None)

    def reset(self) -> None:
        self._pace.reset()
        self._appearance.reset()
        self._context.reset()

    def _perceive(self, pooled: Floats, at: float, maps: Floats | None) -> Percept:
        features = self._appearance.push(pooled, at)
        seen = difference(features)[: self._settings.head_width] if maps is None else maps
        clip = np.stack(self._context.push(seen, at))
        return Percept(at, features, self._head.embed(clip[None])[0])
