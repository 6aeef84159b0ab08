"""A tracker that somebody looks after: events and actions in, guidance out, and every action can be taken back.

Undo replays what happened since, without the action. What is then said differs from what people were told; so people
see numbers of their own for alerts and questions, which stay with their cause whatever course is replayed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, islice

from guide.domain import Alert, Belief, Guidance, Question, Resolution
from guide.errors import InputError
from guide.procedure.actions import ABOUT_STEPS, ABOUT_WORDS, Action, in_force, newest_restart
from guide.procedure.attend import Attended, Deed, Entry, attend, pass_time
from guide.procedure.events import Event, Finished, Reviewed, Ticked
from guide.procedure.model import Procedure
from guide.procedure.progress import Progress, progress_of
from guide.procedure.settings import TrackerSettings
from guide.procedure.state import Cause, Voice
from guide.procedure.tracker import Tracker

MOST_ENTRIES = 20_000  # an hour at 5 labels a second: what lies further back than this cannot be undone


@dataclass(frozen=True, slots=True)
class _Told:
    """An alert or question as people know it."""

    said: Alert | Question
    cause: Cause

    @property
    def key(self) -> tuple[type, Cause]:
        return type(self.said), self.cause


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where the session stood, and what had been asked by the tracker's number, before an entry of the log."""

    place: int
    attended: Attended
    asked: Mapping[int, Question]


