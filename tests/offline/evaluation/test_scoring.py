"""Every figure of a small example, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from offline.evaluation.scoring import EXTRAS, expectation, score
from offline.metrics import expected_random, same_numbers

TRUTH = [np.array([0, 1, 1, 2, 2, 2, 0, 0])]
FOUND = [np.array([5, 5, 5, 7, 7, 7, 7, 7])]


def test_by_hand() -> None:
    """5 is step 1 (2 of 3 frames right, all of it found), 7 is step 2 (3 of 5 right, all found)."""
    scores = score(TRUTH, FOUND, ("D", "pooled"))
    assert scores.protocols["D"].precision == pytest.approx((2 / 3 + 3 / 5) / 2)
    assert scores.protocols["D"].recall == 1.0
    assert scores.protocols["D"].iou == pytest.approx((2 / 3 + 3 / 5) / 2)
    assert scores.protocols["pooled"].precision == pytest.approx(5 / 8)
    assert scores.extras == {
        "MoF": 5 / 8, "F1@10": 1.0, "F1@25": 1.0, "F1@50": 1.0, "edit": 1.0, "order": 1.0, "pairs": 1.0,
    }  # fmt: skip


def test_given_numbers_by_hand() -> None:
    """Step 1 lies where step 2 should, but for one frame: nothing is exchanged to make it fit."""
    found = [np.array([0, 1, 2, 1, 1, 1, 0, 0])]
    scores = score(TRUTH, found, ("A", "D"), same_numbers(found))
    assert (scores.protocols["D"].precision, scores.protocols["D"].recall) == (1 / 8, 1 / 4)
    assert scores.protocols["A"].precision == pytest.approx((1 + 1 / 4 + 0) / 3)
    assert (scores.extras["MoF"], scores.extras["order"]) == (4 / 8, 0.0)
    assert score(TRUTH, found, ("D",)).extras["MoF"] == 6 / 8 + 1 / 8


def test_every_extra_figure_is_there() -> None:
    assert set(score(TRUTH, TRUTH, ("A",)).extras) == set(EXTRAS)


def test_the_expectation_is_given_where_it_was_worked_out() -> None:
    scores = expectation(TRUTH, 3, ("A", "B", "D"))
    assert scores.protocols == {name: expected_random(TRUTH, 3, name) for name in ("A", "D")}
    assert scores.extras == {}
