"""Which parts of recordings are the same step: every two recordings matched one to one, and all matches put together.

Two parts that look alike prove little. But most people do every step once, so the parts of two recordings can be paired
off, and each part then has to look like its partner *more than like the others' partners*. A dozen recordings give
sixty-six such pairings; wrong ones contradict each other, right ones agree, and what agrees is found by the leading
eigenvectors of all matches together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment

from guide.domain import Labels
from guide.label.discriminant import ClassSums, Discriminant
from guide.teach.lesson import Floats
from offline.keysteps.kmeans import KMeansSettings, kmeans, nearest
from offline.keysteps.parts import Cutting, part_means

Metric = Callable[[int, int], Floats]
"""Directions (d, e) in which the parts of two recordings are compared."""
GROUPS = KMeansSettings(restarts=10)
FEW = 3  # so few recordings leave one at most to teach when two are left out


@dataclass(frozen=True, slots=True)
class Grain:
    """Recordings cut wherever any of several cuttings cuts: frames between two borders are treated alike throughout.

    >>> grain = Grain.of([Cutting((np.array([0, 4, 6]),), np.eye(1)), Cutting((np.array([0, 3, 6]),), np.eye(1))])
    >>> grain.sizes.tolist(), grain.places(0, np.array([0, 4, 6])).tolist()
    ([3.0, 1.0, 2.0], [0, 0, 1])
    """

    borders: tuple[Labels, ...]

    @staticmethod
    def of(cuttings: Sequence[Cutting]) -> Grain:
        every = zip(*(one.borders for one in cuttings), strict=True)
        return Grain(tuple(np.unique(np.concatenate(own)) for own in every))

    @property
    def sizes(self) -> Floats:
        """Frames of each grain (G,), all recordings after each other."""
        return np.concatenate([np.diff(own) for own in self.borders]).astype(np.float64)

    @property
    def slices(self) -> list[slice]:
        """Where each recording's grains are."""
        ends = np.cumsum([len(own) - 1 for own in self.borders])
        return [slice(int(end) - len(own) + 1, int(end)) for own, end in zip(self.borders, ends, strict=True)]

    def places(self, recording: int, borders: Labels) -> NDArray[np.intp]:
        """The part in which each grain of a recording lies."""
        return np.asarray(np.searchsorted(borders, self.borders[recording][:-1], side="right") - 1)

    def counts(self, labels: Sequence[Labels], columns: int) -> Floats:
        """How many frames of each grain have each label, (G, C)."""
        found = np.zeros((len(self.sizes), columns))
        for own, each, where in zip(self.borders, labels, self.slices, strict=True):
            np.add.at(found[where], (np.repeat(np.arange(len(own) - 1), np.diff(own)), each), 1.0)
        return found


def match(rows: Sequence[Floats], cutting: Cutting, metric: Metric, grain: Grain) -> Floats:
    """Which grains (G, G) lie in parts that are matched, 1 or 0: one to one between every two recordings."""
    where, means = grain.slices, [part_means(each, own) for each, own in zip(rows, cutting.borders, strict=True)]
    places = [grain.places(number, own) for number, own in enumerate(cutting.borders)]
    ties = np.zeros((len(grain.sizes),) * 2)
    for own, here in zip(places, where, strict=True):
        ties[here, here] = own[:, None] == own[None]
    for one, other in combinations(range(len(rows)), 2):
        directions = metric(one, other)
        partner = pair_off(means[one] @ directions, means[other] @ directions)
        tied = partner[places[one]][:, None] == places[other][None]
        ties[where[one], where[other]], ties[where[other], where[one]] = tied, tied.T
    return ties


def pair_off(some: Floats, others: Floats) -> NDArray[np.intp]:
    """For each of some rows (S, e) its partner among the others (S', e), -1 for none: the pairs lie nearest in sum.

    >>> pair_off(np.array([[0.0], [1.0]]), np.array([[0.9], [5.0], [0.2]]))
    array([2, 0])
    """
    costs = (some**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * some @ others.T
    left, right = linear_sum_assignment(costs)
    partner = np.full(len(some), -1)
    partner[left] = right
    return partner


def leave_two_out(rows: Sequence[Floats], labels: Sequence[Labels], shrinkage: float) -> Metric:
    """What tells labels apart in all recordings but the two compared: their own labels prove nothing of them."""
    numbers = np.unique(np.concatenate(list(labels))).astype(np.int64)
    every = [ClassSums.of(each, own, numbers) for each, own in zip(rows, labels, strict=True)]
    whole = ClassSums.total(every)
    known: dict[tuple[int, int], Floats] = {}

    def metric(one: int, other: int) -> Floats:
        if (one, other) not in known:
            rest = whole.less(every[one], every[other]) if len(every) > FEW else whole
            known[one, other] = telling(rest.discriminant(shrinkage))
        return known[one, other]

    return metric


def fixed(directions: Floats) -> Metric:
    """The same directions (d, e) for every two recordings."""
    return lambda one, other: directions


def telling(learned: Discriminant) -> Floats:
    """The directions (d, C - 1) in which the centres lie apart, of unit spread within classes."""
    centres = learned.centres @ learned.whitening
    directions = np.linalg.svd(centres - centres.mean(0), full_matrices=False)[2]
    return np.asarray(learned.whitening @ directions[: max(len(centres) - 1, 1)].T)


def groups(ties: Floats, grain: Grain, columns: int, seed: int) -> list[Labels]:
    """Labels 0..C-1 of every frame: grains that are tied to the same others, by normalised cuts of frames."""
    sizes = grain.sizes
    degrees = ties @ sizes
    scale = np.sqrt(sizes / degrees)  # of frames: a grain stands for as many as it has
    wanted = min(columns, len(sizes))
    leading = eigh(scale[:, None] * ties * scale, subset_by_index=[len(sizes) - wanted, len(sizes) - 1])[1]
    leading /= np.maximum(np.linalg.norm(leading, axis=1, keepdims=True), 1e-12)
    centres = kmeans(np.repeat(leading, sizes.astype(np.int64), axis=0), wanted, seed, GROUPS)
    found = nearest(leading, centres)[0]
    return [np.repeat(found[where], np.diff(own)) for where, own in zip(grain.slices, grain.borders, strict=True)]
