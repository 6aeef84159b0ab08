"""Pairwise order agreement by hand."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Labels
from offline.metrics.order import OrderAgreement, mean_times, order_agreement


def labels(*values: int) -> Labels:
    return np.array(values, dtype=np.int64)


SAME = {1: 1, 2: 2, 3: 3}


def test_mean_times_leave_background_out() -> None:
    assert mean_times(labels(0, 1, 2, 1, -1)) == {1: 2.0, 2: 2.0}


@pytest.mark.parametrize(
    ("truth", "found", "expected"),
    [
        (labels(1, 2, 3), labels(1, 2, 3), OrderAgreement(3, 3, 3)),
        (labels(1, 2, 3), labels(3, 2, 1), OrderAgreement(0, 3, 3)),
        (labels(1, 2, 3), labels(1, 3, 2), OrderAgreement(2, 3, 3)),
        (labels(1, 2, 3), labels(1, 0, 2), OrderAgreement(1, 1, 3)),
        (labels(1, 1, 1), labels(1, 1, 2), OrderAgreement(0, 0, 0)),
        (labels(), labels(), OrderAgreement(0, 0, 0)),
    ],
)
def test_agreement_by_hand(truth: Labels, found: Labels, expected: OrderAgreement) -> None:
    assert order_agreement([truth], [found], SAME) == expected


def test_pairs_are_pooled_and_shares_never_divide_by_zero() -> None:
    agreement = order_agreement([labels(1, 2), labels(1, 2)], [labels(1, 2), labels(2, 1)], SAME)
    assert (agreement.share, agreement.coverage) == (0.5, 1.0)
    assert (OrderAgreement(0, 0, 0).share, OrderAgreement(0, 0, 0).coverage) == (0.0, 0.0)


def test_the_match_is_made_where_none_is_given() -> None:
    assert order_agreement([labels(1, 1, 2)], [labels(8, 8, 5)]) == OrderAgreement(1, 1, 1)
