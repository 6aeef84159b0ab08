from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Precedence
from guide.procedure.precedence import (
    Edge,
    close_edges,
    count_precedence,
    count_transitions,
    find_cycle,
    reduce_edges,
    strict_edges,
    without_circles,
)

edges = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda e: e[0] != e[1]), max_size=15)
acyclic = edges.map(lambda found: [(min(edge), max(edge)) for edge in found])


def test_counts_are_over_demonstrations_that_hold_both() -> None:
    found = {(one.first, one.then): (one.support, one.total) for one in count_precedence([(1, 2, 3), (1, 3), (3, 2)])}
    assert found[1, 3] == (2, 2)
    assert found[2, 3] == (1, 2)
    assert found[3, 2] == (1, 2)
    assert found[2, 1] == (0, 1)


def test_transitions_know_start_and_end() -> None:
    moves = count_transitions([(1, 2, 1), (1, 2), ()])
    assert moves == {(0, 1): 2, (1, 2): 2, (2, 1): 1, (1, 0): 1, (2, 0): 1}


def test_strict_edges_forgive_one_slip_in_twenty() -> None:
    pairs = [Precedence(1, 2, 20, 20), Precedence(2, 3, 19, 20), Precedence(3, 4, 18, 19), Precedence(4, 5, 0, 3)]
    assert strict_edges(pairs) == ((1, 2), (2, 3))


@settings(derandomize=True, deadline=None)
@given(acyclic)
def test_reduction_keeps_what_can_be_reached_and_nothing_can_be_spared(found: list[Edge]) -> None:
    reduced = reduce_edges(found)
    assert close_edges(reduced) == close_edges(found)
    for edge in reduced:
        assert close_edges(set(reduced) - {edge}) != close_edges(reduced)


@settings(derandomize=True, deadline=None)
@given(edges)
def test_circles_are_broken_at_the_last_edge(found: list[Edge]) -> None:
    kept = without_circles(found)
    assert find_cycle(kept) is None
    for edge in set(found) - set(kept):
        earlier = [one for one in found[: found.index(edge)] if one in kept]
        assert find_cycle([*earlier, edge]) is not None


@settings(derandomize=True, deadline=None)
@given(st.lists(st.permutations([1, 2, 3, 4, 5]).map(tuple), min_size=1, max_size=6))
def test_strict_edges_of_full_orders_hold_in_every_order(orders: list[tuple[int, ...]]) -> None:
    strict = set(strict_edges(count_precedence(orders)))
    assert strict == set.intersection(*(set(combinations(order, 2)) for order in orders))
