"""What follows on what: shares of all that can, and prices that stay prices where nothing usual is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.history_model import HistoryModel
from guide.label.visit_counts import VisitCounts

STEPS = (1, 2, 3, 0, -1)
BACKGROUND = np.array([3])  # the column
NOT_EARLY = np.zeros((1, len(STEPS)), bool)


def single_steps() -> HistoryModel:
    """Three steps that are done once."""
    no = np.zeros(len(STEPS), bool)
    return HistoryModel(STEPS, np.ones(len(STEPS)), 0.4, np.zeros((5, 5), bool), no, VisitCounts.once(5), weight=2.0)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_all_that_can_follow_is_certain_together_while_something_usual_can(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, prices = rng.integers(-1, 5, 6), rng.uniform(0.0, 5.0, (6, 5)) * (rng.random((6, 5)) < 0.7)
    chances = np.exp(single_steps().choices(columns, prices))
    for row, column, price in zip(chances, columns, prices, strict=True):
        others = [step for step in range(3) if step != column]
        if (price[others] == 0).any():
            assert row[others].sum() == pytest.approx(1.0)
        else:
            assert row[others].sum() <= 1.0 + 1e-9
        assert row[3:].tolist() == [1.0, 1.0]


def test_the_less_is_left_the_less_it_costs_to_do_it() -> None:
    """After a pause: the newest step may go on, and one done before it may be come back to at a price."""
    model = single_steps()
    costs = {}
    for done_before in (0, 1):
        is_back = np.array([[step < done_before for step in range(len(STEPS))]])
        costs[done_before] = -model.choices(BACKGROUND, model.prices(is_back * 1, is_back, NOT_EARLY))[0, 2]
    assert costs == {0: pytest.approx(np.log(3.0)), 1: pytest.approx(np.log(2.0 + np.exp(-4.0)))}


def test_when_all_is_done_coming_back_costs_what_it_always_did() -> None:
    model = single_steps()
    is_back = np.array([[True, True, False, False, False]])
    prices = model.prices(is_back * 1, is_back, NOT_EARLY)
    assert model.choices(np.array([2]), prices)[0].tolist() == [-4.0, -4.0, 0.0, 0.0, 0.0]
