"""From settled labels to steps with hysteresis: started, confirmed, ended, without flapping on noise."""

from __future__ import annotations

from dataclasses import dataclass

from guide.domain import BACKGROUND, UNKNOWN, SettledLabel, StepEvent, StepState
from guide.label.confidence import Calibration, trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings:
    """When a run of labels counts as a step.

    >>> StepSettings().confirm_s
    1.0
    """

    confirm_s: float = 1.0
    """A step is confirmed once it was seen for this long."""
    unknown_s: float = 4.0
    """The same for unknown activity, where it is longer: who looks round the room for a moment does nothing unknown."""
    bridge_s: float = 1.5
    """A step that comes back within this time went on all the while."""


@dataclass(slots=True)
class _Run:
    """A stretch of one label: when it began, was last seen, for how long, how surely."""

    step: int
    start: float
    last: float
    seen_s: float = 0.0
    confidence: float = 0.0
    labels: int = 0
    is_confirmed: bool = False

    def add(self, label: SettledLabel, elapsed_s: float) -> None:
        self.last = label.at
        self.seen_s += elapsed_s
        self.labels += 1
        self.confidence += (label.confidence - self.confidence) / self.labels


class StepTrack:
    """Gives the events that each settled label causes.

    >>> track = StepTrack(StepSettings(confirm_s=1.0, bridge_s=1.0))
    >>> labels = [SettledLabel(t / 2, 3 if t < 4 else 0, 0.9) for t in range(10)]
    >>> [(e.state, e.at) for label in labels for e in track.push(label)]
    [('started', 0.0), ('confirmed', 1.0), ('ended', 2.5)]
    """

    def __init__(self, settings: StepSettings, calibration: Calibration | None = None) -> None:
        self._settings, self._calibration = settings, calibration or Calibration()
        self._open: _Run | None = None
        self._rival: _Run | None = None
        self._at: float | None = None

    def push(self, label: SettledLabel) -> tuple[StepEvent, ...]:
        """Takes the next label in time."""
        elapsed_s = 0.0 if self._at is None else label.at - self._at
        self._at = label.at
        if self._open is not None and label.step == self._open.step:
            return self._continue(self._open, label, elapsed_s)
        events = self._close_if_gone(label)
        self._weigh_rival(label, elapsed_s)
        return events + self._give_way(label)

    def finish(self) -> tuple[StepEvent, ...]:
        """Ends the step that is still open."""
        if self._open is None or self._at is None:
            return ()
        event = self._event(self._open, "ended", self._at)
        self.reset()
        return (event,)

    def reset(self) -> None:
        self._open = self._rival = self._at = None

    def _continue(self, run: _Run, label: SettledLabel, elapsed_s: float) -> tuple[StepEvent, ...]:
        run.add(label, elapsed_s)
        self._rival = None
        return self._confirm(run, label.at)

    def _close_if_gone(self, label: SettledLabel) -> tuple[StepEvent, ...]:
        run = self._open
        if run is None or label.at - run.last < self._settings.bridge_s:
            return ()
        self._open = None
        return (self._event(run, "ended", label.at),)

    def _weigh_rival(self, label: SettledLabel, elapsed_s: float) -> None:
        """Keeps count of the other step that is seen while the open one may yet come back."""
        if label.step == BACKGROUND:
            self._rival = None
            return
        if self._rival is None or self._rival.step != label.step:
            self._rival, elapsed_s = _Run(label.step, label.at, label.at), 0.0
        self._rival.add(label, elapsed_s)

    def _give_way(self, label: SettledLabel) -> tuple[StepEvent, ...]:
        """Opens the rival where nothing is open, or where it was itself seen long enough."""
        rival, run = self._rival, self._open
        if rival is None or (run is not None and rival.seen_s < self._needed_s(rival)):
            return ()
        ended = () if run is None else (self._event(run, "ended", label.at),)
        self._open, self._rival = rival, None
        return (*ended, self._event(rival, "started", label.at), *self._confirm(rival, label.at))

    def _confirm(self, run: _Run, at: float) -> tuple[StepEvent, ...]:
        if run.is_confirmed or run.seen_s < self._needed_s(run):
            return ()
        run.is_confirmed = True
        return (self._event(run, "confirmed", at),)

    def _needed_s(self, run: _Run) -> float:
        """For how long a run must be seen to count."""
        shortest_s = self._settings.confirm_s
        return max(self._settings.unknown_s, shortest_s) if run.step == UNKNOWN else shortest_s

    def _event(self, run: _Run, state: StepState, at: float) -> StepEvent:
        end = run.last if state == "ended" else None
        return StepEvent(at, run.step, state, run.start, end, trusted(run.step, run.confidence, self._calibration))
