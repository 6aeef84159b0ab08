"""Colour bars of labels, as HTML: one stripe a recording, a colour for every step, numbers where there is room."""

from __future__ import annotations

import colorsys
import io
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np
from PIL import Image

from guide.domain import BACKGROUND, Labels
from offline.metrics import match_steps, relabel

ROOM: Final = 1.6  # percent of the bar that a number needs
ROOM_ON_A_PHONE: Final = 6.0  # the same on a narrow screen
NOTHING: Final = (0, 0, 0, 0)  # background lets the hatching through
MOST_COLUMNS: Final = 1600
"""More than a bar is wide on most screens, in pixels."""
PALETTE: Final = 256  # colours that an indexed picture can hold
LIGHTNESS: Final = (0.40, 0.56, 0.74)  # neighbouring hues differ in lightness as well
STRIDE: Final = 0.381966  # of the colour circle, the golden section: steps that follow one another lie far apart
DARK_INK: Final = "#111"
LIGHT_INK: Final = "#fff"
NO_PARTNER: Final = "#4a4a52"
"""The colour of found steps that no true one matches."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames of one label, and what is written on them: the step's number, or + for one without a true partner.

    >>> stretches(np.array([0, 2, 2]), {2: "cut"})[1]
    Stretch(label=2, start=1, end=3, mark='2')
    """

    label: int
    start: int
    end: int
    mark: str


def coloured(truth: Sequence[Labels], found: Sequence[Labels]) -> list[Labels]:
    """Found labels in the numbers of the true steps they match best, over all recordings together."""
    return relabel(found, match_steps(truth, found), truth)


def stretches(labels: Labels, names: Mapping[int, str]) -> list[Stretch]:
    """The runs of equal labels; background has no mark."""
    cuts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)] if len(labels) else [0]
    return [_stretch(int(labels[start]), start, end, names) for start, end in pairwise(cuts)]


def draw(labels: Labels, names: Mapping[int, str], title: str) -> str:
    """A bar: a picture of all stretches, and the numbers of those wide enough to bear one.

    A picture, since thousands of stretches (random labels have them) would make megabytes of anything else.
    """
    percent = 100 / max(len(labels), 1)
    colours = step_colours(list(names))
    marks = "".join(
        _mark(run, percent, is_dark=colours.get(run.label, ("", ""))[1] == DARK_INK)
        for run in stretches(labels, names)
        if run.mark and (run.end - run.start) * percent >= ROOM
    )
    picture = f'<img alt="" src="{_address(labels, colours)}">' if len(labels) else ""
    return f'<div class="bar" role="img" aria-label="{escape(title)}">{picture}{marks}</div>'


def _address(labels: Labels, colours: Mapping[int, tuple[str, str]]) -> str:
    """A picture of labels (T,), T at least 1, one pixel high, as an address that a page can hold itself."""
    count = len(labels)
    if count > MOST_COLUMNS:  # the frame amid each column
        labels = labels[(2 * np.arange(MOST_COLUMNS) + 1) * count // (2 * MOST_COLUMNS)]
    classes, places = np.unique(labels, return_inverse=True)
    drawn = [
        NOTHING if one <= BACKGROUND else _opaque(colours.get(one, (NO_PARTNER, ""))[0]) for one in classes.tolist()
    ]
    table, options = np.array(drawn, np.uint8), dict[str, bytes]()
    if len(table) <= PALETTE:
        picture = Image.fromarray(places.astype(np.uint8)[None])
        picture.putpalette(table[:, :3].tobytes())
        options["transparency"] = table[:, 3].tobytes()
    else:
        picture = Image.fromarray(table[places][None])
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True, **options)
    return "data:image/png;base64," + b64encode(out.getvalue()).decode("ascii")


def _opaque(colour: str) -> tuple[int, int, int, int]:
    """A colour `#rrggbb` as numbers."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue, 255


def _stretch(label: int, start: int, end: int, names: Mapping[int, str]) -> Stretch:
    mark = "" if label <= BACKGROUND else str(label) if label in names else "+"
    return Stretch(label, start, end, mark)


def _mark(run: Stretch, percent: float, is_dark: bool) -> str:
    left, width = run.start * percent, (run.end - run.start) * percent
    words = " ".join(word for word, holds in (("dark", is_dark), ("small", width < ROOM_ON_A_PHONE)) if holds)
    kind = f' class="{words}"' if words else ""
    return f'<b{kind} style="left:{left:.1f}%;width:{width:.1f}%">{run.mark}</b>'


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
