"""The calibration error against answers worked by hand, and on confidences that are right by construction."""

from __future__ import annotations

import numpy as np
import pytest

from offline.metrics.calibration import calibration_line, expected_calibration_error


def test_two_bins_worked_by_hand() -> None:
    confidences, right = np.array([0.25, 0.25, 0.95]), np.array([True, False, False])
    # The first bin is .25 off on two of three labels, the second .95 on one of three.
    assert expected_calibration_error(confidences, right) == pytest.approx((0.25 * 2 + 0.95) / 3)


def test_certainty_falls_into_the_last_bin() -> None:
    assert expected_calibration_error(np.ones(3), np.ones(3, np.bool_)) == 0.0


def test_confidences_that_mean_what_they_say_have_next_to_no_error() -> None:
    rng = np.random.default_rng(0)
    confidences = rng.uniform(size=50_000)
    right = rng.uniform(size=len(confidences)) < confidences
    assert expected_calibration_error(confidences, right) < 0.01
    assert expected_calibration_error(confidences**0.5, right) > 0.1


def test_no_labels_have_no_error() -> None:
    assert np.isnan(expected_calibration_error(np.zeros(0), np.zeros(0, np.bool_)))


def test_the_line_says_where_labels_are_sure() -> None:
    line = calibration_line(np.full(4, 0.8), np.full(4, 0.8), np.array([True, True, True, False]))
    assert line == (
        "calibration error 0.050 before, 0.050 after; 75 % right where sure, none where unsure (0 % of 4 labels)"
    )
