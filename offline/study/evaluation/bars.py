"""Colour bars of labels, as HTML: one stripe a recording, numbers written where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np

from guide.domain import BACKGROUND, Labels
from offline.metrics import match_steps, relabel
from offline.study.evaluation.colours import DARK_INK, NO_PARTNER, step_colours
from offline.study.evaluation.stripe import RGBA, address

ROOM: Final = 1.6  # percent of the bar that a number needs
ROOM_ON_A_PHONE: Final = 6.0  # the same on a narrow screen
NOTHING: Final = (0, 0, 0, 0)  # background lets the hatching through


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
    picture = f'<img alt="" src="{address(labels, _table(labels, colours))}">' if len(labels) else ""
    return f'<div class="bar" role="img" aria-label="{escape(title)}">{picture}{marks}</div>'


def _table(labels: Labels, colours: Mapping[int, tuple[str, str]]) -> dict[int, RGBA]:
    return {
        label: NOTHING if label <= BACKGROUND else _opaque(colours.get(label, (NO_PARTNER, ""))[0])
        for label in np.unique(labels).tolist()
    }


def _opaque(colour: str) -> RGBA:
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