class AttendedTracker(Tracker):
    """A tracker that also takes an operator's actions.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> steps = (KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue"))
    >>> task = Procedure(steps, 4, rules=Rules(edges=((1, 2), (2, 3)), required=(1, 2, 3)))
    >>> tracker = AttendedTracker(task)
    >>> [said.kind for step in (1, 3) for said in tracker.push(step, at=float(step))]
    ['missed']
    >>> tracker.act(Action("was_done", at=4.0, target=1))
    (Resolution(id=1, at=3.0, is_withdrawn=True),)
    >>> [said.kind for said in tracker.act(Action("undo", at=5.0, target=1))]
    ['missed']
    """

    def __init__(self, procedure: Procedure, settings: TrackerSettings | None = None) -> None:
        super().__init__(procedure, settings)
        self.attended = self._base = Attended()
        self.state = self.attended.state
        self.actions: tuple[Action, ...] = ()
        """All actions of the session, numbered, in order."""
        self._log: deque[Entry] = deque()
        self._forgotten = 0  # entries that the log has lost at its beginning; places count them
        self._marks: dict[int, _Mark] = {}  # by the number of an action: undoing it begins there, not an hour ago
        self._asked: Mapping[int, Question] = {}  # by the tracker's number
        self._base_asked: Mapping[int, Question] = {}  # the same as far as the base has come
        self._known: dict[int, _Told] = {}  # by the number people know
        self._open: dict[int, int] = {}  # the tracker's number of what stands -> the one people know

    @property
    def progress(self) -> Progress:
        return progress_of(self.procedure, self.state, self.attended.excused)

    @property
    def standing(self) -> tuple[Alert | Question, ...]:
        """The alerts and questions that people have been told of and that were not resolved, snoozed ones included."""
        return tuple(self._known[number].said for number in sorted(self._open.values()))

    @property
    def snoozed(self) -> tuple[int, ...]:
        """The standing alerts and questions that are to be left alone for now."""
        causes = {cause for cause, _ in self.attended.snoozed}
        return tuple(number for number in sorted(self._open.values()) if self._known[number].cause in causes)

    @property
    def acknowledged(self) -> tuple[int, ...]:
        """The alerts and questions that somebody has seen."""
        return tuple(one.target for one in in_force(self.actions) if one.kind == "acknowledge" and one.target)

    def apply(self, event: Event) -> tuple[Guidance, ...]:
        return self._publish(self._enter(event))

    def act(self, action: Action, ending: Belief | None = None) -> tuple[Guidance, ...]:
        """What is said because of an action; it stands in `actions` then. InputError where its target is unknown.

        An undo after the end may change what was done in all, which is `ending` then.
        """
        self._require_sense(action)
        if ending is not None:
            end = next(place for place, entry in enumerate(self._log) if isinstance(entry, Finished))
            self._log.insert(end, Reviewed(ending.at, ending, newest_restart(self.actions, action)))
        taken = replace(action, number=len(self.actions) + 1)
        cause = self._known[action.target].cause if action.kind in ABOUT_WORDS and action.target else None
        before, self.actions = in_force(self.actions), (*self.actions, taken)
        if action.kind == "undo":
            changed = {one.number for one in before} ^ {one.number for one in in_force(self.actions)}
            return self._retrace(min(changed, default=None))
        return self._publish(self._enter(Deed(taken, cause)))

    def _require_sense(self, action: Action) -> None:
        if action.kind in ABOUT_WORDS and action.target not in self._known:
            raise InputError(f"{action.kind} is about an alert or a question, there is no number {action.target}.")
        if action.kind == "answer" and action.target and isinstance(self._known[action.target].said, Alert):
            raise InputError(f"only questions can be answered, number {action.target} is an alert.")
        if action.kind in ABOUT_STEPS and action.step not in self.procedure.numbers:
            raise InputError(f"this procedure has no step {action.step}.")
        if action.kind == "undo" and not 0 < (action.target or 0) <= len(self.actions):
            raise InputError(f"there is no action {action.target} to take back.")
        if action.kind == "undo" and action.target not in self._undoable():
            raise InputError(f"action {action.target} is too long ago to be taken back.")

    def _undoable(self) -> set[int]:
        """Actions whose entries are still at hand; an undo is taken back by bringing its action back."""
        kept = {entry.action.number for entry in self._log if isinstance(entry, Deed)}
        for action in self.actions:
            if action.kind == "undo" and action.target in kept:
                kept.add(action.number)
        return kept

    def _enter(self, entry: Entry) -> tuple[Guidance, ...]:
        if isinstance(entry, Deed):
            self._marks[entry.action.number] = _Mark(self._forgotten + len(self._log), self.attended, self._asked)
        elif isinstance(entry, Reviewed):
            entry = replace(entry, restart=newest_restart(self.actions))
        self.attended, said = attend(self.procedure, self.settings, self.attended, entry)
        self.state = self.attended.state
        self._asked = _with_questions(self._asked, said)
        if not self._log and not isinstance(entry, Deed):  # without an action there is nothing to take back
            self._base, self._base_asked = self.attended, self._asked
            return said
        self._log.append(entry)
        if len(self._log) > MOST_ENTRIES:
            self._forget()
        return said

    def _forget(self) -> None:
        """Lets go of the oldest entry: what lies before it cannot be changed any more."""
        mark = _Mark(self._forgotten, self._base, self._base_asked)
        entry = self._log.popleft()
        self._forgotten += 1
        self._base, self._base_asked = self._follow([entry], mark)
        if isinstance(entry, Deed):
            del self._marks[entry.action.number]

    def _follow(self, entries: Iterable[Entry], mark: _Mark) -> tuple[Attended, Mapping[int, Question]]:
        """Where these entries lead from a mark, those taken back left out, and what was asked until then."""
        valid = {action.number for action in in_force(self.actions)}
        attended, asked = mark.attended, mark.asked
        for is_tick, run in groupby(enumerate(entries, mark.place), lambda one: isinstance(one[1], Ticked)):
            if is_tick:
                times = [entry.at for _, entry in run if isinstance(entry, Ticked)]
                attended, said = pass_time(self.procedure, self.settings, attended, times)
                asked = _with_questions(asked, said)
                continue
            for place, entry in run:
                if isinstance(entry, Deed):
                    self._marks[entry.action.number] = _Mark(place, attended, asked)
                if not isinstance(entry, Deed) or entry.action.number in valid:
                    attended, said = attend(self.procedure, self.settings, attended, entry)
                    asked = _with_questions(asked, said)
        return attended, asked

    def _retrace(self, first: int | None) -> tuple[Guidance, ...]:
        """Puts the session where it would stand, and tells people what is otherwise than they were told.

        `first` is the earliest action that counts from now on, or counts no more.
        """
        now = self.state.known_at
        if first is not None:
            mark = self._marks[first]
            self.attended, self._asked = self._follow(islice(self._log, mark.place - self._forgotten, None), mark)
        self.state = self.attended.state
        gone = {self._known[number].key: number for number in self._open.values()}
        self._open = {}
        said: list[Guidance] = []
        for item, cause in _standing(self.state.voice, self._asked):
            number = None if cause in self.attended.dismissed else gone.pop((type(item), cause), None)
            if number is not None or not self.attended.is_muted(cause):
                said += self._tell_again(item, cause, number)
        now = max(now, self.state.known_at)
        withdrawn = [Resolution(number, now, is_withdrawn=True) for number in sorted(gone.values())]
        return (*withdrawn, *said)

    def _tell_again(self, item: Alert | Question, cause: Cause, number: int | None) -> list[Guidance]:
        """Gives a standing thing its number back, or a new one; says it unless people see it standing just so."""
        shown = number if number is not None else self._number_of(item, cause)
        self._open[item.id] = shown
        public = replace(item, id=shown)
        is_news = number is None or public != self._known[shown].said
        self._known[shown] = _Told(public, cause)
        return [public] if is_news else []

    def _number_of(self, item: Alert | Question, cause: Cause) -> int:
        """The number under which people once knew this very thing, or a new one."""
        known = (
            number
            for number, told in self._known.items()
            if told.key == (type(item), cause) and told.said.at == item.at and number not in self._open.values()
        )
        return next(known, len(self._known) + 1)

    def _publish(self, said: Iterable[Guidance]) -> tuple[Guidance, ...]:
        """The words under the numbers that people know; the end of what they were never told of is not told either."""
        return tuple(public for one in said if (public := self._public(one)) is not None)

    def _public(self, said: Guidance) -> Guidance | None:
        if isinstance(said, Resolution):
            number = self._open.pop(said.id, None)
            return None if number is None else replace(said, id=number)
        number = self._open.setdefault(said.id, len(self._known) + 1)
        public = replace(said, id=number)
        self._known[number] = _Told(public, _cause_of(said, self.state.voice))
        return public


def _cause_of(said: Alert | Question, voice: Voice) -> Cause:
    if isinstance(said, Alert):
        return said.kind, said.step
    return next((cause for cause, number in voice.open_questions if number == said.id), ("missed", said.step))


def _standing(voice: Voice, asked: Mapping[int, Question]) -> list[tuple[Alert | Question, Cause]]:
    """All that stands; a voice keeps no more of its questions than their numbers."""
    questions = [(asked[number], cause) for cause, number in voice.open_questions if number in asked]
    return [*((alert, cause) for cause, alert in voice.standing), *questions]


def _with_questions(asked: Mapping[int, Question], said: Iterable[Guidance]) -> Mapping[int, Question]:
    """What was asked, and what is asked now; a new mapping, since marks share the old one."""
    new = {one.id: one for one in said if isinstance(one, Question)}
    return {**asked, **new} if new else asked
