"""How what a checker finds grows with the demonstrations that taught it, as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

WIDTH, HEIGHT, MARGIN = 640, 360, 48
TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
COLOURS: Final = ("#0b6e99", "#c2410c", "#15803d", "#7c3aed")
DASHES: Final = ("", "6 4")


def draw(counts: Sequence[int], curves: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """An SVG of curves from 0 to 1 over numbers of demonstrations: a colour for each measure, a dash for each checker.

    >>> draw([5, 20], {"ours": {"recall": [0.25, 0.5]}}).count("<polyline")
    1
    """
    across = _scale(math.log(min(counts)), math.log(max(counts)), MARGIN, WIDTH - 4 * MARGIN)
    up = _scale(0.0, 1.0, HEIGHT - MARGIN, MARGIN / 2)
    parts = [f'<text x="{MARGIN - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>' for tick in TICKS]
    left, right = across(math.log(min(counts))), across(math.log(max(counts)))
    parts += [f'<path d="M{left:.1f} {up(tick):.1f}H{right:.1f}" stroke="#ddd"/>' for tick in TICKS]
    low = HEIGHT - MARGIN + 18
    parts += [f'<text x="{across(math.log(n)):.1f}" y="{low}" text-anchor="middle">{n}</text>' for n in counts]
    parts += [f'<text x="{(left + right) / 2:.1f}" y="{low + 20}" text-anchor="middle">demonstrations</text>']
    lines = [(checker, measure, values) for checker, own in curves.items() for measure, values in own.items()]
    measures, checkers = list(dict.fromkeys(measure for _, measure, _ in lines)), list(curves)
    for row, (checker, measure, values) in enumerate(lines):
        look = f'stroke="{COLOURS[measures.index(measure)]}" stroke-dasharray="{DASHES[checkers.index(checker)]}"'
        points = " ".join(f"{across(math.log(n)):.1f},{up(one):.1f}" for n, one in zip(counts, values, strict=True))
        y = MARGIN / 2 + 20 * row
        parts += [
            f'<polyline points="{points}" fill="none" stroke-width="2" {look}/>',
            f'<path d="M{right + 16:.1f} {y:.1f}h24" stroke-width="2" {look}/>',
            f'<text x="{right + 46:.1f}" y="{y + 4:.1f}">{escape(f"{measure}, {checker}")}</text>',
        ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
    return f'{head} font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    """Where a value lies, in the picture's own units."""
    span = (high - low) or 1.0
    return lambda value: first + (last - first) * (value - low) / span
