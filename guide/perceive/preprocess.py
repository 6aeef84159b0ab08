"""From a picture to the network's input: the one preprocessing, shared by training and live."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image
from guide.errors import BundleError

NetworkInput: TypeAlias = NDArray[np.float32]  # (3, S, S)

# Raised whenever `to_network_input` gives other numbers for the same picture: cached features are then made anew.
VERSION = 1
LARGEST_SIZE_PX = 4096


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """What a trunk expects of its input: a square RGB picture of `size_px`, scaled to `(x / 255 - mean) / std`.

    >>> facts = Preprocessing(size_px=224, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    >>> Preprocessing.from_metadata(facts.to_metadata()) == facts
    True
    """

    size_px: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    version: int = VERSION

    def __post_init__(self) -> None:
        if not 1 <= self.size_px <= LARGEST_SIZE_PX:
            raise ValueError(f"the input size must be 1 to {LARGEST_SIZE_PX} pixels, got {self.size_px}")
        if len(self.mean) != 3 or len(self.std) != 3 or not np.isfinite((*self.mean, *self.std)).all():
            raise ValueError(f"mean and std need three finite numbers each, got {self.mean} and {self.std}")
        if min(self.std) <= 0:
            raise ValueError(f"std must be positive, got {self.std}")

    def to_metadata(self) -> dict[str, str]:
        """The facts as an ONNX file's metadata carries them: strings only."""
        return {
            "size_px": json.dumps(self.size_px),
            "mean": json.dumps(self.mean),
            "std": json.dumps(self.std),
            "preprocessing_version": json.dumps(self.version),
        }

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str]) -> Preprocessing:
        """The facts read back; raises BundleError when they are missing, senseless or of another version."""
        try:
            read: dict[str, Any] = {name: json.loads(metadata[name]) for name in ("size_px", "mean", "std")}
            version = int(json.loads(metadata["preprocessing_version"]))
            facts = cls(int(read["size_px"]), _three(read["mean"]), _three(read["std"]), version)
        except (KeyError, TypeError, ValueError) as error:
            raise BundleError(
                f"the trunk's metadata must say how pictures are prepared ({error}): export the bundle again."
            ) from error
        if version != VERSION:
            raise BundleError(
                f"the trunk was trained with preprocessing version {version}, this program has version {VERSION}: "
                "train the bundle again."
            )
        return facts


def to_network_input(image: Image, preprocessing: Preprocessing) -> NetworkInput:
    """The picture (H, W, 3) squashed to (3, S, S) float32, RGB, normalised.

    The whole picture is kept, at the price of its aspect ratio: hands work at the edges too.
    """
    image = squash(image, preprocessing)
    values = level_values(preprocessing)
    planes = np.empty((3, *image.shape[:2]), np.float32)
    for channel, plane in enumerate(cv2.split(image)):
        # A look-up is exact and several times cheaper than arithmetic on floats: there are only 256 values.
        cv2.LUT(plane, values[channel], planes[channel])
    return planes


def squash(image: Image, preprocessing: Preprocessing, place: Image | None = None) -> Image:
    """The picture (H, W, 3) as (S, S, 3), still in bytes; what is left to do is to look its levels up.

    It is written into `place` where one is given.
    """
    size = (preprocessing.size_px, preprocessing.size_px)
    if image.shape[:2] != size:
        return cast(Image, cv2.resize(image, size, place, interpolation=cv2.INTER_AREA))
    if place is None:
        return image
    place[:] = image
    return place


@lru_cache(maxsize=8)
def level_values(preprocessing: Preprocessing) -> NDArray[np.float32]:
    """The network's value for each of the 256 levels of each channel, (3, 256)."""
    levels = np.arange(256, dtype=np.float64) / 255.0
    table = (levels[None] - np.array(preprocessing.mean)[:, None]) / np.array(preprocessing.std)[:, None]
    return cast(NDArray[np.float32], table.astype(np.float32))


def _three(values: Any) -> tuple[float, float, float]:
    first, second, third = (float(value) for value in values)
    return first, second, third
