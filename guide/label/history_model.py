"""The task as histories see it: how steps follow each other, how long they take, what is usual."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from guide.domain import BACKGROUND, UNKNOWN
from guide.label.visit_counts import VisitCounts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

TO_BACKGROUND = 0.7  # how often background follows a step, where nobody knows
SHORTEST_S = 1e-9  # a time of 0 has no logarithm
SUREST = 1 - 1e-12  # nor has the chance that what is certain does not happen


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the usual course is worth against evidence, in nats (0 switches a term off).

    >>> Expectations(order=0.0)
    Expectations(order=0.0, repeat=4.0, lacking=2.0, unknown=7.0, is_timed=True)
    """

    order: float = 2.0
    """Price of beginning a step before one that should come first."""
    repeat: float = 4.0
    """Price, at most, of coming back to a step: it costs what is to be learned of how often the step comes."""
    lacking: float = 2.0
    """Price, at the end, of each step that is always done and was not; at most so much of one that was to come more."""
    unknown: float = 7.0
    """Price of beginning something unknown."""
    is_timed: bool = True
    """Whether it matters how long steps usually take."""


@dataclass(frozen=True, slots=True)
class HistoryModel:
    """The task as histories see it; a column is a key-step, background (0) or unknown activity (-1).

    >>> no = np.zeros(2, bool)
    >>> once = VisitCounts.learn([[1, 0], [1, 0]])
    >>> model = HistoryModel((1, 0), np.array([4.0, 2.0]), 0.4, np.zeros((2, 2), bool), no, once, weight=2.0)
    >>> np.exp(model.turns()).round(2).tolist()
    [[0.0, 0.7], [1.0, 0.0], [0.5, 0.5]]
    """

    steps: tuple[int, ...]
    usual_s: Floats  # (C,), median time of a step, mean time of the rest
    spread: float  # of the logarithm of a step's time
    before: Flags  # (C, C), whether the row should come before the column
    needed: Flags  # (C,)
    visits: VisitCounts  # of C columns
    weight: float  # how many independent frames a second of evidence is worth
    expectations: Expectations = field(default_factory=Expectations)
    to_background: float = TO_BACKGROUND
    effect_weight: float = 0.0
    """How many independent looks at the workplace a second is worth."""

    def __post_init__(self) -> None:
        count = len(self.steps)
        shapes = {self.usual_s.shape, self.needed.shape, self.visits.usual.shape}
        if shapes != {(count,)} or self.before.shape != (count, count) or not (self.usual_s > 0).all():
            raise ValueError(f"{count} columns need as many times above 0, needs and orders")
        if not (self.spread > 0 and 0 < self.to_background < 1):
            raise ValueError(f"needs a spread above 0 and a share in (0, 1): {self.spread}, {self.to_background}")

    @property
    def is_step(self) -> Flags:
        """Whether each column (C,) is a key-step."""
        return np.asarray(np.array(self.steps) > BACKGROUND)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The columns of steps that are wanted in an order."""
        return [(int(first), int(then)) for first, then in np.argwhere(self.before)]

    def turns(self) -> Floats:
        """The logarithm (C + 1, C) of how readily some step, background or unknown activity follows each column.

        The last row is the beginning. Which step it is, where it is one, `choices` tells.
        """
        numbers = np.array(self.steps)
        to_a_step = np.append(np.where(self.is_step, 1 - self.to_background, 1.0), 0.5)
        to_background = np.append(np.full(len(numbers), self.to_background), 0.5)
        turn = np.repeat(np.log(to_a_step)[:, None], len(numbers), axis=1)
        turn[:, numbers == BACKGROUND] = np.log(to_background)[:, None]
        turn[:, numbers == UNKNOWN] = -self.expectations.unknown
        np.fill_diagonal(turn, -np.inf)
        return turn

    def prices(self, visits: Ints, is_back: Flags, is_early: Flags) -> Floats:
        """What beginning each column (N, C) costs, where that is coming back to a step or being early.

        The steps were done `visits` (N, C) times before.
        """
        expected = self.expectations
        again = np.minimum(-np.log(self.visits.again(visits)), expected.repeat)
        return is_back * again + is_early * expected.order

    def lacking(self, visits: Ints) -> Floats:
        """What it costs (N,) to end with steps done so many times (N, C), where more were to come."""
        again = self.visits.again(visits)
        never = np.where(self.needed, np.inf, 0.0)
        due = np.where(visits > 0, np.log(again) - np.log1p(-np.minimum(again, SUREST)), never)
        return np.asarray((self.is_step * np.clip(due, 0.0, self.expectations.lacking)).sum(1))

    def choices(self, columns: Ints, prices: Floats) -> Floats:
        """The logarithm (N, C) of how readily each step follows on `columns` (N,), if a step does; 0 for the rest.

        Prices part what is usual from what is not. As long as something usual can follow, the chances of all steps add
        up to one, so the fewer usual things can follow, the less each of them costs; going on with the newest step
        after a pause is one of them. Where nothing usual is left, prices stay what they are.
        """
        may_follow = self.is_step & (np.arange(len(self.steps)) != columns[:, None])
        total = np.where(may_follow, np.exp(-prices), 0.0).sum(1, keepdims=True)
        return np.where(self.is_step, -prices - np.log(np.maximum(total, 1.0)), 0.0)

    def ending(self, columns: Ints, lasted_s: Floats, tick_s: float) -> Floats:
        """The logarithm (N,) of the chance that what has lasted so long ends within this tick.

        The time of a step is log-normal, that of the rest exponential.
        """
        usual_s, lasted_s = self._usual_s(columns), np.maximum(lasted_s, SHORTEST_S)
        rest = -lasted_s / usual_s + np.log(tick_s / usual_s)
        if not self.expectations.is_timed:
            return np.asarray(rest)
        away = np.log(lasted_s / usual_s) / self.spread
        step = -0.5 * away**2 - np.log(self.spread * np.sqrt(2 * np.pi) * lasted_s / tick_s)
        return np.where(self.is_step[columns], step, rest)

    def lasting(self, columns: Ints, lasted_s: Floats) -> Floats:
        """The logarithm (N,) of the chance that a column lasts at least so long."""
        usual_s, lasted_s = self._usual_s(columns), np.maximum(lasted_s, SHORTEST_S)
        if not self.expectations.is_timed:
            return np.asarray(-lasted_s / usual_s)
        step = log_ndtr(-np.log(lasted_s / usual_s) / self.spread)
        return np.where(self.is_step[columns], step, -lasted_s / usual_s)

    def _usual_s(self, columns: Ints) -> Floats:
        if self.expectations.is_timed:
            return np.asarray(self.usual_s[columns])
        return np.full(len(columns), self.usual_s.mean())
