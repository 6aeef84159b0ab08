from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.procedure.folds import MOST_RISK
from guide.procedure.orders import Orders, kin_risk

orders = st.lists(st.lists(st.integers(1, 5), unique=True, min_size=1, max_size=5).map(tuple), min_size=1, max_size=6)


def risk_of(orders: Orders, kind: str, first: int, then: int) -> float:
    return float(getattr(orders, kind)[orders.column[first], orders.column[then]])


@pytest.mark.parametrize("kind", ["order_risk", "need_risk"])
def test_an_order_may_alarm_once_three_demonstrations_show_it(kind: str) -> None:
    risks = [risk_of(Orders(((1, 2, 3),) * count), kind, 1, 2) for count in range(1, 9)]
    assert risks == sorted(risks, reverse=True)
    assert risks[1] > MOST_RISK > risks[2]


@pytest.mark.parametrize("kind", ["order_risk", "need_risk"])
def test_an_order_is_riskier_where_its_steps_change_places_with_others(kind: str) -> None:
    fixed, loose = Orders(((1, 2, 3, 4),) * 4), Orders(((1, 2, 3, 4), (2, 3, 1, 4)) * 2)
    assert risk_of(fixed, kind, 1, 4) < risk_of(loose, kind, 2, 4) < MOST_RISK < risk_of(loose, kind, 1, 4)


def test_an_order_that_was_seen_both_ways_is_riskier() -> None:
    found = Orders(((9, 1, 2, 3, 4), (1, 9, 2, 3, 4), (1, 2, 9, 3, 4)) * 2)
    assert risk_of(found, "order_risk", 2, 3) < 0.1 < risk_of(found, "order_risk", 1, 9) < 0.5
    assert risk_of(found, "order_risk", 3, 2) > 0.5


def test_what_all_that_did_a_step_did_before_it_is_needed_whatever_else_they_did() -> None:
    found = Orders(((1, 2), (1, 2, 3), (4, 1, 2), (1, 2), (3, 4), (4, 3)))
    assert risk_of(found, "need_risk", 1, 2) < 0.05
    (lacking,) = found.lacking(2, [4], 0.05)
    assert (lacking.step, lacking.support, lacking.total, lacking.is_kin, lacking.instead) == (1, 4, 4, False, None)
    assert found.lacking(2, [1], 0.05) == []
    assert found.lacking(9, [1], 0.05) == [], "a step that nobody did"


def test_what_holds_in_one_variant_is_needed_there() -> None:
    found = Orders(((1, 2, 4, 5), (1, 2, 4, 5), (1, 2, 4, 5)) * 4 + ((3, 5),) * 12)
    surest = found.lacking(5, [1], 0.1)[0]
    assert (surest.step, surest.is_kin, surest.support, surest.total) == (4, True, 12, 12)
    assert found.lacking(5, [3], 0.1) == []


def test_an_order_is_surer_the_closer_the_steps_came() -> None:
    near, far = Orders(((1, 2, 3, 4),) * 8), Orders(((1, 3, 4, 2), (1, 4, 3, 2)) * 4)
    assert risk_of(near, "needs", 1, 2) < risk_of(far, "needs", 1, 2)
    assert risk_of(near, "needs", 1, 4) == risk_of(near, "needs", 3, 4), "by the chain between them"


def test_either_of_two_that_are_never_both_done_is_needed() -> None:
    found = Orders(((1, 3), (2, 3)) * 4)
    (lacking,) = found.lacking(3, [], 0.05)
    assert (lacking.step, lacking.instead, lacking.support, lacking.total) == (1, 2, 8, 8)
    assert found.lacking(3, [1], 0.05) == found.lacking(3, [2], 0.05) == []
    assert Orders(((1, 3), (2, 3)) * 4 + ((3,),)).lacking(3, [], 0.05) == []


def test_kin_are_those_that_did_all_that_was_done() -> None:
    found = Orders(((1, 2), (1, 2, 3), (3, 1)))
    assert found.kin(3, [1]) == (3, 2)
    assert found.kin(3, [1, 2]) == (2, 1)
    assert found.kin(2, [3, 1]) == (2, 1)
    assert kin_risk(10, 0) < 0.05 < kin_risk(10, 1)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(orders, st.integers(1, 5), st.sets(st.integers(1, 5)))
def test_counts_are_those_of_brute_force(demonstrations: list[tuple[int, ...]], step: int, done: set[int]) -> None:
    found = Orders(tuple(demonstrations))
    for one in found.lacking(step, done):
        those = [order[: order.index(step)] for order in demonstrations if step in order]
        if one.is_kin:
            those = [
                order[: order.index(step)] for order in demonstrations if {step, *done & {*found.steps}} <= {*order}
            ]
        ways = {one.step, one.instead}
        assert one.total == len(those)
        assert one.support == sum(bool(ways & set(before)) for before in those)
        assert one.step not in done
        assert one.step != step
        assert 0 < one.risk <= 1


@settings(derandomize=True, deadline=None, max_examples=50)
@given(orders)
def test_risks_are_chances_and_never_sure_of_both_directions(demonstrations: list[tuple[int, ...]]) -> None:
    found = Orders(tuple(demonstrations))
    for first, then in permutations(found.steps, 2):
        there, back = (risk_of(found, "order_risk", *pair) for pair in ((first, then), (then, first)))
        assert 0 <= there <= 1
        assert max(there, back) >= 0.35
        assert 0 < risk_of(found, "need_risk", first, then) <= 1


@settings(derandomize=True, deadline=None, max_examples=50)
@given(orders)
def test_needs_go_in_chains(demonstrations: list[tuple[int, ...]]) -> None:
    """What a step needs is needed by all that needs the step, as surely as the weaker of the two."""
    found = Orders(tuple(demonstrations))
    for first, link, then in permutations(found.steps, 3):
        weaker = max(risk_of(found, "needs", first, link), risk_of(found, "needs", link, then))
        assert risk_of(found, "needs", first, then) <= weaker


def test_no_step_needs_itself_where_orders_go_round() -> None:
    """Each begins with another step and all go on in the same way: most needed the one before each step."""
    rounds = tuple(tuple((start + place) % 12 + 1 for place in range(12)) for start in range(12))
    found = Orders(rounds)
    assert risk_of(found, "needs", 1, 2) < 0.1
    assert {risk_of(found, "needs", step, step) for step in found.steps} == {1.0}
