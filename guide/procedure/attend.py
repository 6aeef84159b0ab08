"""What an operator's actions do to a session: pure, one entry at a time, so that any of them can be left out later.

The tracker says what the evidence says. Here stands what people made of it: causes dismissed or snoozed, a pause.
An action takes effect at the tracker's own time, which lags behind the clock by as much as labels do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeAlias

from guide.domain import Alert, Guidance, Question
from guide.procedure import speak
from guide.procedure.actions import Action
from guide.procedure.events import Confirmed, Ended, Event, Finished, Marked, Reviewed, Ticked
from guide.procedure.flags import Finding
from guide.procedure.model import Procedure
from guide.procedure.progress import progress_of
from guide.procedure.settings import TrackerSettings
from guide.procedure.state import Cause, State, Voice
from guide.procedure.tracker import advance

_GOOD_ANSWERS: dict[str, bool] = {"missed": True, "out_of_order": False, "repeated": False}
"""Which answer to the question on a cause says that all is well; see `speak.question_text`."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action as the session takes it: its target found, so that it means the same in another history of events."""

    action: Action
    cause: Cause | None = None


Entry: TypeAlias = Event | Deed


@dataclass(frozen=True, slots=True)
class Attended:
    """Where a session stands that somebody looks after.

    >>> Attended().is_paused
    False
    """

    state: State = field(default_factory=State)
    dismissed: tuple[Cause, ...] = ()
    """False alarms: never told of again."""
    snoozed: tuple[tuple[Cause, float], ...] = ()
    """Causes not told of before a time."""
    running: Confirmed | None = None
    """What is seen being done, whether or not the session is paused."""
    restart: int = 0
    """The number of the restart that the session last began with; 0 is its beginning."""
    is_paused: bool = False
    cut: tuple[int, ...] = ()
    """Steps that a pause cut into, until another one is begun: how long they took is not known."""

    @property
    def excused(self) -> tuple[int, ...]:
        """Steps of which a person said that it was a false alarm to call them missed."""
        return tuple(step for kind, step in self.dismissed if kind == "missed")

    def is_muted(self, cause: Cause) -> bool:
        return cause in self.dismissed or any(known == cause for known, _ in self.snoozed)


def attend(
    procedure: Procedure, settings: TrackerSettings, attended: Attended, entry: Entry
) -> tuple[Attended, tuple[Guidance, ...]]:
    """Where the session stands after an event or a deed, and what is said about it."""
    turn = _Turn(procedure, settings, attended)
    if isinstance(entry, Deed):
        turn.take(entry)
    else:
        turn.hear(entry)
    return turn.now, tuple(turn.said)


def pass_time(
    procedure: Procedure, settings: TrackerSettings, attended: Attended, times: Iterable[float]
) -> tuple[Attended, tuple[Guidance, ...]]:
    """The same for ticks at these times with nothing in between; most only let time pass, and are not worked off.

    What a tick leads to, it leads to at any later time as well: the first that leads to anything is found by halving.
    """
    left, said = list(accumulate(times, max)), list[Guidance]()

    def take(at: float) -> tuple[Attended, tuple[Guidance, ...]]:
        return attend(procedure, settings, attended, Ticked(at))

    def is_news(later: Attended) -> bool:
        return replace(later, state=replace(later.state, at=attended.state.at)) != attended

    while left:
        later, words = take(left[-1])
        quiet = len(left)
        if is_news(later):
            quiet = bisect_left(left, True, key=lambda at: is_news(take(at)[0]))
            later, words = take(left[quiet])
        attended, said, left = later, [*said, *words], left[quiet + 1 :]
    return attended, tuple(said)


