"""The labelling room as one stage: costs in; settled labels, step events and glimpses of steps out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, SettledLabel, StepEvent
from guide.label.presence import Presence, PresenceTrack
from guide.label.steps import StepTrack
from guide.label.window import WindowCut

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """What one frame led to: steps that showed clearly just now, and labels that settled with their events."""

    glimpsed: tuple[int, ...] = ()
    settled: tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...] = ()


class Labeller:
    """Cut, presence and hysteresis, one frame at a time.

    >>> from guide.label.energy import LinkSettings
    >>> from guide.label.steps import StepSettings
    >>> from guide.label.window import WindowSettings
    >>> window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), rate=1.0, steps=(1, 2))
    >>> presence = Presence((1, 2), np.array([2.0, 2.0]), np.array([0.5, 0.5]))
    >>> labeller = Labeller(window, StepTrack(StepSettings()), (1, 2), presence, rate=1.0)
    >>> seen = [labeller.push(np.array([0.1, 0.9]), at) for at in (0.0, 1.0, 2.0)]
    >>> [one.glimpsed for one in seen], [event.state for one in seen for _, events in one.settled for event in events]
    ([(), (1,), ()], ['started', 'confirmed'])
    """

    def __init__(
        self, window: WindowCut, track: StepTrack, steps: Sequence[int], presence: Presence | None, rate: float
    ) -> None:
        self._window, self._track = window, track
        self._presence = presence or Presence((), np.zeros(0), np.zeros(0))
        self._columns = [list(steps).index(step) for step in self._presence.steps]
        self._tracked = PresenceTrack(self._presence, rate)
        self._before = np.full(len(self._columns), -1.0)  # even a limit of 0 is reached at the first frame
        self._waiting: deque[tuple[float, Floats]] = deque()  # frames whose label has not settled

    def push(self, costs: Floats, at: float) -> Labelled:
        """Takes one frame's costs (C,)."""
        present = self._tracked.push(1.0 - costs[self._columns], at)
        is_new = (present >= self._presence.limits) & (self._before < self._presence.limits)
        self._before = present
        self._waiting.append((at, present))
        glimpsed = tuple(step for step, new in zip(self._presence.steps, is_new, strict=True) if new)
        return Labelled(glimpsed, self._settle(self._window.push(costs, at)))

    def finish(self) -> tuple[Labelled, tuple[StepEvent, ...]]:
        """The labels still held back, and the end of the step that is open."""
        settled = self._settle(self._window.finish())
        return Labelled((), settled), self._track.finish()

    def _settle(self, labels: Sequence[SettledLabel]) -> tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...]:
        return tuple((label, self._track.push(label, self._presence_of(label))) for label in labels)

    def _presence_of(self, label: SettledLabel) -> float:
        present = self._waiting.popleft()[1]
        if label.step <= BACKGROUND or label.step not in self._presence.steps:
            return 1.0
        return float(present[self._presence.steps.index(label.step)])
