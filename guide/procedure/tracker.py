"""Follows one session through a procedure: step news in, guidance out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from guide.domain import BACKGROUND, UNKNOWN, Guidance
from guide.procedure import flags, speak
from guide.procedure.events import Confirmed, Differed, Ended, Event, Finished, Glimpsed, Marked, Ticked
from guide.procedure.flags import Finding
from guide.procedure.model import Procedure
from guide.procedure.progress import Progress, progress_of
from guide.procedure.settings import TrackerSettings
from guide.procedure.state import Cause, Fault, State


class Tracker:
    """Says what is missed, out of order, repeated and so on, as steps are confirmed.

    Only `push` and `finish` are needed to check a sequence of steps; `end` and `tick` add what depends on durations.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> steps = (KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue"))
    >>> task = Procedure(steps, 4, rules=Rules(edges=((1, 2), (2, 3)), required=(1, 2, 3)))
    >>> tracker = Tracker(task)
    >>> [alert.kind for step in (1, 3) for alert in tracker.push(step, at=float(step))]
    ['missed']
    >>> [alert.severity for alert in tracker.finish()]
    ['alarm']
    """

    def __init__(self, procedure: Procedure, settings: TrackerSettings | None = None) -> None:
        self.procedure = procedure
        self.settings = settings or TrackerSettings()
        self.state = State()

    @property
    def progress(self) -> Progress:
        return progress_of(self.procedure, self.state)

    def push(self, step: int, at: float, confidence: float = 1.0, start: float | None = None) -> tuple[Guidance, ...]:
        """A step (or unknown activity, -1) is confirmed at `at`, being done since `start`."""
        return self.apply(Confirmed(step, at, confidence, start))

    def end(self, step: int, at: float, end: float | None = None) -> tuple[Guidance, ...]:
        """The step is known at `at` to be over since `end`."""
        return self.apply(Ended(step, at, end))

    def tick(self, at: float) -> tuple[Guidance, ...]:
        """Time passes: a step may take too long, or the work may have stalled."""
        return self.apply(Ticked(at))

    def glimpse(self, step: int, at: float) -> tuple[Guidance, ...]:
        """A step showed clearly enough that it may have been done: it is not called lacking from now on."""
        return self.apply(Glimpsed(step, at))

    def differ(self, step: int, at: float, ratio: float) -> tuple[Guidance, ...]:
        """The step looks `ratio` times as far from its demonstrations as the farthest of them; above 1 is a flag."""
        return self.apply(Differed(step, at, ratio))

    def mark(self, step: int, at: float, is_done: bool) -> tuple[Guidance, ...]:
        """A person says whether a step is done."""
        return self.apply(Marked(step, at, is_done))

    def finish(self, at: float | None = None) -> tuple[Guidance, ...]:
        """The session is over: what is lacking now was missed. Later calls say nothing."""
        return self.apply(Finished(at))

    def apply(self, event: Event) -> tuple[Guidance, ...]:
        """Any event; the state before it can be kept, and put back to undo it."""
        self.state, said = advance(self.procedure, self.settings, self.state, event)
        return said

    def reset(self) -> None:
        self.state = State()


def advance(
    procedure: Procedure, settings: TrackerSettings, state: State, event: Event
) -> tuple[State, tuple[Guidance, ...]]:
    """The state after an event and what is said about it. Time never runs back: earlier news counts as of now."""
    if state.is_finished:
        return state, ()
    if event.at is not None and not isinstance(event, Glimpsed):  # glimpses run ahead of the labels' lag
        state = replace(state, at=max(state.at, event.at))
    turn = _Turn(procedure, settings, state)
    match event:
        case Confirmed(step=step) if step > BACKGROUND:
            turn.confirm(event)
        case Confirmed(step=step) if step == UNKNOWN:
            turn.meet_unknown(event)
        case Ended():
            turn.end(event)
        case Ticked():
            turn.tell(flags.too_long(procedure, state, state.at), flags.stalled(procedure, state, state.at))
        case Glimpsed():
            turn.glimpse(event)
        case Differed():
            turn.tell(flags.differs(procedure, event))
        case Marked():
            turn.mark(event)
        case Finished():
            turn.finish()
    return turn.state, tuple(turn.said)


class _Turn:
    """One event being worked off: the state so far and what was said."""

    def __init__(self, procedure: Procedure, settings: TrackerSettings, state: State) -> None:
        self.procedure = procedure
        self.settings = settings
        self.state = state
        self.said: list[Guidance] = []

    def tell(self, *findings: Finding | None) -> None:
        for finding in findings:
            if finding is not None:
                voice, said = speak.tell(self.state.voice, finding, self.state.at, self.procedure, self.settings)
                self._say(replace(self.state, voice=voice), said)

    def settle(self, causes: Iterable[Cause], is_withdrawn: bool) -> None:
        voice, said = speak.settle(self.state.voice, causes, self.state.at, is_withdrawn)
        self._say(replace(self.state, voice=voice), said)

    def settle_passing(self) -> None:
        kinds = {cause for cause, _ in self.state.voice.standing if cause[0] in flags.PASSING}
        self.settle(kinds, is_withdrawn=False)

    def confirm(self, event: Confirmed) -> None:
        before = self.state
        start = min(before.at if event.start is None else event.start, before.at)
        is_sure = event.confidence >= self.settings.sure_confidence
        if before.last != event.step:
            self.settle_passing()
            self.tell(flags.too_short(self.procedure, before, start))
        else:
            self.settle([("unknown", UNKNOWN), *self._stalls()], is_withdrawn=False)
        if event.step not in before.done:
            self._meet_first(before, event.step, is_sure)
        elif event.step != before.last:
            self._meet_again(before, event, is_sure)
        self.state = self.state.begin(event.step, start)

    def _meet_first(self, before: State, step: int, is_sure: bool) -> None:
        self.settle([("missed", step)], is_withdrawn=True)
        late = flags.late_after(self.procedure, before, step)
        if late is not None:
            self._note(late)
            self.tell(flags.out_of_order(self.procedure, late, is_sure))
        lacking = flags.lacking_before(self.procedure, before, step, is_sure)
        if lacking is not None:
            self._note(lacking)
            self.tell(flags.missed_so_far(self.procedure, lacking))

    def _meet_again(self, before: State, event: Confirmed, is_sure: bool) -> None:
        """Doing a step again that was done too early puts it right; any other second time is a repeat."""
        redone = [fault for fault in before.faults if fault.early == event.step and fault.lacking in before.done]
        if redone:
            self.settle([("out_of_order", event.step)], is_withdrawn=False)
        else:
            self.tell(flags.repeated(self.procedure, before, event, is_sure))

    def _note(self, fault: Fault) -> None:
        if fault not in self.state.faults:
            self.state = replace(self.state, faults=(*self.state.faults, fault))

    def meet_unknown(self, event: Confirmed) -> None:
        self.state = self.state.pause(min(self.state.at if event.start is None else event.start, self.state.at))
        if self.procedure.rules.is_unknown_flagged:
            self.tell(flags.unknown(event.confidence >= self.settings.sure_confidence))

    def end(self, event: Ended) -> None:
        if event.step == UNKNOWN:
            self.settle([("unknown", UNKNOWN)], is_withdrawn=False)
        elif event.step == self.state.current:
            end = min(self.state.at if event.end is None else event.end, self.state.at)
            self.tell(flags.too_long(self.procedure, self.state, end))
            self.settle([("too_long", event.step)], is_withdrawn=False)
            self.state = self.state.pause(end)

    def glimpse(self, event: Glimpsed) -> None:
        if event.step not in dict(self.state.glimpsed):
            self.state = replace(self.state, glimpsed=(*self.state.glimpsed, (event.step, event.at)))

    def mark(self, event: Marked) -> None:
        state = self.state
        if event.is_done:
            self.settle([("missed", event.step)], is_withdrawn=True)
            marked = tuple(dict.fromkeys((*state.marked, event.step)))
            denied = tuple(step for step in state.denied if step != event.step)
        else:
            marked = tuple(step for step in state.marked if step != event.step)
            denied = tuple(dict.fromkeys((*state.denied, event.step)))
        self.state = replace(self.state, marked=marked, denied=denied)

    def finish(self) -> None:
        self.tell(flags.too_long(self.procedure, self.state, self.state.at))
        self.settle_passing()
        if (
            self.state.current is None
        ):  # a step still running when the recording stops was not too short, it was cut off
            self.tell(flags.too_short(self.procedure, self.state, self.state.at))
        doubtful = set(self.state.perhaps) - set(self.state.done)
        self.settle([("missed", step) for step in sorted(doubtful)], is_withdrawn=True)
        self.tell(*flags.missed_at_end(self.procedure, self.state))
        self.state = replace(self.state.pause(self.state.at), is_finished=True)

    def _stalls(self) -> list[Cause]:
        return [cause for cause, _ in self.state.voice.standing if cause[0] == "stalled"]

    def _say(self, state: State, said: tuple[Guidance, ...]) -> None:
        self.state = state
        self.said.extend(said)
