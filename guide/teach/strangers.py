"""Demonstrations as if nobody had ever seen the person: what the others alone say of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.directions import ROWS_AT_ONCE, Floats, Reduction, narrowing, rows_along, wide_reduction
from guide.label.discriminant import fit_discriminant
from guide.label.manner import Manners, manners_in, plane_of
from guide.label.novelty import Surroundings
from guide.label.recogniser import Recogniser, RecogniserSettings
from guide.label.scatter import Scatters, does_pay

FOLDS = 6  # parts of the demonstrations that are strangers to the rest in turn
MOST_MANNERED = 40_000  # frames of the demonstrations that show how steps are done
MOST_TEACHING = 5_600  # frames of the others that show how far strangers are: this is done once for each part


class Stranger(NamedTuple):
    """A demonstration as if nobody had ever seen the person: what the others alone say of it."""

    distances: Floats  # (T, C), infinite to a step that no other has
    manners: Manners | None
    manner: Floats  # (T, r)


class Lessons(NamedTuple):
    """The demonstrations that are looked at, each as it is and as the rows that it teaches with."""

    features: Sequence[NDArray[Any]]  # (T, P)
    labels: Sequence[Labels]
    taught: Sequence[NDArray[Any]]  # in other orders and before other benches too
    taught_labels: Sequence[Labels]

    def of(self, places: Sequence[int]) -> Lessons:
        """Some of them."""
        return Lessons(*([part[place] for place in places] for part in self))

    def thin(self, stride: int) -> Lessons:
        """The same, teaching with every so many-th row."""
        taught, labels = ([each[::stride] for each in part] for part in (self.taught, self.taught_labels))
        return Lessons(self.features, self.labels, taught, labels)


def strangers(lessons: Lessons, scale: Floats, numbers: Labels) -> list[Stranger]:
    """What the demonstrations look like to a guide that never saw the person; distances are to the steps in `numbers`.

    The directions in which demonstrations vary hold what is peculiar to each of them, so some of them at a time are
    looked at along directions that come from the others alone, and with their manners.
    """
    found: dict[int, Stranger] = {}
    count, components = len(lessons.features), RecogniserSettings().components
    folds = [range(fold, count, FOLDS) for fold in range(min(FOLDS, count))]
    every = [lessons.of([place for place in range(count) if place not in held] or list(held)) for held in folds]
    strides = [_stride(others) for others in every]
    scatters = _scatters(lessons, folds, strides)
    for fold, (held, others, stride) in enumerate(zip(folds, every, strides, strict=True)):
        known = None if scatters is None else scatters.without(fold, components)
        around = _surroundings(others.thin(stride), scale, known)
        manners = manners_of(around.recogniser, others.features, others.labels)
        for place in held:
            found[place] = _stranger(around, manners, lessons.features[place], numbers)
    return [found[place] for place in range(count)]


def manners_of(recogniser: Recogniser, features: Sequence[NDArray[Any]], labels: Sequence[Labels]) -> Manners | None:
    """The manners of demonstrations' features (T, P) with labels (T,), as a recogniser has them."""
    stride = max(1, -(-sum(map(len, labels)) // MOST_MANNERED))
    plane = plane_of(recogniser.centres)
    # Straight to the plane, which is narrow, and a recording at a time: many are long.
    directions = recogniser.projection @ plane
    rows = (rows_along(each[::stride], recogniser.mean, directions) for each in features)
    return manners_in(plane, rows, [each[::stride] for each in labels])


def _stride(lessons: Lessons) -> int:
    """Every which row of these teaches."""
    return max(1, -(-sum(map(len, lessons.taught_labels)) // MOST_TEACHING))


def _scatters(lessons: Lessons, folds: Sequence[range], strides: Sequence[int]) -> Scatters | None:
    """How each fold's rows vary together, where all folds are taught by the same rows and it saves time."""
    taught = lessons.thin(strides[0]).taught
    parts = [[taught[place] for place in held] for held in folds]
    counts, width = [sum(map(len, part)) for part in parts], taught[0].shape[1]
    if len(set(strides)) > 1 or not does_pay(counts, width, RecogniserSettings().components):
        return None
    return Scatters.of(parts)


def _surroundings(lessons: Lessons, scale: Floats, known: Reduction | None) -> Surroundings:
    settings, taught = RecogniserSettings(), lessons.taught
    wide = known or wide_reduction(taught, settings.components)
    seen = [wide.many_rows(each) for each in taught]
    rotation = narrowing(seen, settings.components)
    rows, reduction = [each @ rotation for each in seen], wide.turned(rotation)
    numbers, centres, whitening = fit_discriminant(rows, lessons.taught_labels, settings.shrinkage)
    projection = reduction.directions @ whitening
    return Surroundings(Recogniser(reduction.mean, projection, centres @ whitening, numbers, 1.0, 1.0), scale)


def _stranger(around: Surroundings, manners: Manners | None, features: NDArray[Any], numbers: Labels) -> Stranger:
    distances = np.full((len(features), len(numbers)), np.inf)
    manner = np.zeros((len(features), 0 if manners is None else manners.directions.shape[1]))
    columns = np.searchsorted(numbers, around.recogniser.numbers)
    for start in range(0, len(features), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        along, distances[part, columns] = around.look(features[part])
        if manners is not None:
            manner[part] = manners.rows(along)
    return Stranger(distances, manners, manner)
