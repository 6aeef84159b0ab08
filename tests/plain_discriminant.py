"""The discriminant of all rows at once, by the book: what sums of recordings are held against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from guide.domain import Labels
from guide.label.discriminant import Discriminant, Floats, whiten


def fit_discriminant(recordings: Sequence[Floats], labels: Sequence[Labels], shrinkage: float) -> Discriminant:
    """The discriminant of recordings' rows (T, d) with labels (T,)."""
    rows = np.concatenate(list(recordings))
    numbers, classes = np.unique(np.concatenate(list(labels)), return_inverse=True)
    centres = np.stack([rows[classes == number].mean(0) for number in range(len(numbers))])
    return Discriminant(numbers.astype(np.int64), centres, whiten(rows - centres[classes], shrinkage))
