"""What must come first: what demonstrations had begun by the time they began a step.

Each rule is learnt from all demonstrations that hold the step, whatever else they hold, and once more from those that
did all that was done so far as well: they are of the same variant of the task. Another step came first in all of them,
or one of two steps did that are never both done before. And a step that none of those did that did all that was done
so far belongs to another variant. A risk is the chance that a right recording does otherwise. Live it is drawn towards
how often the two steps change places with any others: what is done now here and now there has no fixed order with what
it happened to follow. Where steps are true it rests on how often two of them came close to each other: far apart,
something else may have kept them in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRIOR_BREACHES, PRIOR_TOTAL = 0.2, 0.85  # of every count
PRIOR_DEMONSTRATIONS = 1.0  # that the variability of two steps weighs in the risk of their order
FEWEST_INSTEAD = 2  # demonstrations that must have taken either of two ways


@dataclass(frozen=True, slots=True)
class Lacking:
    """A step that came first in `support` of `total` demonstrations and is not done."""

    step: int
    risk: float
    support: int
    total: int
    is_kin: bool = False
    """Only those count that had done all that was done so far as well."""
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
        return np.stack([self._before(column)[0].sum(0) for column in range(count)], 1) if count else np.zeros((0, 0))

    @cached_property
    def variability(self) -> Floats:
        """The share (S, S) of the rarer order in all pairs that the row is in, averaged with that of the column."""
        rarer, both = np.minimum(self.first, self.first.T), self.first + self.first.T
        share = rarer.sum(1) / np.maximum(both.sum(1), 1)
        return np.asarray(share[:, None] + share) / 2

    @cached_property
    def order_risk(self) -> Floats:
        """The chance (S, S) that the row comes after the column where both are done; 1 where none does both."""
        both = self.first + self.first.T
        return np.where(both > 0, self._risk(self.first.T, both), 1.0)

    @cached_property
    def need_risk(self) -> Floats:
        """The chance (S, S) that the column is begun while the row is not done."""
        risk = self._risk(self.held - self.first, self.held)
        np.fill_diagonal(risk, 1.0)
        return risk

    def _risk(self, breaches: Floats, total: Floats) -> Floats:
        prior = PRIOR_BREACHES + PRIOR_DEMONSTRATIONS * self.variability
        return np.asarray((breaches + prior) / (total + PRIOR_TOTAL + PRIOR_DEMONSTRATIONS))

    @cached_property
    def needs(self) -> Floats:
        """The chance (S, S) that the column is begun while the row is not done, by how close they came.

        What a step needs needs what that needs: a chain of needs is as sure as its weakest link.
        """
        columns = [breach_risk(*self._before(column)) for column in range(len(self.steps))]
        risks = np.stack(columns, 1) if columns else np.zeros((0, 0))
        for link in range(len(risks)):
            risks = np.minimum(risks, np.maximum(risks[:, link, None], risks[link]))
        np.fill_diagonal(risks, 1.0)  # a chain of needs may come back to where it began, where orders go round
        return risks

    def lacking(self, step: int, done: Collection[int], most: float = 1.0) -> list[Lacking]:
        """What came before `step` and is not done, at a risk of at most so much: the surest first, two ways last.

        What is as sure throughout is given as such.
        """
        if step not in self.column:
            return []
        column = self.column[step]
        known = [self.column[one] for one in done if one in self.column and one != step]
        is_open = np.ones(len(self.steps), np.bool_)
        is_open[[column, *known]] = False
        before, closeness = self._before(column)
        is_kin = np.isfinite(self.places[np.isfinite(self.places[:, column])][:, known]).all(1)
        found = [*self._always(self.needs[:, column], before, is_open, most)]
        if not is_kin.all():
            kin = before[is_kin], closeness[is_kin]
            found += self._always(breach_risk(*kin), kin[0], is_open, most, is_kin=True)
        found += self._either(before, closeness, is_open, most)
        found.sort(key=lambda one: (one.risk, -one.total, one.step))
        surest = {one.step: one for one in reversed(found)}
        return sorted(surest.values(), key=lambda one: (one.instead is not None, one.risk, -one.total, one.step))

    def kin(self, step: int, done: Collection[int]) -> tuple[int, int]:
        """How many demonstrations did all that was done so far, and how many of those did the step as well."""
        is_kin = np.isfinite(self.places[:, [self.column[one] for one in done if one in self.column]]).all(1)
        both = is_kin & np.isfinite(self.places[:, self.column[step]])
        return int(is_kin.sum()), int(both.sum())

    def _before(self, column: int) -> tuple[Floats, Floats]:
        """What (M, S) each demonstration that holds the column had begun before it, and how close: 1 / places."""
        if column not in self._begun:
            own = self.places[:, column]
            is_held = np.isfinite(own)
            gaps = own[is_held, None] - self.places[is_held]
            self._begun[column] = (gaps > 0).astype(np.float64), np.where(gaps > 0, 1 / np.maximum(gaps, 1), 0.0)
        return self._begun[column]

    @cached_property
    def _begun(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def _always(
        self, risks: Floats, before: Floats, is_open: NDArray[np.bool_], most: float, is_kin: bool = False
    ) -> Iterator[Lacking]:
        for place in np.flatnonzero(is_open & (risks <= most)):
            support = int(before[:, place].sum())
            yield Lacking(self.steps[place], float(risks[place]), support, len(before), is_kin)

    def _either(self, before: Floats, closeness: Floats, is_open: NDArray[np.bool_], most: float) -> Iterator[Lacking]:
        """Pairs of steps one of which always came first, and never both."""
        total = len(before)
        rest = np.flatnonzero(is_open & (before.sum(0) >= FEWEST_INSTEAD))
        ways, close = before[:, rest], closeness[:, rest].sum(0)
        counts = ways.sum(0)
        is_either = np.triu((ways.T @ ways == 0) & (counts[:, None] + counts == total), 1)
        for one, other in np.argwhere(is_either):
            risk = PRIOR_BREACHES / (close[one] + close[other] + PRIOR_TOTAL)
            if risk <= most:
                instead = self.steps[rest[other]]
                yield Lacking(self.steps[rest[one]], float(risk), total, total, instead=instead)


def breach_risk(before: Floats, closeness: Floats) -> Floats:
    """The chance (S,) that each step is not done before another, by what demonstrations (M, S) did before that."""
    breaches = len(before) - before.sum(0)
    return np.asarray((breaches + PRIOR_BREACHES) / (breaches + closeness.sum(0) + PRIOR_TOTAL))


def kin_risk(total: int, both: int) -> float:
    """The chance that a right recording does a step that `both` of `total` demonstrations did which began as it did."""
    return (both + PRIOR_BREACHES) / (total + PRIOR_TOTAL)
