"""What must come first: what demonstrations had begun by the time they began a step.

Each rule is learnt from all demonstrations that hold the step, whatever else they hold: another step came first in all
of them; or in all that had done a third step by then, which tells the variants of a task apart; or one of two steps did
that are never both done before. And a step that none of those did that did all that was done so far belongs to another
variant. A risk is the chance that a right recording does otherwise: a count, shrunk towards what is seen elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

PRIOR_BREACHES, PRIOR_TOTAL = 0.05, 0.35  # of every count: most pairs of steps hold nearly always or hardly ever
PRIOR_CONTEXT = 2.0  # demonstrations that what holds in all of them counts for, in those that had done a third step
PRIOR_GAP = 0.5  # demonstrations that the gap between two steps counts for
PRIOR_SPREAD = 0.5  # places by which a gap is taken to vary before two demonstrations have shown how much it does
FEWEST_INSTEAD = 2  # demonstrations that must have taken either of two ways


@dataclass(frozen=True, slots=True)
class Lacking:
    """A step that came first in `support` of `total` demonstrations and is not done."""

    step: int
    risk: float
    support: int
    total: int
    given: int | None = None
    """Only those count that had done this step as well."""
    instead: int | None = None
    """Or this one came first."""


@dataclass(frozen=True)
class Orders:
    """The steps of each demonstration in the order in which they were first begun.

    >>> orders = Orders(((1, 3), (1, 3), (2, 3), (2, 3), (4, 2)))
    >>> [(one.step, one.instead, one.support, one.total) for one in orders.lacking(3, (), most=0.05)]
    [(1, 2, 4, 4)]
    """

    demonstrations: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted({step for order in self.demonstrations for step in order}))

    @cached_property
    def column(self) -> dict[int, int]:
        return {step: column for column, step in enumerate(self.steps)}

    @cached_property
    def places(self) -> Floats:
        """The place (D, S) of each step in each demonstration, infinite where it is not done."""
        places = np.full((len(self.demonstrations), len(self.steps)), np.inf)
        for row, order in enumerate(self.demonstrations):
            places[row, [self.column[step] for step in order]] = np.arange(len(order))
        return places

    @cached_property
    def held(self) -> Floats:
        """Demonstrations (S,) that hold each step."""
        return np.asarray(np.isfinite(self.places).sum(0), np.float64)

    @cached_property
    def first(self) -> Floats:
        """In how many demonstrations (S, S) the row came before the column, which they hold."""
        count = len(self.steps)
        return np.stack([self._before(column).sum(0) for column in range(count)], 1) if count else np.zeros((0, 0))

    @cached_property
    def doubt(self) -> Floats:
        """The chance (S, S) that the row comes after the column, by the spread of the gap between them in places.

        That is Cantelli's bound, which assumes no shape. A spread is shrunk to what the two steps show elsewhere: the
        median over their pairs, for a wandering partner is not a step's own doing. So neighbours never seen exchanged
        are riskier than steps far apart, the more so where one of them wanders.
        """
        is_held = np.isfinite(self.places).astype(np.float64)
        places = np.where(is_held > 0, self.places, 0.0)
        both, sums, squares = is_held.T @ is_held, is_held.T @ places, is_held.T @ places**2
        gaps = (sums - sums.T) / np.maximum(both, 1)
        spread = np.maximum(squares + squares.T - 2 * places.T @ places - both * gaps**2, 0.0)
        variance = np.where(both > 1, spread / np.maximum(both - 1, 1), 0.0)
        wander = np.array([_median(row[known]) for row, known in zip(variance, both > 0, strict=True)])
        weight = max(len(places) - 1, 0)
        usual = (weight * (wander[:, None] + wander) + PRIOR_SPREAD**2) / (weight + 1)
        variance = (spread + 2 * usual) / (both + 1) * (1 + 1 / np.maximum(both, 1))
        bound = variance / np.maximum(variance + np.maximum(gaps, 0.0) ** 2, 1e-12)
        return np.asarray(np.where(both > 0, np.minimum(bound, 0.5), 0.5))

    @cached_property
    def order_risk(self) -> Floats:
        """The chance (S, S) that the row comes after the column where both are done; 1 where none does both."""
        both = self.first + self.first.T
        risk = (self.first.T + PRIOR_BREACHES + PRIOR_GAP * self.doubt) / (both + PRIOR_TOTAL + PRIOR_GAP)
        return np.where(both > 0, risk, 1.0)

    @cached_property
    def need_risk(self) -> Floats:
        """The chance (S, S) that the column is begun while the row is not done."""
        lacking = self.held - self.first + PRIOR_BREACHES + PRIOR_GAP * self.doubt
        risk = lacking / (self.held + PRIOR_TOTAL + PRIOR_GAP)
        np.fill_diagonal(risk, 1.0)
        return risk

    def lacking(self, step: int, done: Collection[int], most: float = 1.0) -> list[Lacking]:
        """What came before `step` and is not done, as far as the risk is at most so high; the surest first.

        What holds throughout is given as such, also where a variant would make it surer, and two ways only where no
        single step was needed.
        """
        if step not in self.column:
            return []
        column = self.column[step]
        known = [self.column[one] for one in done if one in self.column and one != step]
        is_open = np.ones(len(self.steps), np.bool_)
        is_open[[column, *known]] = False
        rest = np.flatnonzero(is_open)
        before = self._before(column)
        found: dict[int, Lacking] = {}
        for one in (*self._always(column, rest, most), *self._given(column, before, known, rest, most)):
            found.setdefault(one.step, one)
        for one in () if found else self._either(column, before, rest, most):
            found.setdefault(one.step, one)
        return sorted(found.values(), key=lambda one: (one.risk, -one.total, one.step))

    def kin(self, step: int, done: Collection[int]) -> tuple[int, int]:
        """How many demonstrations did all that was done so far, and how many of those did the step as well."""
        is_kin = np.isfinite(self.places[:, [self.column[one] for one in done if one in self.column]]).all(1)
        both = is_kin & np.isfinite(self.places[:, self.column[step]])
        return int(is_kin.sum()), int(both.sum())

    def _before(self, column: int) -> Floats:
        """What (M, S) each demonstration that holds the column had begun before it."""
        own = self.places[:, column]
        is_held = np.isfinite(own)
        return (self.places[is_held] < own[is_held, None]).astype(np.float64)

    def _always(self, column: int, rest: Places, most: float) -> Iterator[Lacking]:
        for place in rest[self.need_risk[rest, column] <= most]:
            yield self._found(place, self.need_risk[place, column], self.first[place, column], self.held[column])

    def _given(self, column: int, before: Floats, known: list[int], rest: Places, most: float) -> Iterator[Lacking]:
        """The same among demonstrations that had done one of the known steps, the one that makes it surest."""
        rest = rest[before[:, rest].any(0)]
        if not known or not len(rest):
            return
        support, total = before[:, known].T @ before[:, rest], before[:, known].sum(0)[:, None]
        lacking = self.held[column] - self.first[rest, column]
        usual = (lacking + PRIOR_BREACHES) / (self.held[column] + PRIOR_TOTAL)
        expected = PRIOR_CONTEXT * usual + PRIOR_GAP * self.doubt[rest, column]
        risk = (total - support + expected) / (total + PRIOR_CONTEXT + PRIOR_GAP)
        surest = risk.argmin(0)
        for place in np.flatnonzero(risk.min(0) <= most):
            row = surest[place]
            given = self.steps[known[row]]
            yield self._found(rest[place], risk[row, place], support[row, place], total[row, 0], given)

    def _either(self, column: int, before: Floats, rest: Places, most: float) -> Iterator[Lacking]:
        """Pairs of steps one of which always came first, and never both."""
        total = len(before)
        rest = rest[before[:, rest].sum(0) >= FEWEST_INSTEAD]
        ways = before[:, rest]
        counts = ways.sum(0)
        is_either = np.triu((ways.T @ ways == 0) & (counts[:, None] + counts == total), 1)
        for one, other in np.argwhere(is_either):
            doubt = max(self.doubt[rest[one], column], self.doubt[rest[other], column])
            risk = (PRIOR_BREACHES + PRIOR_GAP * doubt) / (total + PRIOR_TOTAL + PRIOR_GAP)
            if risk <= most:
                yield self._found(rest[one], risk, total, total, instead=self.steps[rest[other]])

    def _found(
        self,
        place: int,
        risk: float,
        support: float,
        total: float,
        given: int | None = None,
        instead: int | None = None,
    ) -> Lacking:
        return Lacking(self.steps[place], float(risk), int(support), int(total), given, instead)


def kin_risk(total: int, both: int) -> float:
    """The chance that a right recording does a step that `both` of `total` demonstrations did which began as it did."""
    return (both + PRIOR_BREACHES) / (total + PRIOR_TOTAL)


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else 0.0
