"""What all labelled recordings of a task have in common: only what breaks it is a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]  # (first, then)

FEWEST = 2  # recordings that must hold both steps of a pair: one alone says nothing of what must come first


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


def _held(orders: Sequence[Sequence[int]], pair: Pair) -> bool:
    both = [order for order in orders if _holds(order, pair)]
    return len(both) >= FEWEST and all(_keeps(order, pair) for order in both)


def _holds(order: Sequence[int], pair: Pair) -> bool:
    return pair[0] in order and pair[1] in order


def _keeps(order: Sequence[int], pair: Pair) -> bool:
    last = len(order) - 1 - list(reversed(order)).index(pair[0])
    return last < list(order).index(pair[1])
