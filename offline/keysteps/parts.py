"""Cutting recordings where their look changes: parts that are alike within, whatever they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from guide.domain import Labels
from guide.label.discriminant import whiten, whiten_scatter
from guide.teach.lesson import Floats

SHRINKAGE = 0.3  # how far the spread within parts is drawn towards a sphere
LEAST = 2  # frames of a part
MOST_BINS = 1500  # of a recording: more frames are merged first, or every pair of them would have to be weighed
ROUNDS = 2  # of cutting and learning what varies within parts; more change little
AWAY = 0.08  # of an average step: what changes in so short a time is no change of activity


@dataclass(frozen=True, slots=True)
class Cutting:
    """One way to cut all recordings: borders (S + 1,) of each, and what gives the spread within parts unit size."""

    borders: tuple[Labels, ...]  # in frames
    whitening: Floats  # (d, d)


def cut(rows: Sequence[Floats], length: float, step: float) -> Cutting:
    """Recordings' rows (T, d) cut into parts of `length` frames on average, where an average step has `step` frames.

    What varies within a part is of no account, and which parts there are decides what varies within them: so they are
    cut twice, first by what changes within moments.
    """
    away = max(1, round(AWAY * step))
    moments = [each[away:] - each[:-away] for each in rows if len(each) > away]
    whitening = whiten(np.concatenate(moments), SHRINKAGE) if moments else np.eye(rows[0].shape[1])
    borders: tuple[Labels, ...] = ()
    for _ in range(ROUNDS):
        borders = tuple(partition(each @ whitening, max(2, round(len(each) / length))) for each in rows)
        whitening = _whitening_within(rows, borders)
    return Cutting(borders, whitening)


def partition(rows: Floats, count: int) -> Labels:
    """Borders (S + 1,) of the S parts of rows (T, d), `count` where there is room, that lie nearest to their means.

    Exact, by dynamic programming over the last border; very long recordings are cut between merged frames only.

    >>> partition(np.array([[0.0], [0.1], [0.0], [5.0], [5.1]]), 2)
    array([0, 3, 5])
    """
    frames, every = len(rows), -(-len(rows) // MOST_BINS)
    if every > 1:
        bins = np.array([*range(0, frames, every), frames])
        return np.minimum(partition(part_means(rows, bins), count) * every, frames)
    count = max(1, min(count, frames // LEAST))
    costs = _costs(rows)
    before = np.arange(frames + 1)
    costs[before[None] - before[:, None] < LEAST] = np.inf
    best, backs = costs[0], []
    for _ in range(count - 1):
        total = best[:, None] + costs
        back = total.argmin(0)
        best = total[back, before]
        backs.append(back)
    borders = [frames]
    for back in reversed(backs):
        borders.append(int(back[borders[-1]]))
    return np.array([0, *reversed(borders)], np.int64)


def part_means(rows: Floats, borders: Labels) -> Floats:
    """The means (S, d) of the parts of rows (T, d)."""
    sums = _sums(rows)
    return np.asarray((sums[borders[1:]] - sums[borders[:-1]]) / np.diff(borders)[:, None])


def _costs(rows: Floats) -> Floats:
    """The squared distances (T + 1, T + 1) of rows[a:b] to their mean, summed."""
    sums = _sums(rows)
    squares = np.concatenate([[0.0], np.cumsum((rows**2).sum(1))])
    products = sums @ sums.T
    own = np.diag(products)
    places = np.arange(len(sums))
    lengths = np.maximum(places[None] - places[:, None], 1)
    return np.asarray(squares[None] - squares[:, None] - (own[None] + own[:, None] - 2 * products) / lengths)


def _sums(rows: Floats) -> Floats:
    return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])


def _whitening_within(rows: Sequence[Floats], borders: Sequence[Labels]) -> Floats:
    scatter, count = np.zeros((rows[0].shape[1],) * 2), 0
    for each, own in zip(rows, borders, strict=True):
        residuals = each - np.repeat(part_means(each, own), np.diff(own), axis=0)
        scatter, count = scatter + residuals.T @ residuals, count + len(each)
    return whiten_scatter(scatter, count, SHRINKAGE)
