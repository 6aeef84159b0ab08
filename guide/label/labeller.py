"""The labelling package as one stage: costs in; settled labels, step events and what has probably been done out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Belief, SettledLabel, StepEvent
from guide.label.clock_prior import Clock
from guide.label.histories import Histories
from guide.label.history_filter import HistoryFilter
from guide.label.steps import StepTrack
from guide.label.window import Cuttable, WindowCut

Floats = NDArray[np.float64]

LEAST_POSSIBLE = 0.001  # chance of a label at a frame, below which it is not shown
IMPOSSIBLE = 1e-3  # what is left of such a membership: where nothing is possible, the likeliest is shown
FOLLOWED_AT_ONCE = 1024  # frames whose windows are cut together: those of hours would take gigabytes


@dataclass(frozen=True, slots=True)
class Labelled:
    """What one frame led to: what has probably been done, if that looks otherwise now, and labels that settled."""

    belief: Belief | None = None
    settled: tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...] = ()


class Labeller:
    """Histories, cut and hysteresis, one frame at a time.

    Histories weigh the costs of every frame, from which flags come. The cut goes by the same costs, weighed by the
    clock where there is one, and by what histories hold for possible at each frame of the window, by all that was seen
    until now: so its labels, which are shown and make the steps, never contradict them.

    >>> from guide.label.energy import LinkSettings
    >>> from guide.label.histories import HistoryModel
    >>> from guide.label.steps import StepSettings
    >>> from guide.label.visit_counts import VisitCounts
    >>> from guide.label.window import WindowSettings
    >>> window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), rate=1.0, steps=(1, 2))
    >>> yes, once = np.ones(2, bool), VisitCounts.once(2)
    >>> model = HistoryModel((1, 2), np.array([4.0, 4.0]), 0.4, np.zeros((2, 2), bool), yes, once, weight=2.0)
    >>> labeller = Labeller(Histories(model, tick_s=1.0), window, StepTrack(StepSettings()))
    >>> seen = [labeller.push(np.array([0.1, 0.9]), float(at)) for at in range(4)]
    >>> [event.state for one in seen for _, events in one.settled for event in events]
    ['started', 'confirmed']
    >>> labeller.belief().visits
    (Segment(step=1, start=0.0, end=3.0),)
    """

    def __init__(self, histories: Histories, window: WindowCut, track: StepTrack, clock: Clock | None = None) -> None:
        self.past = HistoryFilter(histories, clock)
        """What counts of the past; another one may be put in its place between two frames."""
        self._window, self._track = window, track
        self._shown: deque[tuple[float, Floats]] = deque()  # when, and memberships as they are shown
        self._ended: tuple[StepEvent, ...] = ()  # by a restart; told with the next label

    def push(self, costs: Floats, at: float, effects: Floats | None = None) -> Labelled:
        """Takes one frame's costs (C,), and what after-effects say of each step having been done."""
        belief = self._take(costs, at, effects)
        return Labelled(belief, self._track_all(self._window.push(at, self._possible)))

    def finish(self) -> tuple[Labelled, tuple[StepEvent, ...]]:
        """The labels still held back, what was done in all, and the end of the step that is open."""
        settled = self._track_all(self._window.finish(self._possible))
        done = self.past.end()
        labelled = Labelled(done if settled or self.past.is_told else None, settled)
        return labelled, self._take_ended() + self._track.finish()

    def follow(
        self, costs: Floats, times: Floats, effects: Floats | None = None
    ) -> tuple[list[Labelled], tuple[StepEvent, ...]]:
        """What `push` and `finish` give for a recording at hand, (T, C) at times (T,); its windows are cut together."""
        found: list[Labelled] = []
        for begin in range(0, len(times), FOLLOWED_AT_ONCE):
            block = slice(begin, begin + FOLLOWED_AT_ONCE)
            found += self._follow(costs[block], times[block], None if effects is None else effects[block])
        last, events = self.finish()
        return [*found, last], events

    def _follow(self, costs: Floats, times: Floats, effects: Floats | None) -> list[Labelled]:
        """The same for some of its frames."""
        beliefs: list[Belief | None] = []
        windows: list[Cuttable] = []
        counts: list[int] = []
        for place, (row, at) in enumerate(zip(costs, times, strict=True)):
            beliefs.append(self._take(row, float(at), None if effects is None else effects[place]))
            due = self._window.due(float(at))
            counts.append(len(due.frames))
            if due.frames:
                windows.append(self._window.window(due, self._possible))
        labels = iter(self._window.settle(windows))
        settled = ([next(labels) for _ in range(count)] for count in counts)
        return [Labelled(belief, self._track_all(each)) for belief, each in zip(beliefs, settled, strict=True)]

    def restart(self) -> None:
        """What was done until now counts no more: the step that is open ends, and is begun anew if it goes on."""
        self._ended += self._track.finish()
        self.past = self.past.anew()

    def belief(self) -> Belief:
        """What has probably been done until now."""
        return self.past.belief()

    def _take(self, costs: Floats, at: float, effects: Floats | None) -> Belief | None:
        shown, has_changed = self.past.weigh(costs, at, effects)
        self._shown.append((at, shown))
        return self.past.news() if has_changed else None

    def _take_ended(self) -> tuple[StepEvent, ...]:
        ended, self._ended = self._ended, ()
        return ended

    def _possible(self, times: Floats) -> Floats:
        """Memberships (T, C) of the frames of a window, next to none in what histories hold for all but impossible."""
        while self._shown[0][0] < times[0]:
            self._shown.popleft()
        histories = self.past.histories
        marginals = histories.marginals(times)
        found = np.stack([row for _, row in self._shown])
        # Histories know nothing of what was before a restart, or too long ago.
        is_known = ((times > self.past.since) & (times >= histories.remembered_since))[:, None]
        is_impossible = is_known & (marginals < LEAST_POSSIBLE)
        found = np.where(is_impossible, IMPOSSIBLE * found, found)
        return np.asarray(found / np.maximum(found.sum(1, keepdims=True), np.finfo(np.float64).tiny))

    def _track_all(self, labels: Sequence[SettledLabel]) -> tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...]:
        """Labels and their events; frames from before a restart, whose labels settle after it, begin no step."""
        return tuple(
            (label, self._take_ended() + (self._track.push(label) if label.at > self.past.since else ()))
            for label in labels
        )
