"""Properties of every fault that can be made of drawn recordings."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.study.counterfactual.faults import Rules, Variant, missed, out_of_order, repeated, shuffled, unchanged
from offline.study.counterfactual.pieces import Layout

STEPS = 6


def draw_labels(rng: np.random.Generator) -> Labels:
    """Steps 1..6 in an order in which 1 comes first and 5 before 6; 4 may be left out or come twice."""
    middle = [2, 3, *([4] * int(rng.integers(3)))]
    rng.shuffle(middle)
    order = [1, *middle, 5, 6]
    runs = [(step, int(rng.integers(2, 5))) for step in order]
    parts = [np.zeros(rng.integers(4), np.int64)]
    for step, count in runs:
        parts += [np.full(count, step, np.int64), np.zeros(rng.integers(4), np.int64)]
    return np.concatenate(parts)


def draw(seed: int) -> tuple[list[Labels], Rules]:
    rng = np.random.default_rng(seed)
    labels = [draw_labels(rng) for _ in range(4)]
    return labels, Rules.learn([Layout.of(each).steps for each in labels])


def steps_after(variant: Variant, layout: Layout) -> list[int]:
    return [layout.steps[number] for number in variant.order]


seeds = st.integers(0, 10_000)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(seeds)
def test_a_step_left_out_is_gone_and_all_else_is_there_in_its_order(seed: int) -> None:
    labels, rules = draw(seed)
    layout = Layout.of(labels[0])
    variants = missed(layout, rules)
    assert {1, 5, 6} <= {variant.step for variant in variants}
    for variant in variants:
        got = labels[0][layout.index(variant.order)]
        assert variant.step not in got
        kept = (labels[0] != variant.step) & (labels[0] > 0)
        assert got[got > 0].tolist() == labels[0][kept].tolist()
        assert rules.broken(steps_after(variant, layout)) == frozenset()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(seeds)
def test_a_step_left_out_is_known_at_the_first_step_that_waits_for_it(seed: int) -> None:
    labels, rules = draw(seed)
    layout = Layout.of(labels[0])
    for variant in missed(layout, rules):
        waiting = [p for p, step in enumerate(steps_after(variant, layout)) if (variant.step, step) in rules.before]
        assert variant.known == min(waiting, default=None)
        if variant.step == 6:
            assert variant.known is None


@settings(derandomize=True, deadline=None, max_examples=40)
@given(seeds)
def test_an_exchange_turns_one_pair_round_and_no_other(seed: int) -> None:
    labels, rules = draw(seed)
    layout = Layout.of(labels[0])
    variants = out_of_order(layout, rules)
    assert (5, 6) in {(variant.before, variant.step) for variant in variants}
    for variant in variants:
        steps = steps_after(variant, layout)
        assert variant.step is not None
        assert variant.before is not None
        assert rules.broken(steps) == {(variant.before, variant.step)}
        assert steps.index(variant.step) == variant.known
        assert steps.index(variant.step) < steps.index(variant.before)
        assert sorted(layout.index(variant.order)) == list(range(len(labels[0])))


def test_where_an_exchange_would_break_more_the_later_step_alone_moves() -> None:
    labels = np.array([1, 2, 3])
    layout, rules = Layout.of(labels), Rules(frozenset({(1, 2), (1, 3)}), frozenset({1, 2, 3}), frozenset({1, 2, 3}))
    orders = {(variant.before, variant.step): variant.order for variant in out_of_order(layout, rules)}
    assert orders == {(1, 2): (1, 0, 2), (1, 3): (2, 0, 1)}


@settings(derandomize=True, deadline=None, max_examples=40)
@given(seeds)
def test_a_repeat_adds_one_turn_later_on(seed: int) -> None:
    labels, rules = draw(seed)
    layout = Layout.of(labels[0])
    for variant in repeated(layout, rules):
        steps = steps_after(variant, layout)
        assert Counter(steps) - Counter(layout.steps) == {variant.step: 1}
        assert variant.known is not None
        assert steps[variant.known] == variant.step
        assert steps[variant.known - 1] != variant.step
        first = labels[0] == variant.step
        assert (labels[0][layout.index(variant.order)] == variant.step).sum() == 2 * first.sum()


def test_shuffled_orders_are_new_and_different() -> None:
    layout = Layout.of(np.array([1, 2, 3, 4]))
    variants = shuffled(layout, np.random.default_rng(0), 5)
    assert len({variant.order for variant in variants}) == 5
    assert unchanged(layout).order not in {variant.order for variant in variants}
    assert all(sorted(variant.order) == [0, 1, 2, 3] for variant in variants)


def test_a_single_step_cannot_be_shuffled_or_left_out() -> None:
    layout = Layout.of(np.array([1, 1]))
    assert shuffled(layout, np.random.default_rng(0), 2) == []
    assert missed(layout, Rules.learn([(1,), (1,)])) == []


def test_only_what_held_without_exception_is_a_rule() -> None:
    rules = Rules.learn([(1, 2, 3, 4), (2, 1, 3, 4), (1, 3, 2)])
    assert rules.before == {(1, 3), (1, 4), (2, 4), (3, 4)}
    assert rules.always == {1, 2, 3}
    assert rules.once == {1, 2, 3, 4}
    assert rules.successors(1) == {3, 4}


def test_a_step_that_comes_again_after_another_does_not_come_before_it() -> None:
    rules = Rules.learn([(1, 2, 1, 3), (1, 2, 3)])
    assert rules.before == {(1, 3), (2, 3)}
    assert rules.once == {2, 3}


def test_one_recording_makes_no_rule_of_order() -> None:
    assert Rules.learn([(1, 2)]).before == frozenset()
