"""Soft-DTW: the smoothed cost of the best monotone alignment of two sequences."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

FORBIDDEN = 1e8
"""The value of cells outside the table: far above any real cost, and finite, because inf - inf has no gradient."""


def soft_dtw(costs: Tensor, gamma: float) -> Tensor:
    """Give the soft-DTW value (P,) of cost tables (P, N, M); gamma > 0 is how soft the minimum is.

    R[i, j] = cost[i, j] + softmin(R[i-1, j-1], R[i-1, j], R[i, j-1]). Cells of one anti-diagonal do not depend on each
    other, so a whole diagonal of all tables is one operation and N + M - 1 of them follow one another.
    """
    count, rows, columns = costs.shape
    skewed, is_inside = _by_diagonal(costs)
    outside = costs.new_full((count, rows), FORBIDDEN)
    before, last = outside, outside
    for diagonal in range(rows + columns - 1):
        best = _softmin(_down(before, is_start=diagonal == 0), _down(last), last, gamma)
        value = torch.where(is_inside[diagonal], skewed[:, diagonal] + best, outside)
        before, last = last, value
    return last[:, -1]


def _by_diagonal(costs: Tensor) -> tuple[Tensor, Tensor]:
    """Give costs (P, N + M - 1, N), entry [d, i] being cell (i, d - i), and which entries are cells (N + M - 1, N)."""
    _, rows, columns = costs.shape
    diagonals = rows + columns - 1
    column = torch.arange(diagonals, device=costs.device)[:, None] - torch.arange(rows, device=costs.device)
    # Rows padded to N + M and read as rows of N + M - 1: each begins one cell later than the one above it.
    skewed = pad(costs, (0, rows)).flatten(1)[:, : rows * diagonals].reshape(-1, rows, diagonals)
    return skewed.transpose(1, 2), (column >= 0) & (column < columns)


def _down(values: Tensor, is_start: bool = False) -> Tensor:
    """Give the values of the row above each row; above the first lies nothing, or the 0 every path starts from."""
    above = torch.full_like(values[:, :1], 0.0 if is_start else FORBIDDEN)
    return torch.cat([above, values[:, :-1]], dim=1)


def _softmin(corner: Tensor, above: Tensor, left: Tensor, gamma: float) -> Tensor:
    return -gamma * torch.logsumexp(torch.stack([corner, above, left]) / -gamma, dim=0)
