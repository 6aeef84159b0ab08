"""How a step is done: where its beginning, middle and end lie among the steps, beside where demonstrations have them.

Single frames are noisy, and a person looks like no other in hundreds of directions. Means over a third of a step are
not noisy, and the few directions that tell steps apart hold little of who the person is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from guide.label.discriminant import whiten

Floats: TypeAlias = NDArray[np.float64]

PARTS = 3  # of a visit to a step: beginning, middle and end
SHRINKAGE = 0.2  # of the spread of visits towards a sphere: they are few
SHORTEST_VISIT = 0.4  # of what a step usually takes: anything shorter is a slip of the labels
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Manners:
    """Where demonstrations have the parts of each step, in directions along which their visits spread alike.

    >>> manners = Manners(np.eye(1), np.array([4]), np.array([[[0.0], [1.0], [2.0]]]))
    >>> [manners.distance(4, np.array(rows)) for rows in ([[0.0], [1.0], [2.0]], [[3.0], [1.0], [2.0]])]
    [0.0, 1.7320508075688772]
    """

    directions: Floats  # (d, r), from the recogniser's space
    numbers: Labels  # (n,) steps
    usual: Floats  # (n, PARTS, r)

    def rows(self, along: Floats) -> Floats:
        """What is seen (T, d), as the recogniser has it, along the directions (T, r)."""
        return np.asarray(along @ self.directions)

    def distance(self, step: int, rows: Floats) -> float | None:
        """How far the parts of a visit, rows (T, r) from its beginning to its end, lie from where they usually do.

        None for a step that is not known, and for a visit too short to have parts.
        """
        place = int(np.searchsorted(self.numbers, step))
        if place == len(self.numbers) or self.numbers[place] != step or len(rows) < PARTS:
            return None
        off = parts_of(rows) - self.usual[place]
        return float(np.sqrt(np.square(off).sum() / PARTS))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle."""
        return {
            "manner_directions": self.directions,
            "manner_numbers": self.numbers,
            "manner_usual": self.usual,
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], width: int) -> Manners:
        """The manners among the arrays of a recogniser of so many directions; ValueError where they are spoilt."""
        directions, usual = (np.asarray(arrays[f"manner_{name}"], np.float64) for name in ("directions", "usual"))
        numbers = np.asarray(arrays["manner_numbers"], np.int64)
        fits = directions.ndim == 2 and numbers.ndim == 1 and (np.diff(numbers) > 0).all()
        if not fits or len(directions) != width or usual.shape != (len(numbers), PARTS, directions.shape[1]):
            raise ValueError(f"manners {directions.shape}, {numbers.shape} and {usual.shape} that do not fit together")
        if not (np.isfinite(directions).all() and np.isfinite(usual).all()):
            raise ValueError("manners that are not finite")
        return Manners(directions, numbers, usual)


def parts_of(rows: Floats) -> Floats:
    """The means (PARTS, r) of the parts of a visit's rows (T, r).

    >>> parts_of(np.array([[0.0], [2.0], [4.0], [6.0], [7.0], [9.0]])).ravel().tolist()
    [1.0, 5.0, 8.0]
    """
    return np.stack([part.mean(0) for part in np.array_split(rows, PARTS)])


def learn_manners(along: Iterable[Floats], labels: Sequence[Labels], centres: Floats) -> Manners | None:
    """The manners of demonstrations (T, d), as a recogniser with these centres (C, d) has them, with labels (T,).

    None where no step was done twice, since nobody knows then how alike is alike, and where there is a single centre.
    """
    plane = plane_of(centres)
    return manners_in(plane, (rows @ plane for rows in along), labels)


def manners_in(plane: Floats, along: Iterable[Floats], labels: Sequence[Labels]) -> Manners | None:
    """The same of demonstrations (T, r) as they lie in the plane (d, r) of the centres."""
    lengths = _usual_lengths(labels)
    visits: dict[int, list[Floats]] = {}
    for rows, own in zip(along, labels, strict=True):
        for step, start, end in _solid(own, lengths):
            visits.setdefault(step, []).append(parts_of(rows[start:end]))
    spreads = [_spread(each) for each in visits.values() if len(each) > 1 and plane.size]
    if not spreads:
        return None
    whitening = whiten(np.concatenate(spreads), SHRINKAGE)
    numbers = np.array(sorted(visits), np.int64)
    usual = np.stack([np.mean(visits[int(number)], 0) for number in numbers])
    return Manners(plane @ whitening, numbers, usual @ whitening)


def plane_of(centres: Floats) -> Floats:
    """Orthonormal directions (d, r) in which the centres lie."""
    _, sizes, directions = np.linalg.svd(centres - centres.mean(0), full_matrices=False)
    return np.asarray(directions[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), _TINY)].T)


def _solid(labels: Labels, lengths: Mapping[int, float]) -> Iterator[tuple[int, int, int]]:
    """Step, first frame and end of each visit in a recording's labels that is long enough to be one."""
    for step, start, end in visits_of(labels):
        if end - start >= max(SHORTEST_VISIT * lengths[step], PARTS):
            yield step, start, end


def _usual_lengths(labels: Sequence[Labels]) -> dict[int, float]:
    lengths: dict[int, list[int]] = {}
    for own in labels:
        for step, start, end in visits_of(own):
            lengths.setdefault(step, []).append(end - start)
    return {step: float(np.median(each)) for step, each in lengths.items()}


def visits_of(labels: Labels) -> Iterator[tuple[int, int, int]]:
    """Step, first frame and end of each stretch of labels (T,) that is a step.

    >>> list(visits_of(np.array([0, 2, 2, 1])))
    [(2, 1, 3), (1, 3, 4)]
    """
    bounds = np.flatnonzero(np.diff(labels, prepend=labels[:1] - 1, append=labels[-1:] - 1))
    for start, end in pairwise(bounds):
        if labels[start] > BACKGROUND:
            yield int(labels[start]), int(start), int(end)


def _spread(visits: Sequence[Floats]) -> Floats:
    """The parts of visits (PARTS, r) less their means, all below another, as wide as if the means were known."""
    rows = np.stack(visits)
    off = (rows - rows.mean(0)) * np.sqrt(len(rows) / (len(rows) - 1))
    return np.asarray(off.reshape(-1, rows.shape[2]))
