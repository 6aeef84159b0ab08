"""How sure is sure: raw confidences mapped to the share of moments that were right in left-out demonstrations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import UNKNOWN

Floats = NDArray[np.float64]

EDGE = 1e-3  # raw confidences are taken to lie this far from 0 and 1: a logarithm has no end
PRIOR_SLOPE = 0.5  # standard deviation of the slope around 1, and of the offset around 0, before anything was seen
PRIOR_OFFSET = 1.0
LEAST_SLOPE = 0.05  # more evidence never means less confidence
ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Calibration:
    """A confidence in [0, 1] for a raw one: a line in log-odds, as it stands where slope is 1 and offset 0.

    >>> Calibration().of(0.8), round(Calibration(0.5, 0.0).of(0.8), 3)
    (0.8, 0.667)
    """

    slope: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not (0 < self.slope < np.inf and -np.inf < self.offset < np.inf):
            raise ValueError(f"a calibration rises and is finite, got slope {self.slope} and offset {self.offset}")

    def of(self, raw: float) -> float:
        """The calibrated confidence."""
        if self.slope == 1.0 and self.offset == 0.0:
            return raw  # bundles of before say exactly what they said
        return float(_share(self.slope * _log_odds(np.array([raw])) + self.offset)[0])


def fit_calibration(raw: Floats, right: Floats) -> Calibration:
    """The likeliest calibration of raw confidences (N,), of which the shares (N,) in [0, 1] were right.

    Few witnesses change little: the prior holds slope and offset near those that leave everything as it is.
    """
    if len(raw) == 0:
        return Calibration()
    design = np.stack([_log_odds(raw), np.ones(len(raw))], axis=1)
    start, tightness = np.array([1.0, 0.0]), np.array([PRIOR_SLOPE, PRIOR_OFFSET]) ** -2.0
    found = start
    for _ in range(ROUNDS):
        share = _share(design @ found)
        downhill = design.T @ (right - share) - tightness * (found - start)
        bend = (design * (share * (1 - share))[:, None]).T @ design + np.diag(tightness)
        step = np.linalg.solve(bend, downhill)
        found = found + np.clip(step, -1.0, 1.0)  # far from the best, a full step may lead away
    slope, offset = max(float(found[0]), LEAST_SLOPE), float(found[1])
    return Calibration(slope, offset)


def _log_odds(raw: Floats) -> Floats:
    kept = np.clip(raw, EDGE, 1.0 - EDGE)
    return np.asarray(np.log(kept / (1.0 - kept)))


def _share(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -50.0, 50.0))))


def trusted(step: int, confidence: float, calibration: Calibration) -> float:
    """The calibrated confidence in a step; unknown activity has none in the demonstrations, so it stays as it was.

    >>> trusted(-1, 0.6, Calibration(2.0, 1.0))
    0.6
    """
    return confidence if step == UNKNOWN else calibration.of(confidence)
