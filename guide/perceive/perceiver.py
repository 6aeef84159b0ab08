"""From a frame (or a row of features) to the embedding that recognition rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame
from guide.errors import InputError
from guide.perceive.appearance import Appearance, AppearanceSettings, Embedder
from guide.perceive.embedder import Floats, OnnxTrunk
from guide.perceive.pace import Pace
from guide.perceive.preprocess import Preprocessing, to_network_input


@dataclass(frozen=True, slots=True)
class Percept:
    """What was seen at a moment, as an embedding (D,)."""

    at: float
    embedding: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PerceptionSettings:
    """What the bundle says of perception."""

    rate: float
    width: int
    """P: features that the trunk pools of a frame."""
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
        return self._perceive(self._trunk.pool(picture)[0], frame.at)

    def take(self, row: Floats, at: float) -> Percept:
        """The percept of a row of features (P,)."""
        if row.shape != (self._settings.width,):
            raise InputError(
                f"this bundle was learned from {self._settings.width} features a row, {row.shape[0]} came: "
                "use the same network for the features, or another bundle."
            )
        return self._perceive(row, at)

    def _perceive(self, pooled: Floats, at: float) -> Percept:
        return Percept(at, self._head.embed(self._appearance.push(pooled, at)[None])[0])


class BlindPerceiver:
    """Looks at the clock alone, where steps are marked by hand; a percept (1,) says that time has passed.

    >>> BlindPerceiver(2.0).see(Frame(0, 3.0, np.zeros((4, 4, 3), np.uint8))).at
    3.0
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._pace = Pace(rate)

    def is_due(self, at: float) -> bool:
        return self._pace.push(at)

    def see(self, frame: Frame) -> Percept:
        return Percept(frame.at, np.zeros(1, np.float32))

    def take(self, row: Floats, at: float) -> Percept:
        return Percept(at, np.zeros(1, np.float32))
