"""A colour for every step, and a colour of text that can be read on it."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from typing import Final

LIGHTNESS: Final = (0.40, 0.56, 0.74)  # neighbouring hues differ in lightness as well
STRIDE: Final = 0.381966  # of the colour circle, the golden section: steps that follow one another lie far apart
DARK_INK: Final = "#111"
LIGHT_INK: Final = "#fff"
NO_PARTNER: Final = "#4a4a52"
"""The colour of found steps that no true one matches."""


def step_colours(steps: Sequence[int]) -> dict[int, tuple[str, str]]:
    """For each step its colour and the colour of a number written on it.

    >>> step_colours([1])
    {1: ('#a42828', '#fff')}
    """
    colours = {}
    count, stride = len(steps), _stride(len(steps))
    for place, step in enumerate(sorted(steps)):
        hue = place * stride % count  # every one of `count` hues once
        red, green, blue = colorsys.hls_to_rgb(hue / count, LIGHTNESS[hue % len(LIGHTNESS)], 0.61)
        ink = DARK_INK if _luminance(red, green, blue) > 0.26 else LIGHT_INK
        colours[step] = ("#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue)), ink)
    return colours


def _stride(count: int) -> int:
    """How many hues on the next step lies: a number without a common divisor with `count`, so that all are met."""
    strides = [stride for stride in range(1, count + 1) if math.gcd(stride, count) == 1]
    return min(strides, key=lambda stride: abs(stride - STRIDE * count), default=1)


def _luminance(red: float, green: float, blue: float) -> float:
    """How bright a colour looks, 0 to 1 (WCAG's relative luminance)."""
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
