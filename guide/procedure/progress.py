"""What is done, what is being done, what may come next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.procedure.model import Procedure
from guide.procedure.state import State

FEWEST_KIN = 3  # demonstrations that must have begun alike before a step is said to be of another variant


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step that may come next: of `total` demonstrations that did all that was done so far, `count` went on so."""

    step: int
    count: int
    total: int
    is_ready: bool
    """All that always came before it is done."""
    is_missed: bool = False
    """It should be done by now, and was said to be missed."""
    after: tuple[int, ...] = ()
    """What always came before it and is not done, in the usual order."""
    is_strange: bool = False
    """None of those demonstrations does it at all: it is of another variant."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a session stands in the procedure.

    >>> from guide.procedure.orders import Orders
    >>> task = Procedure((), 4, orders=Orders(((1, 2, 3), (1, 2, 3), (1, 3, 2), (4, 3))))
    >>> [(one.step, one.count, one.total) for one in progress_of(task, State().begin(1, 0.0)).next_steps]
    [(2, 2, 3), (3, 1, 3), (4, 0, 3)]
    """

    done: tuple[int, ...]
    current: int | None
    next_steps: tuple[NextStep, ...]
    lacking: tuple[int, ...]
    """Required steps that are not done yet, in the usual order."""
    strange: tuple[int, ...] = ()
    """Steps of another variant: none did them of the demonstrations that did all that was done before."""


class Kindred(NamedTuple):
    """The demonstrations (D,) that did all that was done so far, but for the steps of another variant."""

    is_kin: NDArray[np.bool_]
    strange: tuple[int, ...]


def kindred(procedure: Procedure, done: Iterable[int]) -> Kindred:
    """Whose way a session goes. A step that none of the few left did says nothing yet, and is passed over.

    >>> from guide.procedure.orders import Orders
    >>> task = Procedure((), 5, orders=Orders(((1, 3), (1, 3), (1, 3), (2, 3), (2, 3))))
    >>> kindred(task, (1, 2)).strange, kindred(task, (2, 1)).strange
    ((2,), ())
    """
    orders, strange = procedure.orders, []
    is_kin = np.ones(len(orders.demonstrations), np.bool_)
    for step in done:
        both = is_kin & np.isfinite(orders.places[:, orders.column[step]]) if step in orders.column else ~is_kin
        if both.any():
            is_kin = both
        elif is_kin.sum() >= FEWEST_KIN:
            strange.append(step)
    return Kindred(is_kin, tuple(strange))


def progress_of(procedure: Procedure, state: State, excused: Collection[int] = ()) -> Progress:
    """The session's place in the procedure, with next steps: what was missed and can be done, then the likeliest.

    Nobody is sent back to an `excused` step: the tracker may hold it as missed, but a person knows better.
    """
    view = _View(procedure, state)
    lacking = tuple(sorted(procedure.rules.required_but(state.done), key=view.usual_place))
    return Progress(state.done, state.current, view.advised(excused), lacking, view.strange)


def rank_next(procedure: Procedure, state: State) -> tuple[NextStep, ...]:
    """Steps by how many demonstrations that did the same so far go on with them; ties by the others, and by places.

    What only the others go on with comes last, as long as those have anything left to do. Where nobody has shown the
    task, every step that is left may come, in the order in which steps are written down, from the last one on; but not
    one that need not be done and whose turn is over.
    """
    return _View(procedure, state).ranked()


class _View:
    """The demonstrations, seen from where a session stands."""

    def __init__(self, procedure: Procedure, state: State) -> None:
        self._procedure, self._state = procedure, state
        self._rules, self._orders, self._last = procedure.rules, procedure.orders, state.last
        self._done, self._usual = procedure.rules.fulfilled(state.done), procedure.usual_rank()
        self._is_kin, self.strange = kindred(procedure, state.done)
        held = np.isfinite(self._orders.places[self._is_kin]).any(0)
        self._held = {self._orders.steps[column] for column in np.flatnonzero(held)}

    def usual_place(self, step: int) -> tuple[float, int]:
        return self._usual.get(step, 0.0), step

    def advised(self, excused: Collection[int]) -> tuple[NextStep, ...]:
        ranked = {choice.step: choice for choice in self.ranked()}
        settled = {*self._done, *excused}
        standing = self._state.voice.standing
        missed = [step for (kind, step), _ in standing if kind == "missed" and step not in settled]
        first = [replace(ranked.get(step) or self._choice(step, 0), is_missed=True) for step in missed]
        rest = [choice for choice in ranked.values() if choice.step not in missed]
        ready = [choice for choice in first if choice.is_ready]
        return (*ready, *rest, *(choice for choice in first if not choice.is_ready))

    def ranked(self) -> tuple[NextStep, ...]:
        votes, others = self._votes(self._is_kin), self._votes(~self._is_kin)
        is_shown = bool(self._orders.demonstrations)
        steps = ({*votes, *others} if votes else set()) if is_shown else self._written()
        followed = {move.then: move.count for move in self._procedure.transitions if move.first == (self._last or 0)}

        def place(choice: NextStep) -> tuple[float, ...]:
            step, is_behind = choice.step, not is_shown and choice.step < (self._last or 0)
            counts = (-choice.count, -others[step], -followed.get(step, 0))
            return not choice.is_ready, is_behind, *counts, *self.usual_place(step)

        return tuple(sorted((self._choice(step, votes[step]) for step in steps), key=place))

    def _written(self) -> set[int]:
        late = {first for first, then in self._rules.edges if then in self._done} - {*self._rules.required}
        return set(self._procedure.numbers) - self._done - late

    def _votes(self, chosen: NDArray[np.bool_]) -> Counter[int]:
        """How many demonstrations go on with each step: their first one not done after the last one, else at all."""
        orders = self._orders
        left = [step for step in orders.steps if step not in self._done]
        if not left or not chosen.any():
            return Counter()
        places = orders.places[chosen]
        still = places[:, [orders.column[step] for step in left]]
        if self._last in orders.column:
            still = np.where(still > places[:, [orders.column[self._last]]], still, still + len(orders.steps))
        is_going_on = np.isfinite(still).any(1)
        return Counter(left[place] for place in still[is_going_on].argmin(1).tolist())

    def _choice(self, step: int, count: int) -> NextStep:
        """What the demonstrations that did the same so far never do is not waited for, nor what need not be done."""
        firsts = self._rules.predecessors(step) if self._held else self._rules.needed_by(step)
        awaited = set(firsts) - self._done
        if self._held:
            awaited &= {*self._held, *self._rules.required}
        is_strange = bool(self._held) and step not in self._held
        after = tuple(sorted(awaited, key=self.usual_place))
        return NextStep(step, count, int(self._is_kin.sum()), not after, after=after, is_strange=is_strange)
