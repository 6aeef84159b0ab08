"""All a tracker remembers: one frozen value. Undo is keeping the old one, replay is feeding the events again."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, TypeAlias

from guide.domain import Alert, AlertKind, Belief
from guide.procedure.model import Procedure
from guide.procedure.orders import Lacking
from guide.procedure.visits import Visit, visits_of

Cause: TypeAlias = tuple[AlertKind, int]  # and the step it is about


@dataclass(frozen=True, slots=True)
class Fault:
    """`early` was done while `lacking`, which should have come first, was not."""

    early: int
    lacking: int
    is_sure: bool
    """Whether `lacking` surely had to be done."""
    because: Lacking | None = None
    """Where that holds in some variants of the task."""

    def is_made_up(self, done: Collection[int]) -> bool:
        """Whether what was lacking was done after all."""
        return self.lacking in done or (self.because is not None and self.because.instead in done)


@dataclass(frozen=True, slots=True)
class Voice:
    """What has been said: standing alerts by cause, open questions, and every cause that was told of."""

    next_id: int = 1
    standing: tuple[tuple[Cause, Alert], ...] = ()
    open_questions: tuple[tuple[Cause, int], ...] = ()
    asked: tuple[int, ...] = ()
    """The steps asked about so far, one entry a question."""
    spoken: tuple[Cause, ...] = ()

    def alert_on(self, cause: Cause) -> Alert | None:
        return next((alert for known, alert in self.standing if known == cause), None)


@dataclass(frozen=True, slots=True)
class Judged:
    """What some visits, judged one after the other, say against the rules; the next look back goes on from it."""

    procedure: Procedure
    marked: tuple[int, ...]
    denied: tuple[int, ...]
    steps: tuple[int, ...]
    after: tuple[tuple[tuple[Fault, ...], Mapping[Cause, Any]], ...]
    """Faults and findings after each of the visits, which were at these steps."""

    def common(self, state: State, procedure: Procedure) -> int:
        """How many of the first visits of a state it was of."""
        if procedure is not self.procedure or (state.marked, state.denied) != (self.marked, self.denied):
            return 0
        steps = (visit.step for visit in state.visits)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self.steps, steps, strict=False)))


@dataclass(frozen=True, slots=True)
class State:
    """Where a session stands.

    >>> State().begin(2, start=1.0).pause(4.0).visits[-1].busy_s
    3.0
    """

    at: float = 0.0
    visits: tuple[Visit, ...] = ()
    running_since: float | None = None
    """Since when the last visit's step is being done; None while it rests."""
    faults: tuple[Fault, ...] = ()
    marked: tuple[int, ...] = ()
    """Steps a person called done."""
    denied: tuple[int, ...] = ()
    """Steps a person called not done since they were last seen."""
    belief: Belief | None = None
    """What has probably been done, where anybody says; without it what was confirmed is taken as certain."""
    kept_until: float = -math.inf
    """Visits begun until then are as a person left them; no later look back changes them."""
    doing: int | None = None
    """The step that was last confirmed and has not ended; a look back may already be at another one."""
    voice: Voice = Voice()
    judged: Judged | None = field(default=None, compare=False, repr=False)
    is_finished: bool = False

    @property
    def done(self) -> tuple[int, ...]:
        """Steps begun or done, in the order in which that was first known."""
        steps = dict.fromkeys([*(visit.step for visit in self.visits), *self.marked])
        return tuple(step for step in steps if step not in self.denied)

    def times(self, step: int) -> int:
        """How often the step was begun."""
        return sum(visit.step == step for visit in self.visits)

    @property
    def last(self) -> int | None:
        """The step of the newest visit."""
        return self.visits[-1].step if self.visits else None

    @property
    def current(self) -> int | None:
        return self.last if self.running_since is not None else None

    @property
    def known_at(self) -> float:
        """When the newest news came: a look back runs ahead of the labels, which wait to settle."""
        return self.at if self.belief is None else max(self.at, self.belief.at)

    def busy_s(self, at: float) -> float:
        """Seconds spent on the newest visit's step until `at`."""
        running = max(at - self.running_since, 0.0) if self.running_since is not None else 0.0
        return (self.visits[-1].busy_s if self.visits else 0.0) + running

    def pause(self, at: float) -> State:
        """The newest visit rests from `at` on; going on with the same step continues it."""
        if self.running_since is None:
            return replace(self, doing=None)
        visit = replace(self.visits[-1], end=max(at, self.visits[-1].end), busy_s=self.busy_s(at))
        return replace(self, visits=(*self.visits[:-1], visit), running_since=None, doing=None)

    def review(self, belief: Belief) -> State:
        """The visits as they look now, but for those that a person has left as they are."""
        kept_until = max(self.kept_until, belief.since)
        seen = visits_of(segment for segment in belief.visits if segment.start > kept_until)
        is_over = bool(seen) and self.running_since is not None and seen[0].step != self.last
        # What a person left running is nowhere else counted: it lasted until the first thing that is seen after it.
        visits = self.pause(seen[0].start).visits if is_over else self.visits
        kept = tuple(visit for visit in visits if visit.start <= kept_until)
        visits = _joined(kept, seen)
        if visits and self.running_since is not None and visits[-1].step == self.last:
            return replace(self, visits=(*visits[:-1], self.visits[-1]), belief=belief)
        is_going_on = bool(visits) and visits[-1].step == self.doing  # another step was only thought to be under way
        return replace(self, visits=visits, belief=belief, running_since=visits[-1].end if is_going_on else None)

    def begin(self, step: int, start: float) -> State:
        """The step is being done since `start`: a new visit, or the newest one goes on."""
        paused = self if self.current == step else self.pause(start)
        visits = paused.visits if paused.last == step else (*paused.visits, Visit(step, start, start, 0.0))
        if paused.running_since is None and visits[-1].end > start:  # a look back has counted this time already
            last = visits[-1]
            busy_s = max(last.busy_s - (last.end - start), 0.0)
            visits = (*visits[:-1], replace(last, end=max(last.start, start), busy_s=busy_s))
        since = paused.running_since if paused.running_since is not None else start
        denied = tuple(other for other in paused.denied if other != step)
        return replace(paused, visits=visits, running_since=since, denied=denied, doing=step)


def _joined(kept: tuple[Visit, ...], seen: tuple[Visit, ...]) -> tuple[Visit, ...]:
    """Both in a row; where one goes on with the step of the other, that is one visit."""
    if not kept or not seen or kept[-1].step != seen[0].step:
        return (*kept, *seen)
    last, more = kept[-1], seen[0]
    # The longer of both: the same look back comes many times, and its time must not add up.
    visit = replace(last, end=max(last.end, more.end), busy_s=max(last.busy_s, more.busy_s))
    return (*kept[:-1], visit, *seen[1:])
