"""The labelling room as one stage: costs in; settled labels, step events and what has probably been done out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Belief, Segment, SettledLabel, StepEvent
from guide.label.elapsed import Clock, Elapsed
from guide.label.histories import Course
from guide.label.steps import StepTrack
from guide.label.unaries import shown
from guide.label.window import Window

Floats = NDArray[np.float64]

LEAST_CHANCE = 0.7  # of the newest visit to be believed: it has only just begun
FINENESS = 20  # a belief is told again when a chance has moved by this part


@dataclass(frozen=True, slots=True)
class Labelled:
    """What one frame led to: what has probably been done, if that looks otherwise now, and labels that settled."""

    belief: Belief | None = None
    settled: tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...] = ()


class Labeller:
    """Cut, course and hysteresis, one frame at a time.

    Labels are those of the cut, where background has to be ahead by the `reluctance` and what is usual by then counts,
    if it is given (`elapsed`). Neither has a part in courses. Steps follow the likeliest course
    at the same moment: it weighs the whole past, so a step is not lost because each of its frames was a close race.

    >>> from guide.label.histories import CourseModel
    >>> from guide.label.energy import LinkSettings
    >>> from guide.label.steps import StepSettings
    >>> from guide.label.window import WindowCut, WindowSettings
    >>> window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), rate=1.0, steps=(1, 2))
    >>> no, yes = np.zeros(2, bool), np.ones(2, bool)
    >>> model = CourseModel((1, 2), np.array([4.0, 4.0]), 0.4, np.zeros((2, 2), bool), yes, yes, weight=2.0)
    >>> labeller = Labeller(window, StepTrack(StepSettings()), Course(model, tick_s=1.0))
    >>> seen = [labeller.push(np.array([0.1, 0.9]), float(at)) for at in range(4)]
    >>> [event.state for one in seen for _, events in one.settled for event in events]
    ['started', 'confirmed']
    >>> labeller.belief().visits
    (Segment(step=1, start=0.0, end=3.0),)
    """

    def __init__(
        self,
        window: Window,
        track: StepTrack,
        course: Course,
        reluctance: float = 0.0,
        elapsed: Elapsed | None = None,
    ) -> None:
        self._window, self._track, self._course = window, track, course
        self._reluctance, self._elapsed, self._clock = reluctance, elapsed, Clock(elapsed)
        self._told: object = None
        self._at = 0.0
        self._since = -math.inf

    def push(
        self, costs: Floats, at: float, label_costs: Floats | None = None, traces: Floats | None = None
    ) -> Labelled:
        """Takes one frame's costs (C,), those for labels where they are others, and what `Trail` says of the bench."""
        self._at = at
        is_new = self._course.push(costs, at, traces)
        belief = self._news() if is_new else None
        elapsed_s = self._clock.push(at)
        costs = costs if label_costs is None else label_costs
        if self._reluctance or self._elapsed is not None:
            costs = shown(costs, self._course.model.steps, self._reluctance, self._elapsed, elapsed_s)
        return Labelled(belief, self._settle(self._window.push(costs, at)))

    def finish(self) -> tuple[Labelled, tuple[StepEvent, ...]]:
        """The labels still held back, what was done in all, and the end of the step that is open."""
        settled = self._settle(self._window.finish())
        self._course.end()
        belief = self.belief(is_over=True) if settled or self._told is not None else None
        return Labelled(belief, settled), self._track.finish()

    def restart(self) -> None:
        """What was done until now counts no more."""
        self._course.reset()
        self._clock = Clock(self._elapsed)
        self._told = None
        self._since = self._at

    def belief(self, is_over: bool = False) -> Belief:
        """What has probably been done until now; of orders those that the likeliest course breaks, at the end all."""
        course, steps = self._course, self._course.model.steps
        visits = self._visits(is_over)
        lacking, again = course.lacking(is_over), course.again(is_over)
        pairs = course.model.pairs if is_over else self._broken(visits)
        return Belief(
            self._at,
            visits,
            tuple((step, float(chance)) for step, chance in zip(steps, lacking, strict=True) if step > BACKGROUND),
            tuple((step, float(chance)) for step, chance in zip(steps, again, strict=True) if step > BACKGROUND),
            tuple(((steps[first], steps[then]), course.both(first, then, is_over)) for first, then in pairs),
            self._since,
        )

    def _broken(self, visits: Sequence[Segment]) -> list[tuple[int, int]]:
        """The columns of steps whose order these visits do not keep."""
        model = self._course.model
        order = list(dict.fromkeys(model.steps.index(visit.step) for visit in visits))
        return [
            (first, then) for place, first in enumerate(order) for then in order[:place] if model.before[first, then]
        ]

    def _visits(self, is_over: bool) -> tuple[Segment, ...]:
        stretches = [Segment(*stretch) for stretch in self._course.likeliest(is_over) if stretch[0] > BACKGROUND]
        if not stretches or is_over:
            return tuple(stretches)
        # Not how probably it is the newest: while the next one begins neither is, and what was done stays done.
        begun = self._course.done()[self._course.model.steps.index(stretches[-1].step)]
        is_new = all(one.step != stretches[-1].step for one in stretches[:-1])
        return tuple(stretches if begun >= LEAST_CHANCE or not is_new else stretches[:-1])

    def _news(self) -> Belief | None:
        """The belief, where it is not the one that was told last."""
        belief = self.belief()
        chances = [chance for part in (belief.lacking, belief.again, belief.swapped) for _, chance in part]
        key = ([visit.step for visit in belief.visits], [round(chance * FINENESS) for chance in chances])
        if key == self._told:
            return None
        self._told = key
        return belief

    def _settle(self, labels: Sequence[SettledLabel]) -> tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...]:
        if not labels:
            return ()
        stretches = self._course.likeliest()
        return tuple((label, self._track.push(self._step_at(label, stretches))) for label in labels)

    def _step_at(self, label: SettledLabel, stretches: Sequence[tuple[int, float, float]]) -> SettledLabel:
        """The label that the likeliest course has at the moment of a settled one."""
        step = next((step for step, start, _ in reversed(stretches) if start <= label.at), BACKGROUND)
        return SettledLabel(label.at, step, self._chance_of(step))

    def _chance_of(self, step: int) -> float:
        """How probably a step is going on or has just ended."""
        if step not in self._course.model.steps:  # nothing is known yet
            return 0.0
        column = self._course.model.steps.index(step)
        return float(max(self._course.now()[column], self._course.newest()[column]))
