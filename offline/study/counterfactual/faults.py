"""What all labelled recordings of a task have in common, and every way to make one faulty, which breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal, TypeAlias, get_args

import numpy as np

from offline.study.counterfactual.pieces import Layout

Kind: TypeAlias = Literal["none", "missed", "out_of_order", "repeated", "shuffled"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Pair: TypeAlias = tuple[int, int]  # (first, then)

FEWEST = 2  # recordings that must hold both steps of a pair: one alone says nothing of what must come first
FEWEST_STEPS = 2  # that a recording with a step left out still holds


@dataclass(frozen=True, slots=True)
class Rules:
    """What held without exception in the recordings a task was learned from.

    >>> rules = Rules.learn([(1, 2, 3), (2, 1, 3), (1, 3)])
    >>> sorted(rules.before), sorted(rules.always)
    ([(1, 3), (2, 3)], [1, 3])
    """

    before: frozenset[Pair]
    """`first` was over before `then` was begun, in every recording that holds both."""
    always: frozenset[int]
    """Steps done in every recording."""
    once: frozenset[int]
    """Steps never done twice in a recording."""

    @staticmethod
    def learn(orders: Sequence[Sequence[int]]) -> Rules:
        """The rules of recordings whose turns at steps came in these orders."""
        steps = {step for order in orders for step in order}
        pairs = {pair for pair in permutations(sorted(steps), 2) if _held(orders, pair)}
        return Rules(
            frozenset(pairs),
            frozenset(step for step in steps if all(step in order for order in orders)),
            frozenset(step for step in steps if all(order.count(step) < 2 for order in map(list, orders))),
        )

    def successors(self, step: int) -> frozenset[int]:
        """The steps that wait for this one."""
        return frozenset(then for first, then in self.before if first == step)

    def broken(self, order: Sequence[int]) -> frozenset[Pair]:
        """The pairs that an order has the wrong way round.

        >>> Rules.learn([(1, 2, 3), (1, 2, 3)]).broken((2, 1, 3))
        frozenset({(1, 2)})
        """
        return frozenset(pair for pair in self.before if _holds(order, pair) and not _keeps(order, pair))


@dataclass(frozen=True, slots=True)
class Variant:
    """Pieces of a recording in a new order, and the one fault in it.

    `known` is the place in the order whose step gives the fault away; None where only the end does, or nothing.
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


def _held(orders: Sequence[Sequence[int]], pair: Pair) -> bool:
    both = [order for order in orders if _holds(order, pair)]
    return len(both) >= FEWEST and all(_keeps(order, pair) for order in both)


def _holds(order: Sequence[int], pair: Pair) -> bool:
    return pair[0] in order and pair[1] in order


def _keeps(order: Sequence[int], pair: Pair) -> bool:
    last = len(order) - 1 - list(reversed(order)).index(pair[0])
    return last < list(order).index(pair[1])
