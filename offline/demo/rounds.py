"""A second task of the drawn world: the same things, and steps that come several times. No seed changes it.

The case is opened; twice a board is fitted, screwed down and a battery inserted; the lid is closed and screwed down.
Dust is wiped two to five times, whenever. So six steps make eleven to fourteen visits: two steps come once, two
twice, one three times, and of one nobody knows how often.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from guide.domain import UNKNOWN

from .orders import Fault, FaultKind, Order
from .task import BATTERY, BOARD, CLOSE, OPEN, SCREWS, WIPE

ROUND = ((BATTERY, BOARD, SCREWS), (BOARD, BATTERY, SCREWS), (BOARD, SCREWS, BATTERY))
WIPES = (2, 5)  # fewest and most
NUMBERED = (BOARD, SCREWS, BATTERY, CLOSE)  # steps that everybody does equally often; one visit more or less is a fault


def _is_apart(order: Order) -> bool:
    """Whether no step follows itself: two turns at it would be one."""
    return all(one != other for one, other in pairwise(order))


RIGHT = tuple(order for one, two in product(ROUND, ROUND) if _is_apart(order := (OPEN, *one, *two, CLOSE, SCREWS)))
"""All that is right, but for wiping."""


def sample_rounds(kind: FaultKind, rng: np.random.Generator) -> tuple[Order, Fault]:
    """What is done, with one fault of this kind, and the fault."""
    while True:  # few orders leave no room for a fault of each kind
        order = _wiped(RIGHT[int(rng.integers(len(RIGHT)))], rng)
        found = [(wrong, fault) for wrong, fault in _faults(order, kind, rng) if _is_apart(wrong)]
        if found:
            steps = sorted({fault.step or 0 for _, fault in found})  # a step that comes often is no likelier
            step = int(rng.choice(steps))
            some = [one for one in found if (one[1].step or 0) == step]
            return some[int(rng.integers(len(some)))]


def wrong_from(order: Order) -> int | None:
    """The place of the first step that no right order has there; None where only the end is wrong, or nothing.

    >>> wrong_from((OPEN, BOARD, WIPE, BATTERY, CLOSE))
    4
    """
    done: Order = ()
    for place, step in enumerate(order):
        done = done if step == WIPE else (*done, step)
        if all(right[: len(done)] != done for right in RIGHT):
            return place
    return None


def _wiped(order: Order, rng: np.random.Generator) -> Order:
    for _ in range(int(rng.integers(WIPES[0], WIPES[1] + 1))):
        places = [place for place in range(1, len(order) + 1) if WIPE not in order[place - 1 : place + 1]]
        order = _with(order, WIPE, int(rng.choice(places)))
    return order


def _faults(order: Order, kind: FaultKind, rng: np.random.Generator) -> Iterator[tuple[Order, Fault]]:
    """Orders with a fault, and the fault."""
    if kind == "none":
        yield order, Fault()
    elif kind == "unknown":
        place = int(rng.integers(1, len(order) + 1))
        yield _with(order, UNKNOWN, place), Fault(kind, index=place)
    elif kind == "missed":  # one visit of several, or the only one
        for place, step in enumerate(order):
            if step in NUMBERED:
                wrong = order[:place] + order[place + 1 :]
                yield wrong, Fault(kind, step, index=wrong_from(wrong))
    elif kind == "repeated":  # one visit more, while the case is open
        for step in NUMBERED:
            reachable = range(1, order.index(CLOSE) + 1) if step in (BOARD, BATTERY) else range(1, len(order) + 1)
            for place in reachable:
                if step != CLOSE or place > order.index(CLOSE):
                    wrong = _with(order, step, place)
                    yield wrong, Fault(kind, step, index=wrong_from(wrong))
    else:
        yield from _exchanged(order)


def _exchanged(order: Order) -> Iterator[tuple[Order, Fault]]:
    """Screws driven before any board is in, or the lid closed before the second battery is."""
    last_battery = len(order) - 1 - order[::-1].index(BATTERY)
    moves = [(order.index(SCREWS), order.index(BOARD))]
    if not {BOARD, SCREWS} & {*order[last_battery : order.index(CLOSE)]}:
        moves.append((order.index(CLOSE), last_battery))
    for late, early in moves:
        rest = order[:late] + order[late + 1 :]
        yield (
            _with(rest, order[late], early),
            Fault("out_of_order", order[late], order[early], index=early),
        )


def _with(order: Order, step: int, place: int) -> Order:
    return (*order[:place], step, *order[place:])
