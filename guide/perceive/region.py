"""Where to look: the part of the picture in which something moves otherwise than the camera does.

Hands and tools cover little of a head camera's picture, and the picture moves as a whole with the head. What is left
once that shift is taken out is what is done. The region follows it over the past alone and slowly, so it neither jumps
between two hands nor wanders off while both rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Frame, Image
from guide.perceive.preprocess import Preprocessing

# Raised whenever the same pictures give another region: cached features are then made anew.
VERSION = 2

Grey: TypeAlias = NDArray[np.float32]  # (HEIGHT_PX, WIDTH_PX)

WIDTH_PX, HEIGHT_PX = 160, 120  # a hand still covers hundreds of pixels, and the shift takes a millisecond
BLUR_PX = 1.0  # sensor noise goes before pictures are compared
SPREAD_PX = 4.0  # edges left over by a shift of half a pixel are thin; what moves is broad
LEAST_LEVELS = 3.0  # of 255: a smaller difference is noise
EARLY_S = 0.01  # timestamps are rounded
GRID_PX = 32  # trunks halve a picture five times: every cell of the last map sees whole pixels


class Region(NamedTuple):
    """A square part of a picture: its centre as parts of width and height, its side as a part of the shorter edge."""

    x: float
    y: float
    side: float


@dataclass(frozen=True, slots=True)
class RegionSettings:
    """How the region is found.

    >>> RegionSettings().side
    0.5
    """

    side: float = 0.5
    """Of the shorter edge of the picture: room for two hands and what is between them."""
    apart_s: float = 0.2
    """Between the two pictures that are compared: a hand has moved by then, the head has not turned away."""
    smoothing_s: float = 0.46
    """The centre goes two thirds of the way to what moves in this time."""
    detail: float = 0.86
    """Side of the trunk's input for it, of that for the whole picture: a quarter less work, and little is lost."""
    hold: float = 0.0
    """The region rests while what moves lies this near to its centre, as a part of the picture."""


class MovingRegion:
    """Gives the region to look at for each picture, from it and those before it.

    >>> MovingRegion(RegionSettings()).push(np.zeros((480, 640, 3), np.uint8), at=0.0)
    Region(x=0.5, y=0.5, side=0.5)
    """

    def __init__(self, settings: RegionSettings) -> None:
        self._settings = settings
        self._past: deque[tuple[float, Grey]] = deque()
        self._centre = np.array([0.5, 0.5])
        self._follows = False

    def push(self, image: Image, at: float) -> Region:
        """The region of the picture (H, W, 3) taken at `at`; where nothing moves it stays."""
        grey = small_grey(image)
        if self._past and at < self._past[-1][0]:
            self._past.clear()  # a clock that was put back: what is compared must lie in the past
        if self._past:
            target = centre_of_motion(self._compared(at), grey)
            if target is not None:
                self._follow(target, at - self._past[-1][0])
        self._past.append((at, grey))
        return Region(float(self._centre[0]), float(self._centre[1]), self._settings.side)

    def _compared(self, at: float) -> Grey:
        """The newest picture that is old enough, or the oldest there is."""
        latest = at - self._settings.apart_s + EARLY_S
        while len(self._past) > 1 and self._past[1][0] <= latest:
            self._past.popleft()
        return self._past[0][1]

    def _follow(self, target: NDArray[np.float64], passed_s: float) -> None:
        far = float(np.abs(target - self._centre).max())
        self._follows = far > (0.25 * self._settings.hold if self._follows else self._settings.hold)
        if self._follows or not self._settings.hold:
            part = 1.0 - np.exp(-max(passed_s, 0.0) / self._settings.smoothing_s)
            self._centre = self._centre + part * (target - self._centre)


def second_looks(
    frames: Iterable[Frame], settings: RegionSettings, is_wanted: Callable[[int], bool] = lambda number: True
) -> Iterator[Frame]:
    """The part to look at more closely of the frames wanted, by number; what moves is followed through all of them."""
    moving = MovingRegion(settings)
    for number, frame in enumerate(frames):
        region = moving.push(frame.image, frame.at)
        if is_wanted(number):
            yield replace(frame, image=crop(frame.image, region))


def closer(preprocessing: Preprocessing, settings: RegionSettings) -> Preprocessing:
    """How the trunk's input is made of a region, where so it is made of the whole picture.

    >>> closer(Preprocessing(224, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)), RegionSettings()).size_px
    192
    """
    size_px = max(round(settings.detail * preprocessing.size_px / GRID_PX), 1) * GRID_PX
    return replace(preprocessing, size_px=min(size_px, preprocessing.size_px))


def crop(image: Image, region: Region) -> Image:
    """The pixels of a region, all within the picture (H, W, 3); a view.

    >>> crop(np.zeros((480, 640, 3), np.uint8), Region(1.0, 0.0, 0.5)).shape
    (240, 240, 3)
    """
    left, top, side = pixels(image, region)
    return image[top : top + side, left : left + side]


def pixels(image: Image, region: Region) -> tuple[int, int, int]:
    """Left, top and side of a region of the picture (H, W, 3), moved inwards where it would leave it."""
    height, width = image.shape[:2]
    side = max(round(region.side * min(height, width)), 1)
    left = round(region.x * width - side / 2)
    top = round(region.y * height - side / 2)
    return min(max(left, 0), width - side), min(max(top, 0), height - side), side


def small_grey(image: Image) -> Grey:
    """The picture (H, W, 3) small, grey and without its noise."""
    small = cv2.resize(image, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), BLUR_PX))


def centre_of_motion(before: Grey, now: Grey) -> NDArray[np.float64] | None:
    """The centre (x, y) in [0, 1] of what moved otherwise than the picture as a whole; nothing where none did."""
    (right, down), _ = cv2.phaseCorrelate(before.copy(), now.copy(), _window())  # it windows its arguments in place
    shift = np.array([[1, 0, right], [0, 1, down]], np.float32)
    moved = cv2.warpAffine(before, shift, (WIDTH_PX, HEIGHT_PX), borderValue=np.nan)
    difference = np.nan_to_num(np.abs(moved - now), nan=0.0)  # what came into the picture has nothing to compare with
    left = cv2.GaussianBlur(difference, (0, 0), SPREAD_PX) - LEAST_LEVELS
    weights = np.maximum(left, 0.0)
    total = float(weights.sum())
    if total <= 0:
        return None
    across, along = weights.sum(0), weights.sum(1)
    x = float(across @ (np.arange(WIDTH_PX) + 0.5)) / total / WIDTH_PX
    y = float(along @ (np.arange(HEIGHT_PX) + 0.5)) / total / HEIGHT_PX
    return np.array([x, y])


@cache
def _window() -> Grey:
    """Edges fade: what enters the picture there has no counterpart."""
    return np.asarray(cv2.createHanningWindow((WIDTH_PX, HEIGHT_PX), cv2.CV_32F))
