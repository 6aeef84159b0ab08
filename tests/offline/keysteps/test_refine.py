"""Transport against its definition and against an exact linear program; refinement repairs what was mislabelled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from offline.keysteps.refine import RefineSettings, refine, transport


def random_cost(seed: int, frames: int = 12, columns: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0, 3, (frames, columns))


@given(st.integers(0, 10_000), st.floats(0.05, 3.0), st.floats(0.1, 50.0))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_every_frame_is_given_away_once(seed: int, softness: float, share_weight: float) -> None:
    plan = transport(random_cost(seed), np.array([0.2, 0.3, 0.5]), softness, share_weight)
    assert (plan >= 0).all()
    np.testing.assert_allclose(plan.sum(1), 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_firm_shares_are_kept(seed: int) -> None:
    shares = np.array([0.25, 0.25, 0.5])
    plan = transport(random_cost(seed), shares, softness=1.0, share_weight=1e6)
    np.testing.assert_allclose(plan.mean(0), shares, atol=1e-3)


def test_without_firmness_each_frame_chooses_for_itself() -> None:
    cost = random_cost(1)
    plan = transport(cost, np.array([0.9, 0.05, 0.05]), softness=0.5, share_weight=1e-9)
    free = np.exp(-cost / 0.5)
    np.testing.assert_allclose(plan, free / free.sum(1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_hard_plan_costs_what_the_linear_program_says(seed: int) -> None:
    cost, shares = random_cost(seed), np.array([0.25, 0.25, 0.5])
    frames, columns = cost.shape
    each_frame = np.kron(np.eye(frames), np.ones(columns))
    each_column = np.kron(np.ones(frames), np.eye(columns))
    exact = linprog(
        cost.ravel(), A_eq=np.vstack([each_frame, each_column]), b_eq=np.concatenate([np.ones(frames), shares * frames])
    )
    plan = transport(cost, shares, softness=0.1, share_weight=1e5)
    assert float((plan * cost).sum()) == pytest.approx(exact.fun, rel=0.05)


def test_labels_that_are_mostly_right_are_put_right() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    rows = [np.eye(3)[truth] * 4 + rng.normal(0, 0.5, (120, 3)) for _ in range(3)]
    spoiled = [np.where(rng.random(120) < 0.25, rng.integers(0, 3, 120), truth) for _ in rows]
    better = refine(rows, spoiled, rate=2.0, step_s=20.0, settings=RefineSettings())
    for labels in better:
        assert labels.dtype == np.int64
        assert (labels == truth).mean() > 0.97


def test_a_column_that_nobody_uses_does_no_harm() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 2], 30)
    rows = [np.eye(3)[truth] * 4 + rng.normal(0, 0.5, (60, 3)) for _ in range(2)]
    for labels in refine(rows, [truth, truth], rate=2.0, step_s=15.0, settings=RefineSettings()):
        assert set(labels.tolist()) <= {0, 1, 2}
        assert np.isin(labels, [0, 2]).mean() > 0.9
