"""Soft-DTW against every path written out, the plain recursion, and finite differences."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from offline.losses.softdtw import soft_dtw


def paths(row: int, column: int) -> Iterator[list[tuple[int, int]]]:
    """Give every monotone path from (0, 0) to the cell."""
    if row == column == 0:
        yield [(0, 0)]
    for above, left in ((row - 1, column - 1), (row - 1, column), (row, column - 1)):
        if above >= 0 and left >= 0:
            for path in paths(above, left):
                yield [*path, (row, column)]


def by_all_paths(cost: Tensor, gamma: float) -> float:
    """Give -gamma log sum over paths of exp(-cost of the path / gamma): the definition."""
    totals = [sum(float(cost[cell]) for cell in path) for path in paths(cost.shape[0] - 1, cost.shape[1] - 1)]
    least = min(totals)
    return least - gamma * math.log(sum(math.exp((least - total) / gamma) for total in totals))


def costs_of(count: int, rows: int, columns: int, seed: int) -> Tensor:
    return torch.rand(count, rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.05, 0.5, 2.0]), st.integers(0, 99))
def test_equals_the_sum_over_all_paths(count: int, rows: int, columns: int, gamma: float, seed: int) -> None:
    costs = costs_of(count, rows, columns, seed)
    expected = torch.tensor([by_all_paths(cost, gamma) for cost in costs], dtype=torch.float64)
    torch.testing.assert_close(soft_dtw(costs, gamma), expected, rtol=1e-10, atol=1e-10)


def hard_dtw(cost: Tensor) -> float:
    table = torch.full((cost.shape[0] + 1, cost.shape[1] + 1), math.inf, dtype=cost.dtype)
    table[0, 0] = 0.0
    for i in range(cost.shape[0]):
        for j in range(cost.shape[1]):
            table[i + 1, j + 1] = cost[i, j] + min(table[i, j], table[i, j + 1], table[i + 1, j])
    return float(table[-1, -1])


def test_becomes_dtw_as_it_hardens() -> None:
    costs = costs_of(4, 12, 9, seed=1)
    expected = torch.tensor([hard_dtw(cost) for cost in costs], dtype=torch.float64)
    torch.testing.assert_close(soft_dtw(costs, 1e-4), expected, atol=1e-2, rtol=0)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (3, 3), (4, 2)])
def test_gradient_by_finite_differences(rows: int, columns: int) -> None:
    costs = costs_of(2, rows, columns, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda c: soft_dtw(c, 0.3), costs)


def test_gradient_is_the_expected_alignment() -> None:
    """Every path visits both corners; a cheap diagonal draws the whole alignment to itself."""
    costs = (10 * (1 - torch.eye(6, dtype=torch.float64)))[None].requires_grad_()
    torch.autograd.backward(soft_dtw(costs, 0.1).sum())
    assert costs.grad is not None
    torch.testing.assert_close(costs.grad[0], torch.eye(6, dtype=torch.float64), atol=1e-6, rtol=0)


def test_single_precision_stays_finite_for_long_sequences() -> None:
    costs = torch.rand(2, 128, 128, generator=torch.Generator().manual_seed(0)).requires_grad_()
    value = soft_dtw(costs, 0.1).sum()
    torch.autograd.backward(value)
    assert torch.isfinite(value)
    assert costs.grad is not None
    assert torch.isfinite(costs.grad).all()