class _Turn:
    """One entry being worked off."""

    def __init__(self, procedure: Procedure, settings: TrackerSettings, attended: Attended) -> None:
        self.procedure, self.settings = procedure, settings
        self.now = attended
        self.said: list[Guidance] = []

    @property
    def state(self) -> State:
        return self.now.state

    def hear(self, event: Event) -> None:
        self._note_running(event)
        if self.now.is_paused and isinstance(event, Finished):
            self._resume()
        if isinstance(event, Reviewed) and (self.now.is_paused or event.restart != self.now.restart):
            return
        if self.now.is_paused and isinstance(event, Confirmed | Ended | Ticked):
            self._put(replace(self.state, at=max(self.state.at, event.at)))
        else:
            self._advance(event)
            if isinstance(event, Confirmed) and event.step not in self.now.cut:
                self.now = replace(self.now, cut=())
        self._wake(is_over=isinstance(event, Finished))

    def take(self, deed: Deed) -> None:
        action, at = deed.action, self.state.at
        match action.kind:
            case "was_done" if deed.cause is not None:
                self._excuse(deed.cause)
            case "false_alarm" if deed.cause is not None:
                self._dismiss(deed.cause)
            case "snooze" if deed.cause is not None:
                self._snooze(deed.cause, at + action.snooze_s)
            case "answer" if deed.cause is not None:
                self._answer(deed.cause, bool(action.answer))
            case "mark_done" if action.step is not None and self.settings.is_by_hand:
                self._do(action.step, max(at, action.at))
            case "mark_done" | "not_yet" if action.step is not None:
                self._advance(Marked(action.step, at, action.kind == "mark_done"))
            case "next":
                self._go_on()
            case "previous":
                self._go_back()
            case "restart" if not self.state.is_finished:
                self._restart(action.number)
            case "pause" if not self.now.is_paused:
                self._put(self.state.pause(at))
                self.now = replace(self.now, is_paused=True)
            case "resume" if self.now.is_paused:
                self._resume()

    def _note_running(self, event: Event) -> None:
        if isinstance(event, Confirmed):
            self.now = replace(self.now, running=event)
        elif isinstance(event, Ended) and self.now.running is not None and self.now.running.step == event.step:
            self.now = replace(self.now, running=None)

    def _advance(self, event: Event) -> None:
        state, said = advance(self.procedure, self.settings, self.state, event)
        self._say(*_without_short(state, said, self.now.cut))

    def _settle(self, causes: Iterable[Cause], is_withdrawn: bool) -> None:
        voice, said = speak.settle(self.state.voice, causes, self.state.known_at, is_withdrawn)
        self._say(replace(self.state, voice=voice), said)

    def _say(self, state: State, said: Iterable[Guidance]) -> None:
        self._put(state)
        self.said += [one for one in said if not self._is_muted(one, state.voice)]

    def _is_muted(self, said: Guidance, voice: Voice) -> bool:
        if isinstance(said, Alert):
            return self.now.is_muted((said.kind, said.step))
        if isinstance(said, Question):
            return any(self.now.is_muted(cause) for cause, number in voice.open_questions if number == said.id)
        return False

    def _put(self, state: State) -> None:
        self.now = replace(self.now, state=state)

    def _wake(self, is_over: bool) -> None:
        """Tells of what was snoozed and still stands, once its time is over or the session ends."""
        over = {cause for cause, until in self.now.snoozed if is_over or until <= self.state.at}
        if over:
            self.now = replace(self.now, snoozed=tuple(pair for pair in self.now.snoozed if pair[0] not in over))
            told = {one.id for one in self.said if isinstance(one, Alert)}
            standing = [alert for cause, alert in self.state.voice.standing if cause in over and alert.id not in told]
            self._say(self.state, standing)

    def _excuse(self, cause: Cause) -> None:
        """It was done: the lacking step counts as done, any other finding as mistaken."""
        if cause[0] != "missed":
            self._dismiss(cause)
            return
        self._advance(Marked(cause[1], self.state.at, is_done=True))

    def _dismiss(self, cause: Cause) -> None:
        self._settle([cause], is_withdrawn=True)
        self.now = replace(self.now, dismissed=tuple(dict.fromkeys((*self.now.dismissed, cause))))

    def _snooze(self, cause: Cause, until: float) -> None:
        others = tuple(pair for pair in self.now.snoozed if pair[0] != cause)
        self.now = replace(self.now, snoozed=(*others, (cause, until)))

    def _answer(self, cause: Cause, answer: bool) -> None:
        if answer == _GOOD_ANSWERS[cause[0]]:
            self._excuse(cause)
        elif any(known == cause for known, _ in self.state.voice.open_questions):
            self._believe(cause, answer)

    def _believe(self, cause: Cause, answer: bool) -> None:
        """The operator confirms what was only suspected: the question becomes an alert."""
        kind, step = cause
        if kind == "missed":  # said by a person: no later look back makes it doubtful
            self._advance(Marked(step, self.state.at, is_done=False))
        faults = tuple(
            replace(fault, is_sure=True) if step in (fault.early, fault.lacking) else fault
            for fault in self.state.faults
        )
        self._put(replace(self.state, faults=faults))
        before = next((fault.lacking for fault in faults if kind == "out_of_order" and fault.early == step), None)
        evidence = f'the operator answered {"yes" if answer else "no"}, when asked about "{self.procedure.name(step)}"'
        finding = Finding(kind, step, "alarm" if kind == "out_of_order" else "warning", evidence, before)
        voice, said = speak.tell(self.state.voice, finding, self.state.known_at, self.procedure, self.settings)
        self._say(replace(self.state, voice=voice), said)

    def _do(self, step: int, at: float) -> None:
        """The step was done until now: all that a person says where nobody looks."""
        self._advance(Confirmed(step, at))
        self._advance(Ended(step, at))

    def _go_on(self) -> None:
        """The step that is advised is being done from now on; one cut short by a person was not too short."""
        choices = progress_of(self.procedure, self.state, self.now.excused).next_steps
        if not choices or self.state.is_finished:
            return
        last, begun = self.state.last, Confirmed(choices[0].step, self.state.at, 1.0, self.state.known_at)
        state, said = advance(self.procedure, self.settings, self.state, begun)
        state, kept = _without_short(state, said, (last or 0,))
        self._say(replace(state, kept_until=state.known_at), kept)

    def _go_back(self) -> None:
        """The newest visit is forgotten with all that was said on its account; the one before it goes on."""
        state = self.state
        if not state.visits or state.is_finished:
            return
        step, rest = state.visits[-1].step, state.visits[:-1]
        is_gone = all(visit.step != step for visit in rest)
        faults = tuple(fault for fault in state.faults if not (is_gone and step in (fault.early, fault.lacking)))
        blamed: list[Cause] = [
            ("missed", fault.lacking) for fault in state.faults if fault.early == step and fault not in faults
        ]
        late: list[Cause] = [("out_of_order", fault.early) for fault in state.faults if fault.lacking == step]
        own: list[Cause] = [(kind, step) for kind in ("out_of_order", "repeated", "too_long", "too_short")]
        marked = tuple(other for other in state.marked if other != step)
        denied = tuple(dict.fromkeys((*state.denied, step))) if is_gone else state.denied
        self._put(
            replace(
                state,
                visits=rest,
                faults=faults,
                marked=marked,
                denied=denied,
                running_since=state.known_at if rest else None,
                doing=rest[-1].step if rest else None,
                kept_until=state.known_at,
            )
        )
        self._settle([*blamed, *late, *own], is_withdrawn=True)

    def _restart(self, number: int) -> None:
        """Begins anew: what is being done now belongs to the run before, and is announced again if it goes on."""
        voice = self.state.voice
        self._settle([cause for cause, _ in (*voice.standing, *voice.open_questions)], is_withdrawn=False)
        fresh = State(at=self.state.at, voice=Voice(next_id=self.state.voice.next_id), kept_until=self.state.at)
        self.now = Attended(fresh, restart=number)

    def _resume(self) -> None:
        """Goes on: the time of the pause counts for nothing, and what is being done now is news."""
        state = self.state
        if state.visits:  # the pause was no idleness
            last = state.visits[-1]
            state = replace(state, visits=(*state.visits[:-1], replace(last, end=max(last.end, state.at))))
        cut = [state.last, self.now.running.step if self.now.running is not None else None]
        self.now = replace(
            self.now,
            state=replace(state, kept_until=state.at),
            is_paused=False,
            cut=tuple(step for step in cut if step is not None),
        )
        if self.now.running is not None and not _is_passed(self.now.running, state):
            self._advance(replace(self.now.running, at=state.at, start=state.at))


def _is_passed(running: Confirmed, state: State) -> bool:
    """Whether another step was begun later already, as a look back or a person says: the one before is not news then.

    Labels wait to settle, so one that is of a moment before the newest look back may still be news to it.
    """
    began = running.at if running.start is None else running.start
    return running.step != state.last and bool(state.visits) and state.visits[-1].start > began


def _without_short(state: State, said: Sequence[Guidance], steps: Sequence[int]) -> tuple[State, list[Guidance]]:
    """The same without new words on how short these steps were: a person had a hand in that."""
    short = [one for one in said if isinstance(one, Alert) and one.kind == "too_short" and one.step in steps]
    if not short:
        return state, list(said)
    voice, _ = speak.settle(state.voice, [("too_short", one.step) for one in short], state.at, is_withdrawn=True)
    return replace(state, voice=voice), [one for one in said if one not in short]
