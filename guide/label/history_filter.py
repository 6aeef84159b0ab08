"""What counts of a session's past: histories since it began or was begun anew, its clock, and the belief in them."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, UNKNOWN, Belief, Segment
from guide.label.clock_prior import Clock
from guide.label.histories import Histories

Floats = NDArray[np.float64]

LEAST_CHANCE = 0.7  # of the newest visit to be believed: it has only just begun
FINENESS = 20  # a belief is told again when a chance has moved by this part


class HistoryFilter:
    """Weighs frame after frame; `anew` gives one that begins now, and both may go on side by side.

    >>> from guide.label.histories import HistoryModel
    >>> from guide.label.visit_counts import VisitCounts
    >>> yes, once = np.ones(2, bool), VisitCounts.once(2)
    >>> model = HistoryModel((1, 2), np.array([4.0, 4.0]), 0.4, np.zeros((2, 2), bool), yes, once, weight=2.0)
    >>> whole = HistoryFilter(Histories(model, tick_s=1.0))
    >>> _ = [whole.weigh(np.array([0.1, 0.9]), float(at)) for at in range(4)]
    >>> later = whole.anew()
    >>> _ = [one.weigh(np.array([0.9, 0.1]), float(at)) for at in range(4, 9) for one in (whole, later)]
    >>> [visit.step for visit in whole.belief().visits], [visit.step for visit in later.belief().visits]
    ([1, 2], [2])
    """

    def __init__(self, histories: Histories, clock: Clock | None = None) -> None:
        self.histories, self._clock = histories, clock
        self._told: object = None
        self._at = 0.0
        self._frames, self._certainty = 0, 0.0  # and the sum of their greatest memberships
        self._is_known = np.array(histories.model.steps) != UNKNOWN
        self.since = -math.inf
        """What was seen until then counts for nothing."""

    @property
    def is_told(self) -> bool:
        """Whether any belief was news."""
        return self._told is not None

    def anew(self) -> HistoryFilter:
        """One for which nothing has been done until now."""
        fresh = copy.deepcopy(self)
        fresh.histories.reset()
        if fresh._clock is not None:
            fresh._clock.reset()
        fresh._told, fresh.since = None, self._at
        fresh._frames, fresh._certainty = 0, 0.0
        return fresh

    def weigh(self, costs: Floats, at: float, effects: Floats | None = None) -> tuple[Floats, bool]:
        """Takes a frame's costs (C,): its memberships as they are shown, and whether histories changed."""
        self._at = at
        self._frames += 1
        self._certainty += 1.0 - float(costs[self._is_known].min())
        shown = 1.0 - costs if self._clock is None else self._clock.push(1.0 - costs, at)
        return shown, self.histories.push(costs, at, effects)

    def news(self) -> Belief | None:
        """The belief, where it is not the one that was told last."""
        belief = self.belief()
        chances = [
            chance for part in (belief.lacking, belief.again, belief.fewer, belief.swapped) for _, chance in part
        ]
        key = ([visit.step for visit in belief.visits], [round(chance * FINENESS) for chance in chances])
        if key == self._told:
            return None
        self._told = key
        return belief

    def end(self) -> Belief:
        """What was done in all; nothing comes after it."""
        self.histories.end()
        return self.belief(is_over=True)

    def belief(self, is_over: bool = False) -> Belief:
        """What has probably been done until now; of orders those that the likeliest history breaks, at the end all."""
        histories, steps = self.histories, self.histories.model.steps
        visits = self._visits(is_over)
        lacking, again, fewer = histories.lacking(is_over), histories.again(is_over), histories.fewer(is_over)
        pairs = histories.model.pairs if is_over else self._broken(visits)
        return Belief(
            self._at,
            visits,
            tuple((step, float(chance)) for step, chance in zip(steps, lacking, strict=True) if step > BACKGROUND),
            tuple((step, float(chance)) for step, chance in zip(steps, again, strict=True) if step > BACKGROUND),
            tuple(((steps[first], steps[then]), histories.both(first, then, is_over)) for first, then in pairs),
            self.since,
            tuple((step, float(chance)) for step, chance in zip(steps, fewer, strict=True) if chance > 0),
            self._certainty / max(self._frames, 1),
        )

    def _broken(self, visits: Sequence[Segment]) -> list[tuple[int, int]]:
        """The columns of steps whose order these visits do not keep."""
        model = self.histories.model
        order = list(dict.fromkeys(model.steps.index(visit.step) for visit in visits))
        return [
            (first, then) for place, first in enumerate(order) for then in order[:place] if model.before[first, then]
        ]

    def _visits(self, is_over: bool) -> tuple[Segment, ...]:
        stretches = [Segment(*stretch) for stretch in self.histories.likeliest(is_over) if stretch[0] > BACKGROUND]
        if not stretches or is_over:
            return tuple(stretches)
        # Not how probably it is the newest: while the next one begins neither is, and what was done stays done.
        begun = self.histories.done()[self.histories.model.steps.index(stretches[-1].step)]
        is_new = all(one.step != stretches[-1].step for one in stretches[:-1])
        return tuple(stretches if begun >= LEAST_CHANCE or not is_new else stretches[:-1])
