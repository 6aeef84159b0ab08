"""A white sheet to draw a picture with labels on: text, boxes, lines, dots; OpenCV underneath, RGB above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image

Colour = tuple[int, int, int]
Anchor = Literal["start", "middle", "end"]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (25, 25, 25)
GREY: Colour = (95, 95, 95)
FONT = cv2.FONT_HERSHEY_SIMPLEX
FINE = 4  # binary digits behind the point in coordinates that OpenCV takes as whole numbers


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels.

    >>> Box(10, 20, 100, 50).centre
    (60, 45)
    """

    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height

    @property
    def centre(self) -> tuple[int, int]:
        return self.left + self.width // 2, self.top + self.height // 2


class Sheet:
    """A picture in the making.

    >>> sheet = Sheet(40, 30)
    >>> sheet.fill(Box(0, 0, 10, 10), BLACK)
    >>> sheet.png()[1:4]
    b'PNG'
    """

    def __init__(self, width: int, height: int) -> None:
        self.image: Image = np.full((height, width, 3), WHITE, np.uint8)

    def text(
        self, words: str, at: tuple[int, int], size: float = 0.48, colour: Colour = BLACK, anchor: Anchor = "start"
    ) -> None:
        """Writes words on the line at `at`; the anchor says which part of them lies there."""
        width = cv2.getTextSize(words, FONT, size, 1)[0][0]
        shift = {"start": 0, "middle": width // 2, "end": width}[anchor]
        cv2.putText(self.image, words, (at[0] - shift, at[1]), FONT, size, colour, 1, cv2.LINE_AA)

    def sideways(self, words: str, centre: tuple[int, int], size: float = 0.48) -> None:
        """Writes words from the bottom up, their middle at `centre`; what lies beyond the sheet is cut off."""
        width = min(cv2.getTextSize(words, FONT, size, 1)[0][0] + 8, self.image.shape[0] - 2)
        strip = Sheet(width, 24)
        strip.text(words, (4, 17), size)
        top = int(np.clip(centre[1] - width // 2, 0, self.image.shape[0] - width))
        self.paste(np.rot90(strip.image), (max(0, centre[0] - 12), top))

    def fill(self, box: Box, colour: Colour) -> None:
        self.image[box.top : box.bottom, box.left : box.right] = colour

    def ramp(self, box: Box) -> None:
        """Fills a box with all shades, the brightest on top."""
        self.spread(np.linspace(1, 0, box.height)[:, None], box)

    def spread(self, values: NDArray[np.float64], box: Box) -> None:
        """Fills a box with the shades of values (N, M) from 0 to 1, the first row on top."""
        rows = np.arange(box.height) * values.shape[0] // box.height
        columns = np.arange(box.width) * values.shape[1] // box.width
        self.paste(shades(values)[rows][:, columns], (box.left, box.top))

    def frame(self, box: Box, colour: Colour = GREY) -> None:
        cv2.rectangle(self.image, (box.left, box.top), (box.right, box.bottom), colour, 1)

    def line(self, points: NDArray[np.float64], colour: Colour, width: int = 1) -> None:
        """A line through points (N, 2), x before y."""
        fine = np.round(points * 2**FINE).astype(np.int32)
        cv2.polylines(self.image, [fine[:, None]], False, colour, width, cv2.LINE_AA, FINE)

    def dot(self, at: tuple[float, float], colour: tuple[int, ...], radius: float = 3.0) -> None:
        x, y, r = (round(value * 2**FINE) for value in (*at, radius))
        cv2.circle(self.image, (x, y), r, colour, -1, cv2.LINE_AA, FINE)

    def paste(self, picture: Image, at: tuple[int, int]) -> None:
        """Lays a picture with its upper left corner at `at`."""
        self.image[at[1] : at[1] + picture.shape[0], at[0] : at[0] + picture.shape[1]] = picture

    def png(self) -> bytes:
        is_encoded, data = cv2.imencode(".png", np.ascontiguousarray(self.image[:, :, ::-1]))
        assert is_encoded, "OpenCV encodes any picture as PNG"
        return bytes(data.tobytes())


def shades(values: NDArray[np.float64]) -> Image:
    """Colours (N, M, 3) for values (N, M) from 0 (dark) to 1 (bright), even to the eye and to the colour-blind."""
    levels = np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)
    return np.ascontiguousarray(cv2.applyColorMap(levels, cv2.COLORMAP_VIRIDIS)[:, :, ::-1])
