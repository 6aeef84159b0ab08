"""The labelling room as one stage: costs in; settled labels, step events and what has probably been done out."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Belief, Segment, SettledLabel, StepEvent
from guide.label.clock_prior import Clock
from guide.label.histories import Histories
from guide.label.steps import StepTrack
from guide.label.window import Cuttable, WindowCut

Floats = NDArray[np.float64]

LEAST_CHANCE = 0.7  # of the newest visit to be believed: it has only just begun
LEAST_POSSIBLE = 0.001  # chance of a label at a frame, below which it is not shown
IMPOSSIBLE = 1e-3  # what is left of such a membership: where nothing is possible, the likeliest is shown
FOLLOWED_AT_ONCE = 1024  # frames whose windows are cut together: those of hours would take gigabytes
FINENESS = 20  # a belief is told again when a chance has moved by this part


@dataclass(frozen=True, slots=True)
class Labelled:
    """What one frame led to: what has probably been done, if that looks otherwise now, and labels that settled."""

    belief: Belief | None = None
    settled: tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...] = ()


class Memory(NamedTuple):
    """All that counts of the past but for the frames in the window."""

    histories: Histories
    clock: Clock | None
    told: object
    since: float
    at: float


class Labeller:
    """Histories, cut and hysteresis, one frame at a time.

    Histories weigh the costs of every frame, from which flags come. The cut goes by the same costs, weighed by the
    clock where there is one, and by what histories hold for possible at each frame of the window, by all that was seen
    until now: so its labels, which are shown and make the steps, never contradict them.

    >>> from guide.label.energy import LinkSettings
    >>> from guide.label.histories import HistoryModel
    >>> from guide.label.steps import StepSettings
    >>> from guide.label.window import WindowSettings
    >>> window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), rate=1.0, steps=(1, 2))
    >>> no, yes = np.zeros(2, bool), np.ones(2, bool)
    >>> model = HistoryModel((1, 2), np.array([4.0, 4.0]), 0.4, np.zeros((2, 2), bool), yes, yes, weight=2.0)
    >>> labeller = Labeller(Histories(model, tick_s=1.0), window, StepTrack(StepSettings()))
    >>> seen = [labeller.push(np.array([0.1, 0.9]), float(at)) for at in range(4)]
    >>> [event.state for one in seen for _, events in one.settled for event in events]
    ['started', 'confirmed']
    >>> labeller.belief().visits
    (Segment(step=1, start=0.0, end=3.0),)
    """

    def __init__(self, histories: Histories, window: WindowCut, track: StepTrack, clock: Clock | None = None) -> None:
        self._histories, self._window, self._track, self._clock = histories, window, track, clock
        self._shown: deque[tuple[float, Floats]] = deque()  # when, and memberships as they are shown
        self._told: object = None
        self._at = 0.0
        self._since = -math.inf
        self._ended: tuple[StepEvent, ...] = ()  # by a restart; told with the next label

    def push(self, costs: Floats, at: float, effects: Floats | None = None) -> Labelled:
        """Takes one frame's costs (C,), and what after-effects say of each step having been done."""
        belief = self._take(costs, at, effects)
        return Labelled(belief, self._track_all(self._window.push(at, self._possible)))

    def finish(self) -> tuple[Labelled, tuple[StepEvent, ...]]:
        """The labels still held back, what was done in all, and the end of the step that is open."""
        settled = self._track_all(self._window.finish(self._possible))
        return Labelled(self._end(bool(settled)), settled), self._take_ended() + self._track.finish()

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
        self.forget()

    def forget(self) -> None:
        """The same for what counts of the past alone; the step that is open stays so."""
        self._histories.reset()
        if self._clock is not None:
            self._clock.reset()
        self._told = None
        self._since = self._at

    def memory(self) -> Memory:
        """What `recall` puts back."""
        return copy.deepcopy(Memory(self._histories, self._clock, self._told, self._since, self._at))

    def recall(self, memory: Memory) -> None:
        """Remembers what it did then; `weigh` takes the frames since. Window, labels and open step stay as they are."""
        self._histories, self._clock, self._told, self._since, self._at = copy.deepcopy(memory)

    def belief(self, is_over: bool = False) -> Belief:
        """What has probably been done until now; of orders those that the likeliest history breaks, at the end all."""
        histories, steps = self._histories, self._histories.model.steps
        visits = self._visits(is_over)
        lacking, again = histories.lacking(is_over), histories.again(is_over)
        pairs = histories.model.pairs if is_over else self._broken(visits)
        return Belief(
            self._at,
            visits,
            tuple((step, float(chance)) for step, chance in zip(steps, lacking, strict=True) if step > BACKGROUND),
            tuple((step, float(chance)) for step, chance in zip(steps, again, strict=True) if step > BACKGROUND),
            tuple(((steps[first], steps[then]), histories.both(first, then, is_over)) for first, then in pairs),
            self._since,
        )

    def weigh(self, costs: Floats, at: float, effects: Floats | None) -> tuple[Floats, bool]:
        """Takes a frame into histories and clock: its memberships as they are shown, and whether histories changed."""
        self._at = at
        shown = 1.0 - costs if self._clock is None else self._clock.push(1.0 - costs, at)
        return shown, self._histories.push(costs, at, effects)

    def _take(self, costs: Floats, at: float, effects: Floats | None) -> Belief | None:
        shown, has_changed = self.weigh(costs, at, effects)
        self._shown.append((at, shown))
        return self._news() if has_changed else None

    def _take_ended(self) -> tuple[StepEvent, ...]:
        ended, self._ended = self._ended, ()
        return ended

    def _possible(self, times: Floats) -> Floats:
        """Memberships (T, C) of the frames of a window, next to none in what histories hold for all but impossible."""
        while self._shown[0][0] < times[0]:
            self._shown.popleft()
        marginals = self._histories.marginals(times)
        found = np.stack([row for _, row in self._shown])
        # Histories know nothing of what was before a restart, or too long ago.
        is_known = ((times > self._since) & (times >= self._histories.remembered_since))[:, None]
        is_impossible = is_known & (marginals < LEAST_POSSIBLE)
        found = np.where(is_impossible, IMPOSSIBLE * found, found)
        return np.asarray(found / np.maximum(found.sum(1, keepdims=True), np.finfo(np.float64).tiny))

    def _end(self, has_labels: bool) -> Belief | None:
        self._histories.end()
        return self.belief(is_over=True) if has_labels or self._told is not None else None

    def _track_all(self, labels: Sequence[SettledLabel]) -> tuple[tuple[SettledLabel, tuple[StepEvent, ...]], ...]:
        return tuple((label, self._take_ended() + self._track_one(label)) for label in labels)

    def _track_one(self, label: SettledLabel) -> tuple[StepEvent, ...]:
        """The events of a label; frames from before a restart, whose labels settle after it, begin no step."""
        return self._track.push(label) if label.at > self._since else ()

    def _broken(self, visits: Sequence[Segment]) -> list[tuple[int, int]]:
        """The columns of steps whose order these visits do not keep."""
        model = self._histories.model
        order = list(dict.fromkeys(model.steps.index(visit.step) for visit in visits))
        return [
            (first, then) for place, first in enumerate(order) for then in order[:place] if model.before[first, then]
        ]

    def _visits(self, is_over: bool) -> tuple[Segment, ...]:
        stretches = [Segment(*stretch) for stretch in self._histories.likeliest(is_over) if stretch[0] > BACKGROUND]
        if not stretches or is_over:
            return tuple(stretches)
        # Not how probably it is the newest: while the next one begins neither is, and what was done stays done.
        begun = self._histories.done()[self._histories.model.steps.index(stretches[-1].step)]
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
