"""What a cheap head camera does to the picture: motion blur, vignetting, flicker, white balance, noise."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image

from .camera import FOCAL_PX, HEIGHT_PX, WIDTH_PX, Camera
from .person import Person

EXPOSURE = 0.5  # share of the time between frames during which the shutter is open
NOISE = 4.0  # grey levels
FLICKER = 0.05
_MARGIN_PX = 64
_LONGEST_PX = 18.0  # blur of a turning head
_UNIT, _ZERO = 128, 128  # gain 1 and noise 0 as bytes: whole-byte arithmetic is several times faster


class Sensor:
    """One camera's defects over one recording; `expose` is called once per frame, in order."""

    def __init__(self, person: Person, rng: np.random.Generator) -> None:
        self.rng = rng
        rows, columns = np.mgrid[0:HEIGHT_PX, 0:WIDTH_PX]
        radius = np.hypot((columns - WIDTH_PX / 2) / (WIDTH_PX / 2), (rows - HEIGHT_PX / 2) / (HEIGHT_PX / 2))
        corner = rng.uniform(0.12, 0.3)
        gain = (1 - corner * radius**2 / 2)[..., None] * np.array(person.light_colour)
        self.gain = (gain * _UNIT).round().astype(np.uint8)
        shape = (HEIGHT_PX + _MARGIN_PX, WIDTH_PX + _MARGIN_PX, 3)
        # Fresh noise for every frame would cost more than the drawing: one tile is shifted and flipped instead.
        self.noise = (rng.standard_normal(shape, np.float32) * NOISE + _ZERO).round().clip(0, 255).astype(np.uint8)
        self.flicker = 0.0
        self.last: Camera | None = None

    def expose(self, image: Image, camera: Camera) -> Image:
        """The picture the camera gives, (H, W, 3)."""
        blurred = _smear(image, self._motion(camera))
        self.flicker = 0.85 * self.flicker + 0.5 * FLICKER * float(self.rng.standard_normal())
        top, left = self.rng.integers(0, _MARGIN_PX, 2)
        noise = self.noise[top : top + HEIGHT_PX, left : left + WIDTH_PX]
        lit = cv2.multiply(blurred, self.gain, scale=(1 + self.flicker) / _UNIT)
        return np.asarray(cv2.addWeighted(lit, 1, noise, 1, -_ZERO), np.uint8)

    def _motion(self, camera: Camera) -> NDArray[np.float64]:
        """How far the middle of the picture moves during the exposure (pixels)."""
        last, self.last = self.last or camera, camera
        turned = last.axes @ camera.axes[2]
        return np.asarray(EXPOSURE * FOCAL_PX * turned[:2] / max(float(turned[2]), 0.2))


def _smear(image: Image, motion: NDArray[np.float64]) -> Image:
    """The picture averaged along the motion: halves, quarters and eighths of it make eight even steps."""
    length = float(np.hypot(*motion))
    if length < 1.5:
        return image
    motion = motion * min(1.0, _LONGEST_PX / length)
    edge = int(_LONGEST_PX)
    smeared = cv2.copyMakeBorder(image, edge, edge, edge, edge, cv2.BORDER_REPLICATE)
    for share in (0.5, 0.25, 0.125):
        smeared = _average(smeared, round(float(motion[0]) * share), round(float(motion[1]) * share))
    top, left = (smeared.shape[0] - HEIGHT_PX) // 2, (smeared.shape[1] - WIDTH_PX) // 2
    return np.asarray(smeared[top : top + HEIGHT_PX, left : left + WIDTH_PX], np.uint8)


def _average(image: NDArray[Any], dx: int, dy: int) -> NDArray[Any]:
    """The mean of the picture and itself moved by (dx, dy) pixels, where both exist."""
    height, width = image.shape[0] - abs(dy), image.shape[1] - abs(dx)
    here = image[max(dy, 0) : max(dy, 0) + height, max(dx, 0) : max(dx, 0) + width]
    moved = image[max(-dy, 0) : max(-dy, 0) + height, max(-dx, 0) : max(-dx, 0) + width]
    return np.asarray(cv2.addWeighted(here, 0.5, moved, 0.5, 0))
