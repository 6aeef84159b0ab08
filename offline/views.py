"""Recordings seen otherwise: in other colours and from another angle, to learn from besides.

A colour or a tilt that no demonstration shows lies so far from all of them that it counts as unknown activity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from guide.domain import Image

VERSION: Final = 1  # raised whenever the same view gives other pictures
ZOOM: Final = 1.1  # so that less of a turned picture comes from beyond its border


@dataclass(frozen=True, slots=True)
class View:
    """How a picture is seen otherwise.

    >>> red = np.full((4, 4, 3), (200, 0, 0), np.uint8)
    >>> View(hue=60, saturation=0.5, angle=24.0).of(red)[0, 0].tolist()
    [100, 200, 100]
    """

    hue: int
    """By how much hues are turned, of OpenCV's 180."""
    saturation: float
    """How strong colours are, times what they were."""
    angle: float
    """Degrees by which the picture is turned about its middle; what comes in mirrors what is beside it."""

    def of(self, image: Image) -> Image:
        """The picture (H, W, 3), seen so."""
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(np.int16) + self.hue) % 180
        hsv[..., 1] = cv2.convertScaleAbs(hsv[..., 1], alpha=self.saturation)
        coloured = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
        height, width = image.shape[:2]
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), self.angle, ZOOM)
        return np.asarray(cv2.warpAffine(coloured, turn, (width, height), borderMode=cv2.BORDER_REFLECT_101))


VIEWS: Final = (View(hue=60, saturation=1.5, angle=24.0), View(hue=-60, saturation=0.5, angle=-24.0))
"""What is learned from besides, in this order; chosen on recordings of one task, see docs/results.md."""
