"""Which step came before which: counts over the demonstrations, and the graph they draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

from guide.domain import Precedence

Edge: TypeAlias = tuple[int, int]  # (first, then)


def count_precedence(orders: Sequence[tuple[int, ...]]) -> tuple[Precedence, ...]:
    """For each ordered pair that some demonstration holds: in how many of those that hold both it came in this order.

    >>> count_precedence([(1, 2), (2, 1), (1, 2)])
    (Precedence(first=1, then=2, support=2, total=3), Precedence(first=2, then=1, support=1, total=3))
    """
    support = Counter(pair for order in orders for pair in combinations(order, 2))
    pairs = sorted({*support, *((then, first) for first, then in support)})
    return tuple(
        Precedence(first, then, support[first, then], support[first, then] + support[then, first])
        for first, then in pairs
    )


def count_transitions(sequences: Iterable[Sequence[int]]) -> Counter[Edge]:
    """How often `then` directly followed `first`; 0 stands for the start and for the end of a recording.

    >>> count_transitions([(1, 2), (1, 2, 1)])[0, 1]
    2
    """
    return Counter(pair for steps in sequences for pair in pairwise((0, *steps, 0)) if steps)


def reduce_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges without those that follow from the others (transitive reduction of an acyclic graph).

    >>> reduce_edges([(1, 2), (2, 3), (1, 3)])
    ((1, 2), (2, 3))
    """
    kept = set(edges)
    followers: dict[int, set[int]] = {}
    for first, then in kept:
        followers.setdefault(first, set()).add(then)
    reach = {step: _reachable(followers, step) for step in followers}
    return tuple(
        sorted(
            (first, then)
            for first, then in kept
            if not any(then in reach.get(middle, ()) for middle in followers[first] - {then})
        )
    )


def close_edges(edges: Iterable[Edge]) -> frozenset[Edge]:
    """The edges and all that follows from them (transitive closure).

    >>> sorted(close_edges([(1, 2), (2, 3)]))
    [(1, 2), (1, 3), (2, 3)]
    """
    followers: dict[int, set[int]] = {}
    for first, then in edges:
        followers.setdefault(first, set()).add(then)
    return frozenset((step, then) for step in followers for then in _reachable(followers, step))


def without_circles(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges in the order given, without those that would close a circle with earlier ones.

    >>> without_circles([(1, 2), (2, 3), (3, 1)])
    ((1, 2), (2, 3))
    """
    chosen: list[Edge] = []
    after: dict[int, set[int]] = {}  # all steps that must come after each step
    for first, then in edges:
        if first == then or first in after.get(then, ()):
            continue
        chosen.append((first, then))
        if then not in after.get(first, ()):
            gained = {then, *after.get(then, ())}
            for step in [first, *(step for step, later in after.items() if first in later)]:
                after.setdefault(step, set()).update(gained)
    return tuple(chosen)


def strict_edges(precedences: Iterable[Precedence]) -> tuple[Edge, ...]:
    """The pairs that (nearly) always came in this order: one slip is forgiven for every 20 demonstrations.

    >>> strict_edges([Precedence(1, 2, 3, 3), Precedence(2, 3, 2, 3), Precedence(1, 3, 20, 21)])
    ((1, 2), (1, 3))
    """
    strict = [pair for pair in precedences if pair.support > 0 and pair.total - pair.support <= pair.total // 20]
    strict.sort(key=lambda pair: (-pair.support / pair.total, -pair.total, pair.first, pair.then))
    return without_circles((pair.first, pair.then) for pair in strict)


def find_cycle(edges: Iterable[Edge]) -> int | None:
    """A step that would have to come before itself, or None when the edges draw a partial order."""
    return next((first for first, then in sorted(close_edges(edges)) if first == then), None)


def _reachable(followers: dict[int, set[int]], start: int) -> set[int]:
    seen: set[int] = set()
    waiting = list(followers.get(start, ()))
    while waiting:
        step = waiting.pop()
        if step not in seen:
            seen.add(step)
            waiting.extend(followers.get(step, ()))
    return seen
