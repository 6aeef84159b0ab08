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

ROOM: Final = 1.6  # percent of the bar that a number needs
ROOM_ON_A_PHONE: Final = 6.0  # the same on a narrow screen
LEAST_NAMED: Final = 0.4  # percent of the bar below which a stretch has no words of its own: it cannot be pointed at


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames of one label: step number, or a found step without a true partner.

    >>> stretches(np.array([0, 2, 2]), {2: "cut"})[1].words
    '2 cut'
    """

    label: int
    start: int
    end: int
    words: str
    mark: str
    colour: str


def coloured(truth: Sequence[Labels], found: Sequence[Labels]) -> list[Labels]:
    """Found labels in the numbers of the true steps they match best, over all recordings together."""
    return relabel(found, match_steps(truth, found), truth)


def stretches(labels: Labels, names: Mapping[int, str]) -> list[Stretch]:
    """The runs of equal labels; background has no colour, a step without a partner the colour of none."""
    cuts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)] if len(labels) else [0]
    return [_stretch(int(labels[start]), start, end, names) for start, end in pairwise(cuts)]


def draw(labels: Labels, names: Mapping[int, str], rate: float, title: str) -> str:
    """A bar: a gradient for all stretches, and a box with words for those wide enough to point at."""
    runs = stretches(labels, names)
    percent = 100 / max(len(labels), 1)
    stops = ",".join(f"{run.colour} {run.start * percent:.2f}% {run.end * percent:.2f}%" for run in runs)
    boxes = "".join(_box(run, percent, rate) for run in runs if (run.end - run.start) * percent >= LEAST_NAMED)
    return (
        f'<div class="bar" role="img" aria-label="{escape(title)}">'
        f'<div class="fill" style="background:linear-gradient(90deg,{stops})"></div>{boxes}</div>'
    )


def _stretch(label: int, start: int, end: int, names: Mapping[int, str]) -> Stretch:
    if label <= BACKGROUND:
        return Stretch(label, start, end, "background", "", "transparent")
    if label in names:
        return Stretch(label, start, end, f"{label} {names[label]}", str(label), f"var(--s{label})")
    return Stretch(label, start, end, "a found step without a true partner", "+", "var(--none)")


def _box(run: Stretch, percent: float, rate: float) -> str:
    left, width = run.start * percent, (run.end - run.start) * percent
    words = f"{run.words}, {run.start / rate:.1f} to {run.end / rate:.1f} s"
    mark = run.mark if width >= ROOM else ""
    ink = f";color:var(--i{run.label})" if run.colour.startswith("var(--s") else ""
    kind = ' class="small"' if mark and width < ROOM_ON_A_PHONE else ""
    return f'<b{kind} style="left:{left:.2f}%;width:{width:.2f}%{ink}" title="{escape(words)}">{mark}</b>'
