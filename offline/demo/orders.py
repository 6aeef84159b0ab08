"""Orders in which the task may be done, and faults planted in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from guide.domain import UNKNOWN

from .task import BATTERY, BOARD, CABLE, CLOSE, LABEL, MAT, OPEN, SCREWS, TASK, WIPE

FaultKind: TypeAlias = Literal["none", "missed", "out_of_order", "repeated", "unknown"]
FAULTS: tuple[FaultKind, ...] = ("none", "missed", "out_of_order", "repeated", "unknown")

Order: TypeAlias = tuple[int, ...]

# Faults that can be acted out: nobody reaches into a case that was never opened.
MISSABLE = (MAT, BOARD, SCREWS, BATTERY, CABLE, CLOSE)
EXCHANGEABLE = ((MAT, OPEN), (MAT, LABEL), (BOARD, SCREWS), (BATTERY, CABLE), (SCREWS, CLOSE), (CABLE, CLOSE))
DOABLE_TWICE = (BOARD, SCREWS, BATTERY, CABLE, CLOSE, LABEL)

OPTIONAL_RATE = 0.75
SECOND_WIPE_RATE = 0.35


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong: `index` is the place in the order where it can be known (None: at the end).

    >>> Fault("missed", step=BOARD, index=4).before is None
    True
    """

    kind: FaultKind = "none"
    step: int | None = None
    before: int | None = None
    index: int | None = None


def sample_order(rng: np.random.Generator) -> Order:
    """An order that respects the task.

    Free pairs come both ways in at least about a quarter of the orders: were they merely uniform over all allowed
    orders, a dozen demonstrations would often show a free pair one way only, and no learner could know it is free.
    """
    order = [MAT, OPEN, *_two_strands(rng), CLOSE]
    if rng.random() < OPTIONAL_RATE:
        order.insert(_place(1, len(order), rng), LABEL)
    if rng.random() < OPTIONAL_RATE:
        order.insert(_place(0, len(order), rng), WIPE)
        if rng.random() < SECOND_WIPE_RATE:
            apart = [i for i in range(len(order) + 1) if WIPE not in order[max(i - 1, 0) : i + 1]]
            order.insert(int(rng.choice(apart)), WIPE)
    return tuple(order)


def _two_strands(rng: np.random.Generator) -> list[int]:
    one, two = [BOARD, SCREWS], [BATTERY, CABLE]
    if rng.random() < 0.35:
        one, two = two, one
    if rng.random() < 0.7:
        return one + two
    return [one[0], two[0], *(one[1:] + two[1:] if rng.random() < 0.5 else two[1:] + one[1:])]


def _place(first: int, last: int, rng: np.random.Generator) -> int:
    """Mostly very late, else very early or anywhere."""
    return (first, last, int(rng.integers(first, last + 1)))[int(rng.choice(3, p=(0.25, 0.55, 0.2)))]


def plant(order: Order, kind: FaultKind, rng: np.random.Generator) -> tuple[Order, Fault]:
    """The order with one fault of this kind, and the fault."""
    if kind == "missed":
        return _leave_out(order, int(rng.choice(MISSABLE)))
    if kind == "out_of_order":
        return _exchange(order, rng)
    if kind == "repeated":
        return _do_twice(order, rng)
    if kind == "unknown":
        index = int(rng.integers(1, len(order) + 1))
        return (*order[:index], UNKNOWN, *order[index:]), Fault(kind, index=index)
    return order, Fault()


def _leave_out(order: Order, step: int) -> tuple[Order, Fault]:
    kept = tuple(other for other in order if other != step)
    after = [i for i, other in enumerate(kept) if other in TASK.successors(step)]
    return kept, Fault("missed", step, index=min(after, default=None))


def _exchange(order: Order, rng: np.random.Generator) -> tuple[Order, Fault]:
    """One step moved to just before one it should have waited for, so that this pair alone is violated."""
    choices = []
    for before, step in EXCHANGEABLE:
        if step in order:
            rest = [other for other in order if other != step]
            index = rest.index(before)
            moved = (*rest[:index], step, *rest[index:])
            if TASK.violations(moved) == [(before, step)]:
                choices.append((moved, Fault("out_of_order", step, before, index)))
    return choices[int(rng.integers(len(choices)))]


def _do_twice(order: Order, rng: np.random.Generator) -> tuple[Order, Fault]:
    """A step done again after at least one other, while it can still be reached."""
    choices = []
    for step in set(DOABLE_TWICE) & set(order):
        reachable = len(order) if step in (CLOSE, LABEL) else order.index(CLOSE)
        choices += [(step, index) for index in range(order.index(step) + 2, reachable + 1)]
    step = int(rng.choice(sorted({step for step, _ in choices})))
    index = int(rng.choice([index for other, index in choices if other == step]))
    return (*order[:index], step, *order[index:]), Fault("repeated", step, index=index)
