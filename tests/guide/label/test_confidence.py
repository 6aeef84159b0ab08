"""Calibrated confidence: what it makes of known truths, and that it never turns more evidence into less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.confidence import Calibration, fit_calibration


def test_as_it_stands_it_changes_no_bit() -> None:
    assert [Calibration().of(raw) for raw in (0.0, 0.1 + 0.2, 1.0)] == [0.0, 0.1 + 0.2, 1.0]


def test_a_line_in_log_odds_worked_by_hand() -> None:
    # Odds of 0.9 are 9; a slope of one half takes their root, 3, an offset of log 2 doubles it: 6 of 7.
    assert Calibration(0.5, float(np.log(2.0))).of(0.9) == pytest.approx(6 / 7)


def test_many_witnesses_find_the_truth() -> None:
    rng, truth = np.random.default_rng(0), Calibration(0.4, -0.3)
    raw = rng.uniform(0.05, 0.95, 20_000)
    right = (rng.uniform(size=len(raw)) < [truth.of(float(one)) for one in raw]).astype(float)
    found = fit_calibration(raw, right)
    assert [found.slope, found.offset] == pytest.approx([0.4, -0.3], abs=0.05)


def test_without_witnesses_nothing_changes_and_with_one_little() -> None:
    assert fit_calibration(np.zeros(0), np.zeros(0)) == Calibration()
    one = fit_calibration(np.array([0.9]), np.array([0.0]))
    assert 0.5 < one.of(0.9) < 0.9


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=40), st.floats(0, 1), st.floats(0, 1))
def test_whatever_was_seen_more_stays_more(seen: list[tuple[float, float]], one: float, other: float) -> None:
    pairs = np.array(seen, np.float64).reshape(-1, 2)
    found = fit_calibration(pairs[:, 0], pairs[:, 1])
    low, high = sorted((one, other))
    assert 0.0 <= found.of(low) <= found.of(high) <= 1.0


@pytest.mark.parametrize(("slope", "offset"), [(0.0, 0.0), (-1.0, 0.0), (np.nan, 0.0), (1.0, np.inf)])
def test_a_calibration_that_cannot_be_is_refused(slope: float, offset: float) -> None:
    with pytest.raises(ValueError, match="rises and is finite"):
        Calibration(slope, offset)
