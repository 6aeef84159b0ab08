"""Labels teach a discriminant, and the discriminant labels others, under what recordings of one task share.

Optimal transport hands out the discriminant's scores: every frame is given away once, every step gets about the share
of the time it has on average, and hardly anything where it is never done. That place is learned from the labels too, so
steps that people do in different orders keep a wide one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from guide.domain import Labels
from guide.label.chain import chain
from guide.label.discriminant import ClassSums, Discriminant

Floats = NDArray[np.float64]

PLACES = 40  # bins of normalised time
TRANSPORT_ROUNDS = 50
LEAST_SHARE = 1e-3
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class LessonSettings:
    """How labels are taught and handed out anew. Times are in units of the average step, so that no rate matters.

    >>> LessonSettings().directions
    128
    """

    directions: int = 128
    """Principal directions of the features that are kept."""
    smoothing: float = 0.08
    """Features are smoothed over this part of an average step."""
    shrinkage: float = 0.3
    """How far the within-step covariance is drawn towards a sphere."""
    temperature: float = 5.0
    """Divides log-likelihoods: neighbouring frames are no independent witnesses."""
    place_weight: float = 1.0
    """Weight of what speaks against a step where it is never done; a place never speaks for one."""
    place_width: float = 0.1
    """How far a place spreads, as a part of the recording."""
    softness: float = 1.0
    """Entropy of the transport plan."""
    share_weight: float = 5.0
    """How firmly the steps' shares of the time are kept; recordings differ."""
    change: float = 0.2
    """What a change of label costs, in average steps of evidence of one nat a second."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What labelled recordings teach: how each column looks, when it is done, and how much of the time it takes."""

    learned: Discriminant
    places: Floats  # (PLACES, C), logarithms
    shares: Floats  # (C,)

    def label(self, rows: Floats, change: float, settings: LessonSettings) -> Labels:
        """The labels (T,) of a recording's rows (T, d); `change` is what a change of label costs, in frames."""
        return chain(-np.log(self.plan(rows, settings) + 1e-9), np.full(len(rows) - 1, change))

    def plan(self, rows: Floats, settings: LessonSettings) -> Floats:
        """How probable each column is by its look, its place and its share of the time, (T, C)."""
        score = _score(rows, self.learned, len(self.shares))
        place = self.places[np.minimum(np.arange(len(score)) * PLACES // len(score), PLACES - 1)]
        cost = -score / settings.temperature - settings.place_weight * place
        return transport(cost, self.shares, settings.softness, settings.share_weight)

    def anywhere(self, column: int) -> Lesson:
        """The same with a column that may be done at any time: its place says nothing."""
        places = self.places.copy()
        places[:, column] = 0.0
        return replace(self, places=places)


def teach(sums: Sequence[ClassSums], labels: Sequence[Labels], settings: LessonSettings) -> Lesson:
    """The lesson of recordings by the sums of their rows and their labels (T,) in columns 0..C-1.

    A place speaks only against a step: or idle time at the beginning would be the first one.
    """
    columns = len(sums[0].numbers)
    shares = np.mean([np.bincount(each, minlength=columns) / len(each) for each in labels], axis=0) + LEAST_SHARE
    places = np.minimum(_places(labels, columns, settings.place_width), 0.0)
    return Lesson(ClassSums.total(sums).discriminant(settings.shrinkage), places, shares / shares.sum())


def transport(cost: Floats, shares: Floats, softness: float, share_weight: float) -> Floats:
    """The plan (T, C) of least cost that gives every frame away once and steps about their `shares` (C,) of the time.

    Rows sum to 1. Steps may deviate from their shares at a Kullback-Leibler price of `share_weight`.

    >>> transport(np.array([[0.0, 9.0], [9.0, 0.0]]), np.array([0.5, 0.5]), 1.0, 5.0).round(2)
    array([[1., 0.],
           [0., 1.]])
    """
    # A factor a row changes nothing, since rows are made to sum to 1: so each row's best is 1, and nothing overflows.
    kernel = np.exp((cost.min(1, keepdims=True) - cost) / softness)
    damping = share_weight / (share_weight + softness)
    wanted = shares * len(cost)
    column = np.ones(len(shares))
    for _ in range(TRANSPORT_ROUNDS):
        row = 1.0 / (kernel @ column)
        column = (wanted / np.maximum(row @ kernel, TINY)) ** damping
    return np.asarray(kernel * column / (kernel @ column)[:, None])


def _score(rows: Floats, learned: Discriminant, columns: int) -> Floats:
    """How well each column explains each frame (T, C), 0 for the best one; a column not learned explains nothing."""
    numbers, centres, whitening = learned
    score = np.full((len(rows), columns), -np.inf)
    # Minus half the squared distance, less what is the same for all columns of a frame: so much less to multiply.
    along = whitening @ (centres @ whitening).T
    score[:, numbers] = rows @ along - 0.5 * np.einsum("cd,dc->c", centres, along)
    return np.asarray(np.maximum(score - score.max(1, keepdims=True), -1e3))


def _places(labels: Sequence[Labels], columns: int, width: float) -> Floats:
    """The logarithm of each column's density over normalised time, (PLACES, C); 0 is evenly spread."""
    counts = np.zeros((PLACES, columns))
    for each in labels:
        place = np.minimum(np.arange(len(each)) * PLACES // len(each), PLACES - 1)
        each_count = np.zeros((PLACES, columns))
        np.add.at(each_count, (place, each), 1.0)
        counts += each_count / np.maximum(each_count.sum(0), 1.0)
    smooth = gaussian_filter1d(counts, width * PLACES, axis=0, mode="nearest")
    density = smooth / np.maximum(smooth.sum(0), 1e-12) * PLACES
    return np.asarray(np.log(density + 0.02))
