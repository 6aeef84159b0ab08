"""Directions found quickly are those of the full decomposition, and of the plain way in full precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.label.directions import (
    Floats,
    are_many,
    find_reduction,
    leading_span,
    principal_directions,
    standard,
)

COMPONENTS = 12


def make_rows(count: int = 500, width: int = 160, seed: int = 0) -> NDArray[np.float32]:
    """Rows that vary in all directions, ever less, around a mean; one feature is constant."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(count, width)) * np.arange(1, width + 1) ** -0.8
    rows = hidden @ np.linalg.qr(rng.normal(size=(width, width)))[0] + rng.normal(size=width)
    rows[:, 3] = 2.5
    return np.asarray(rows, np.float32)


def plain_reduction(rows: NDArray[np.float32], components: int) -> Floats:
    """The rows along the directions of the plain way, all of them in full precision at once."""
    exact = rows.astype(np.float64) - rows.mean(0, dtype=np.float64)
    spread = exact.std(0)
    exact /= np.where(spread > 1e-9, spread, 1.0)
    return np.asarray(exact @ principal_directions(exact, components))


def products(rows: Floats) -> Floats:
    """What does not depend on the signs of directions."""
    return np.asarray(rows @ rows.T)


def test_many_features_have_the_directions_of_the_full_decomposition() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 6)) * [9, 7, 5, 4, 3, 2]
    rows = hidden @ rng.normal(size=(6, 200)) + 0.01 * rng.normal(size=(300, 200))
    directions = principal_directions(rows, 6)
    exact = np.linalg.svd(rows, full_matrices=False)[2][:6]
    assert directions.shape == (200, 6)
    assert np.allclose(np.abs(exact @ directions), np.eye(6), atol=1e-6)


@pytest.mark.parametrize(("count", "width"), [(500, 160), (60, 160), (500, 90)], ids=["many", "few rows", "narrow"])
def test_the_quick_way_finds_what_the_plain_way_finds(count: int, width: int) -> None:
    rows = make_rows(count, width)
    assert are_many(count, width, COMPONENTS) == (min(count, width) == 160)
    mean, directions, _ = find_reduction([rows[:200], rows[200:]], COMPONENTS)
    found = (rows - mean) @ directions
    plain = plain_reduction(rows, COMPONENTS)
    assert found.shape == plain.shape
    np.testing.assert_allclose(products(found), products(plain), atol=1e-5 * np.abs(plain).max() ** 2)


def test_mean_and_scale_are_those_of_all_rows_together() -> None:
    rows = make_rows() + np.float32(1e3)
    mean, scale = standard([rows[:100], rows[100:]])
    np.testing.assert_allclose(mean, rows.mean(0, dtype=np.float64), rtol=1e-12)
    spread = rows.std(0, dtype=np.float64)
    np.testing.assert_allclose(scale, np.where(spread > 1e-9, 1 / np.maximum(spread, 1e-9), 1.0), rtol=1e-9)


@pytest.mark.parametrize("rank", [0, 3, 200])
def test_a_span_is_orthonormal_whatever_the_rank(rank: int) -> None:
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(300, rank)) @ rng.normal(size=(rank, 200))).astype(np.float32)
    span = leading_span(lambda columns: rows.T @ (rows @ columns), 200, 5)
    np.testing.assert_allclose(span.T @ span, np.eye(span.shape[1]), atol=1e-6)
