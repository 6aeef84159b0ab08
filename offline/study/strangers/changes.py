"""Pictures as a stranger or a long day would make them: other light, gloves, a mirrored bench, a tilted camera."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image

Change: TypeAlias = Callable[[Image], Image]
Hands: TypeAlias = Literal["skin", "robot"]

DARKER: Final = 0.45  # of the light
WARMER: Final = (1.15, 1.0, 0.65)  # red, green, blue: a bulb in place of daylight
TILT: Final = 15.0  # degrees
GLOVE: Final = (110, 170, 80)  # hue of OpenCV's 180, saturation, and the least value: the blue of nitrile
SKIN: Final = ((40, 135, 85), (255, 180, 135))  # from and to, Y, Cr, Cb
BLACK: Final = ((0, 0, 0), (180, 255, 60))  # from and to, hue, saturation, value: a robot's fingers,
STEEL: Final = ((85, 12, 60), (130, 110, 255))  # its steel and white plastic
SMALLEST: Final = 5  # pixels of an ellipse: what is thinner than it is no hand


def darker(image: Image) -> Image:
    return np.asarray(cv2.convertScaleAbs(image, alpha=DARKER))


def warmer(image: Image) -> Image:
    return np.asarray(np.clip(image * np.array(WARMER), 0, 255), np.uint8)


def mirrored(image: Image) -> Image:
    """The other hand's, or the bench built the other way round."""
    return np.ascontiguousarray(image[:, ::-1])


def tilted(image: Image) -> Image:
    """Turned about its middle; what comes in at the corners mirrors what is beside it."""
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), TILT, 1.0)
    return np.asarray(cv2.warpAffine(image, turn, (width, height), borderMode=cv2.BORDER_REFLECT_101))


def gloved(image: Image, hands: Hands) -> Image:
    """Pixels of the colour of hands turned blue, about as light and dark as they were."""
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    is_hand = hand_pixels(image, hands)
    hsv[is_hand, 0], hsv[is_hand, 1], darkest = GLOVE
    hsv[is_hand, 2] = np.maximum(hsv[is_hand, 2], darkest)
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))


def hand_pixels(image: Image, hands: Hands) -> NDArray[np.bool_]:
    """Pixels (H, W) of the colour of hands: skin, or black, steel and white plastic of a robot's.

    >>> skin, table = (np.full((9, 9, 3), colour, np.uint8) for colour in ((210, 150, 120), (90, 120, 200)))
    >>> bool(hand_pixels(skin, "skin").all()), bool(hand_pixels(table, "skin").any())
    (True, False)
    """
    if hands == "skin":
        found = cv2.inRange(cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb), *map(np.array, SKIN))
    else:
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        found = cv2.bitwise_or(*(cv2.inRange(hsv, *map(np.array, colours)) for colours in (BLACK, STEEL)))
    round_ = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (SMALLEST, SMALLEST))
    return np.asarray(cv2.morphologyEx(found, cv2.MORPH_OPEN, round_) > 0)


def changes(hands: Hands) -> Mapping[str, Change]:
    """By what the table calls them."""
    return {
        "darker": darker,
        "warmer light": warmer,
        "gloves": lambda image: gloved(image, hands),
        "mirrored": mirrored,
        f"tilted {TILT:g}°": tilted,
    }
