"""Orders and planted faults."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from offline.demo.orders import FAULTS, FaultKind, plant, sample_order
from offline.demo.task import TASK

seeds = st.integers(0, 2**32 - 1)
REPEATABLE = {step.number for step in TASK.steps if step.is_repeatable}


@settings(derandomize=True, deadline=None)
@given(seeds)
def test_clean_orders_respect_the_task(seed: int) -> None:
    order = sample_order(np.random.default_rng(seed))
    assert TASK.violations(order) == []
    assert set(TASK.required) <= set(order)
    assert all(order.count(step) == 1 or step in REPEATABLE for step in order)
    assert all(one != other for one, other in pairwise(order))


def test_free_pairs_come_both_ways_and_optional_steps_stay_out() -> None:
    orders = [sample_order(np.random.default_rng(seed)) for seed in range(600)]
    for a, b in combinations(range(1, 10), 2):
        if (a, b) in TASK.closure or (b, a) in TASK.closure:
            continue
        both = [order for order in orders if a in order and b in order]
        share = np.mean([order.index(a) < order.index(b) for order in both])
        assert 0.12 < share < 0.88, (a, b)
    for step in TASK.steps:
        presence = np.mean([step.number in order for order in orders])
        assert presence == 1 if not step.is_optional else 0.6 < presence < 0.9
    assert 0.1 < np.mean([order.count(7) > 1 for order in orders]) < 0.5


@settings(derandomize=True, deadline=None)
@given(seeds, st.sampled_from(FAULTS))
def test_a_planted_fault_is_the_declared_one_and_no_other(seed: int, kind: FaultKind) -> None:
    rng = np.random.default_rng(seed)
    clean = sample_order(rng)
    order, fault = plant(clean, kind, rng)
    assert TASK.violations(order) == ([(fault.before, fault.step)] if kind == "out_of_order" else [])
    match kind:
        case "none":
            assert order == clean
        case "missed":
            assert fault.step in TASK.required
            assert order == tuple(step for step in clean if step != fault.step)
            later = [i for i, step in enumerate(order) if (fault.step, step) in TASK.closure]
            assert fault.index == min(later, default=None)
        case "out_of_order":
            assert sorted(order) == sorted(clean)
            assert order.index(fault.step) == fault.index
        case "repeated":
            assert fault.step not in REPEATABLE
            first, again = (place for place, step in enumerate(order) if step == fault.step)
            assert fault.index == again >= first + 2
        case "unknown":
            assert tuple(step for step in order if step > 0) == clean
            assert fault.index == order.index(-1)
