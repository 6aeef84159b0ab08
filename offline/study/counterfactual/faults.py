"""Every way in which one recording can be made faulty, as new orders of its pieces."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args

import numpy as np

from offline.study.counterfactual.pieces import Layout
from offline.study.counterfactual.rules import Rules

Kind: TypeAlias = Literal["none", "missed", "out_of_order", "repeated", "shuffled"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FEWEST_STEPS = 2  # that a recording with a step left out still holds


@dataclass(frozen=True, slots=True)
class Variant:
    """Pieces of a recording in a new order, and the one fault in it.

    `known` is the place in the order whose step gives the fault away; None where only the end does, or nothing.

    >>> Variant("missed", (0, 2), step=5, known=1).before is None
    True
    """

    kind: Kind
    order: tuple[int, ...]
    step: int | None = None
    before: int | None = None
    known: int | None = None


def unchanged(layout: Layout) -> Variant:
    """The recording as it was."""
    return Variant("none", tuple(range(len(layout.pieces))))


def missed(layout: Layout, rules: Rules) -> list[Variant]:
    """One step left out, every turn at it; only steps that every recording has, so that it is truly missed.

    It can be known when the first step begins that always came later; at the end where there is none.
    """
    found = []
    for step in sorted(rules.always & set(layout.steps)):
        order = tuple(number for number, other in enumerate(layout.steps) if other != step)
        if len({layout.steps[number] for number in order}) >= FEWEST_STEPS:
            found.append(Variant("missed", order, step, known=_first(layout, order, rules.successors(step))))
    return found


def out_of_order(layout: Layout, rules: Rules) -> list[Variant]:
    """Two steps exchanged that must not be, each done once; no other pair may come to stand the wrong way round.

    Where their exchange would break more than that, the later one alone moves to just before the earlier one.
    Known when the step begins that should have waited.
    """
    found = []
    turns = [number for number, step in enumerate(layout.steps) if layout.steps.count(step) == 1]
    for early, late in combinations(turns, 2):
        pair = layout.steps[early], layout.steps[late]
        if pair not in rules.before:
            continue
        for order in (_exchanged(layout, early, late), _moved(layout, early, late)):
            if rules.broken([layout.steps[number] for number in order]) == {pair}:
                found.append(Variant("out_of_order", order, pair[1], pair[0], known=order.index(late)))
                break
    return found


def repeated(layout: Layout, rules: Rules) -> list[Variant]:
    """One step done a second time, after at least one other step; only steps that were never done twice.

    Known when it begins anew.
    """
    found = []
    numbers = tuple(range(len(layout.pieces)))
    for number in numbers:
        if layout.steps[number] in rules.once:
            for place in range(number + 2, len(numbers) + 1):
                order = (*numbers[:place], number, *numbers[place:])
                found.append(Variant("repeated", order, layout.steps[number], known=place))
    return found


def shuffled(layout: Layout, rng: np.random.Generator, count: int) -> list[Variant]:
    """Up to `count` different orders drawn at random, none of them the source's: to see what recognition rests on."""
    orders: dict[tuple[int, ...], None] = {}
    numbers = tuple(range(len(layout.pieces)))
    for _ in range(4 * count):
        order = tuple(int(number) for number in rng.permutation(len(numbers)))
        if order != numbers and len(orders) < count:
            orders[order] = None
    return [Variant("shuffled", order) for order in orders]


def _first(layout: Layout, order: tuple[int, ...], steps: frozenset[int]) -> int | None:
    return next((place for place, number in enumerate(order) if layout.steps[number] in steps), None)


def _exchanged(layout: Layout, early: int, late: int) -> tuple[int, ...]:
    places = list(range(len(layout.pieces)))
    places[early], places[late] = late, early
    return tuple(places)


def _moved(layout: Layout, early: int, late: int) -> tuple[int, ...]:
    rest = [number for number in range(len(layout.pieces)) if number != late]
    rest.insert(rest.index(early), late)
    return tuple(rest)
