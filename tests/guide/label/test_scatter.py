"""Directions without a part of the recordings, from sums and from the others' rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.label.directions import wide_reduction
from guide.label.scatter import Scatters, does_pay

COMPONENTS = 12


def make_parts(seed: int = 0) -> list[list[NDArray[np.float32]]]:
    rng = np.random.default_rng(seed)
    mixing = np.linalg.qr(rng.normal(size=(160, 160)))[0] * np.arange(1, 161) ** -0.8
    parts = []
    for sizes in ((90, 60), (120,), (80, 100), (150,)):
        person = 0.3 * rng.normal(size=160)
        parts.append([((rng.normal(size=(n, 160)) + person) @ mixing.T + 5.0).astype(np.float32) for n in sizes])
    return parts


@pytest.mark.parametrize("part", range(4))
def test_sums_find_what_the_others_rows_find(part: int) -> None:
    parts = make_parts()
    others = [each for number, some in enumerate(parts) if number != part for each in some]
    found, plain = Scatters.of(parts).without(part, COMPONENTS), wide_reduction(others, COMPONENTS)
    assert found is not None
    np.testing.assert_allclose(found.mean, plain.mean, rtol=1e-12)
    assert found.directions.shape == plain.directions.shape
    # Columns are any of a span: what they see of a stranger is the same up to a turn.
    rows = parts[part][0]
    turn = np.linalg.lstsq(plain.directions, found.directions, rcond=None)[0]
    np.testing.assert_allclose(plain.rows(rows) @ turn, found.rows(rows), atol=1e-4 * np.abs(found.rows(rows)).max())
    np.testing.assert_allclose(turn.T @ turn, np.eye(len(turn)), atol=1e-4)


def test_a_feature_that_never_varies_changes_nothing() -> None:
    parts = [[np.insert(each, 7, 3.0, axis=1) for each in some] for some in make_parts()]
    found = Scatters.of(parts).without(0, COMPONENTS)
    assert found is not None
    assert np.abs(found.directions[7]).max() < 1e-6


def test_sums_cannot_tell_how_a_feature_varies_that_only_the_left_out_have() -> None:
    parts = make_parts()
    for number, some in enumerate(parts):
        for each in some:
            each[:, 7] = np.arange(len(each)) if number == 0 else 4.0
    scatters = Scatters.of(parts)
    assert scatters.without(0, COMPONENTS) is None
    assert scatters.without(1, COMPONENTS) is not None


@pytest.mark.parametrize(
    ("counts", "width", "pays"),
    [
        ([775] * 6, 2784, True),
        ([4650], 2784, False),
        ([120] * 6, 2784, False),
        ([700, 100, 100, 100], 1000, False),
        ([775] * 6, 300, False),
        ([775] * 6, 20_000, False),
    ],
    ids=["a dozen recordings", "a single one", "few rows", "few others", "narrow", "too wide for memory"],
)
def test_sums_are_taken_where_they_save_time(counts: list[int], width: int, pays: bool) -> None:
    assert does_pay(counts, width, components=200) == pays
