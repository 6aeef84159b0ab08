"""From a frame (or a row of features) to the embedding that recognition rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame, Image
from guide.errors import InputError
from guide.perceive.appearance import Appearance, AppearanceSettings, Embedder
from guide.perceive.embedder import Floats, OnnxTrunk
from guide.perceive.pace import Pace
from guide.perceive.preprocess import Preprocessing, to_network_input
from guide.perceive.region import MovingRegion, Region, RegionSettings, closer, crop


@dataclass(frozen=True, slots=True)
class Percept:
    """What was seen at a moment, as an embedding (D,), and where the second look went, if there was one."""

    at: float
    embedding: NDArray[np.float32]
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class PerceptionSettings:
    """What the bundle says of perception."""

    rate: float
    width: int
    """P: features that the trunk pools of a frame, by all looks together."""
    appearance: AppearanceSettings
    region: RegionSettings | None = None
    """How the second look finds its place; without, there is one look."""


class Perceiver:
    """Turns frames into percepts; `is_due` says which frames the working rate wants, the others are passed over.

    Without a trunk it takes rows of precomputed features instead of pictures. Where two looks `take_turns`, the trunk
    runs once a frame: on the whole picture or on the region, and the other stays as the frame before had it.
    """

    def __init__(self, settings: PerceptionSettings, head: Embedder, trunk: OnnxTrunk | None = None) -> None:
        self._settings, self._head, self._trunk = settings, head, trunk
        whole = None if trunk is None else Preprocessing.from_metadata(trunk.metadata)
        self._preprocessing = [] if whole is None else [whole]  # of each look
        if whole is not None and settings.region is not None:
            self._preprocessing.append(closer(whole, settings.region))
        self._pace = Pace(settings.rate)
        self._appearance = Appearance(settings.appearance)
        self._region = None if settings.region is None else MovingRegion(settings.region)
        self._pooled: list[Floats] = []  # (P,) by each look, the newest of each
        self._frames = 0
        self.take_turns = False

    @property
    def rate(self) -> float:
        """The working rate, in frames a second."""
        return self._settings.rate

    @property
    def time_needed(self) -> float:
        """The share of the time between two frames that two looks take on this machine; 0 where there is one."""
        if self._trunk is None or self._region is None:
            return 0.0
        return sum(self._trunk.seconds_a_picture(each.size_px) for each in self._preprocessing) * self.rate

    def is_due(self, at: float) -> bool:
        """Whether a frame taken at `at` is one to process; asked once a frame, before it is even decoded."""
        return self._pace.push(at)

    def see(self, frame: Frame) -> Percept:
        """The percept of a frame that is due."""
        if self._trunk is None:
            raise InputError("this bundle was learned from features, not from pictures: give it a .npy file.")
        region = None if self._region is None else self._region.push(frame.image, frame.at)
        looks = [frame.image] if region is None else [frame.image, crop(frame.image, region)]
        return self._perceive(self._pool(looks, self._trunk), frame.at, region)

    def _pool(self, looks: list[Image], trunk: OnnxTrunk) -> Floats:
        """What the trunk pools of the looks, side by side."""
        is_due = [not self._pooled or not self.take_turns or self._frames % len(looks) == n for n in range(len(looks))]
        self._pooled = [
            trunk.pool(to_network_input(image, self._preprocessing[n])[None])[0] if is_due[n] else self._pooled[n]
            for n, image in enumerate(looks)
        ]
        self._frames += 1
        return np.concatenate(self._pooled)

    def take(self, row: Floats, at: float) -> Percept:
        """The percept of a row of features (P,)."""
        if row.shape != (self._settings.width,):
            raise InputError(
                f"this bundle was learned from {self._settings.width} features a row, {row.shape[0]} came: "
                "use the same network for the features, or another bundle."
            )
        return self._perceive(row, at)

    def _perceive(self, pooled: Floats, at: float, region: Region | None = None) -> Percept:
        return Percept(at, self._head.embed(self._appearance.push(pooled, at)[None])[0], region)


class BlindPerceiver:
    """Looks at the clock alone, where steps are marked by hand; a percept (1,) says that time has passed.

    >>> BlindPerceiver(2.0).see(Frame(0, 3.0, np.zeros((4, 4, 3), np.uint8))).at
    3.0
    """

    take_turns = False
    time_needed = 0.0

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._pace = Pace(rate)

    def is_due(self, at: float) -> bool:
        return self._pace.push(at)

    def see(self, frame: Frame) -> Percept:
        return Percept(frame.at, np.zeros(1, np.float32))

    def take(self, row: Floats, at: float) -> Percept:
        return Percept(at, np.zeros(1, np.float32))
