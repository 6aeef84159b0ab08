"""Whether confidences mean what they say: how far they lie from the share of labels that were right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guide.domain import UNSURE_BELOW
from guide.label.confidence import Calibration

BINS = 10


def expected_calibration_error(confidences: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS) -> float:
    """The mean distance between confidence and share of right labels, over bins of equal width; (N,) each.

    >>> expected_calibration_error(np.array([0.9, 0.9, 0.9, 0.9]), np.array([True, True, False, False]))
    0.4
    """
    if len(confidences) == 0:
        return float("nan")
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    gaps = np.bincount(places, confidences - right, minlength=bins)
    return float(np.abs(gaps).sum() / counts.sum())


def calibration_line(raw: NDArray[np.float64], calibrated: NDArray[np.float64], right: NDArray[np.bool_]) -> str:
    """One line for people: the error before and after, and how right labels are that are called sure and unsure.

    >>> calibration_line(np.array([0.9, 0.9]), np.array([0.6, 0.4]), np.array([True, False]))
    'calibration error 0.400 before, 0.400 after; 100 % right where sure, 0 % where unsure (50 % of 2 labels)'
    """
    is_unsure = calibrated < UNSURE_BELOW
    before, after = (expected_calibration_error(each, right) for each in (raw, calibrated))
    return (
        f"calibration error {before:.3f} before, {after:.3f} after; {_percent(right[~is_unsure])} right where sure, "
        f"{_percent(right[is_unsure])} where unsure ({100 * is_unsure.mean():.0f} % of {len(right)} labels)"
    )


def _percent(right: NDArray[np.bool_]) -> str:
    return f"{100 * right.mean():.0f} %" if len(right) else "none"


class Ledger:
    """Confidences of labels and whether they were right, gathered recording by recording.

    >>> ledger = Ledger()
    >>> ledger.add(np.array([0.9, 0.9]), Calibration(0.5), np.array([True, False]))
    >>> ledger.line()
    'calibration error 0.400 before, 0.250 after; 50 % right where sure, none where unsure (0 % of 2 labels)'
    """

    def __init__(self) -> None:
        self._raw: list[NDArray[np.float64]] = []
        self._calibrated: list[NDArray[np.float64]] = []
        self._right: list[NDArray[np.bool_]] = []

    def add(self, raw: NDArray[np.float64], calibration: Calibration, right: NDArray[np.bool_]) -> None:
        """Takes the raw confidences (T,) of a recording left out, and whether each label was right."""
        self._raw.append(raw)
        self._calibrated.append(np.array([calibration.of(float(one)) for one in raw]))
        self._right.append(right)

    def __bool__(self) -> bool:
        return bool(self._raw)

    def line(self) -> str:
        """The one line on all of them."""
        raw, calibrated = np.concatenate(self._raw), np.concatenate(self._calibrated)
        return calibration_line(raw, calibrated, np.concatenate(self._right))
