"""A linear probe: how much of the true steps a straight line through the features can tell, given labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import UNKNOWN, Labels

# On features of unit variance a strength of 1 a frame weighs the penalty as heavily as the data. It is fixed and never
# tuned on the people it is tested on: the probe measures the world, not our skill with probes.
STRENGTH = 1.0
LEAST_SPREAD = 1e-6  # a feature that hardly varies is left at zero instead of being blown up


@dataclass(frozen=True, slots=True)
class Share:
    """Frames right as fractions: of all frames that count, and of those that are a key-step.

    >>> Share.of(np.array([0, 0, 1, 2, -1]), np.array([0, 1, 1, 1, 1]))
    Share(of_all=0.5, of_steps=0.5)
    """

    of_all: float
    of_steps: float

    @classmethod
    def of(cls, truth: Labels, found: Labels) -> Share:
        """Labels (N,) each; frames of unknown activity are left out, background is a class like any step."""
        known, steps = truth != UNKNOWN, truth > 0
        if not known.any() or not steps.any():
            raise ValueError(f"a share needs frames with a step among them, got {len(truth)} frames without")
        is_right = truth == found
        return cls(float(is_right[known].mean()), float(is_right[steps].mean()))


@dataclass(frozen=True, slots=True)
class Probe:
    """Ridge regression to one column a class, on features standardised by the demonstrations.

    >>> rows, labels = np.array([[-1.0], [-1.2], [1.0], [1.2]]), np.array([0, 0, 3, 3])
    >>> Probe.fit(rows, labels).tell(np.array([[-5.0], [0.7]]))
    array([0, 3])
    """

    classes: Labels  # (C,)
    mean: NDArray[np.float64]  # (P,)
    spread: NDArray[np.float64]  # (P,)
    weights: NDArray[np.float64]  # (P, C)
    bias: NDArray[np.float64]  # (C,)

    @classmethod
    def fit(cls, rows: NDArray[Any], labels: Labels, strength: float = STRENGTH) -> Probe:
        """The probe learnt from `rows` (N, P) and their labels (N,); unknown activity is left out."""
        known = labels != UNKNOWN
        classes, column = np.unique(labels[known], return_inverse=True)
        kept = np.asarray(rows, np.float64)[known]
        mean, spread = kept.mean(0), np.maximum(kept.std(0), LEAST_SPREAD)
        targets = np.eye(len(classes))[column]
        bias = targets.mean(0)  # standardised rows have mean zero, so the best bias is the classes' shares
        x = (kept - mean) / spread
        gram = x.T @ x + strength * len(x) * np.eye(x.shape[1])
        weights = np.linalg.solve(gram, x.T @ (targets - bias))
        return cls(classes, mean, spread, weights, bias)

    def tell(self, rows: NDArray[Any]) -> Labels:
        """The class of each row (N, P)."""
        scores = (np.asarray(rows, np.float64) - self.mean) / self.spread @ self.weights + self.bias
        told: Labels = self.classes[scores.argmax(1)]
        return told
