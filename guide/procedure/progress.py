"""What is done, what is being done, what may come next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from guide.procedure.model import Procedure
from guide.procedure.state import State


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step that may come next: so went `count` of the `total` demonstrations from here."""

    step: int
    count: int
    total: int
    is_ready: bool
    """All that always came before it is done."""
    is_missed: bool = False
    """It should be done by now, and was said to be missed."""
    after: tuple[int, ...] = ()
    """What always came before it and is not done, in the usual order."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a session stands in the procedure.

    >>> from guide.domain import Ordering
    >>> task = Procedure((), 3, orderings=(Ordering((1, 2, 3), 2), Ordering((1, 3, 2), 1)))
    >>> [(choice.step, choice.count) for choice in progress_of(task, State().begin(1, 0.0)).next_steps]
    [(2, 2), (3, 1)]
    """

    done: tuple[int, ...]
    current: int | None
    next_steps: tuple[NextStep, ...]
    lacking: tuple[int, ...]
    """Required steps that are not done yet, in the usual order."""


def progress_of(procedure: Procedure, state: State, excused: Collection[int] = ()) -> Progress:
    """The session's place in the procedure, with possible next steps: what was missed, then the likeliest.

    `excused` are the steps that a person said were not missed.
    """
    done = state.done
    usual = procedure.usual_rank()
    missing = [step for step in procedure.rules.required if step not in done]
    lacking = tuple(sorted(missing, key=lambda step: (usual.get(step, 0.0), step)))
    return Progress(done, state.current, advise_next(procedure, state, excused), lacking)


def advise_next(procedure: Procedure, state: State, excused: Collection[int] = ()) -> tuple[NextStep, ...]:
    """What to do next: a step that was missed and can still be done comes before what people usually go on with.

    Nobody is sent back to an excused one: the tracker may hold it as missed, but a person knows better.
    """
    ranked = {choice.step: choice for choice in rank_next(procedure, state)}
    done = set(state.done)
    settled = {*done, *excused}
    missed = [step for (kind, step), _ in state.voice.standing if kind == "missed" and step not in settled]
    total = sum(ordering.count for ordering in procedure.orderings)
    first = [replace(ranked.get(step) or _choice(procedure, step, 0, total, done), is_missed=True) for step in missed]
    rest = [choice for choice in ranked.values() if choice.step not in missed]
    ready = [choice for choice in first if choice.is_ready]
    return (*ready, *rest, *(choice for choice in first if not choice.is_ready))


def rank_next(procedure: Procedure, state: State) -> tuple[NextStep, ...]:
    """Steps by how many demonstrations go on with them from here; ties by what directly followed the last step."""
    done = set(state.done)
    votes = Counter[int]()
    for ordering in procedure.orderings:
        choice = _next_in(ordering.steps, state.last, done)
        if choice is not None:
            votes[choice] += ordering.count
    total = sum(ordering.count for ordering in procedure.orderings)
    followed = {move.then: move.count for move in procedure.transitions if move.first == (state.last or 0)}
    usual = procedure.usual_rank()
    choices = [_choice(procedure, step, count, total, done) for step, count in votes.items()]
    return tuple(
        sorted(choices, key=lambda c: (not c.is_ready, -c.count, -followed.get(c.step, 0), usual[c.step], c.step))
    )


def _choice(procedure: Procedure, step: int, count: int, total: int, done: set[int]) -> NextStep:
    usual = procedure.usual_rank()
    after = sorted(set(procedure.rules.predecessors(step)) - done, key=lambda one: (usual.get(one, 0.0), one))
    return NextStep(step, count, total, not after, after=tuple(after))


def _next_in(order: tuple[int, ...], last: int | None, done: set[int]) -> int | None:
    """The first step of the order not done after the last one done, else the first not done at all."""
    begin = order.index(last) + 1 if last in order else 0
    return next((step for step in (*order[begin:], *order[:begin]) if step not in done), None)
