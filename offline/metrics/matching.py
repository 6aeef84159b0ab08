"""Which found label stands for which true one: one Hungarian match on frame overlap, or a match that was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from guide.domain import BACKGROUND, UNKNOWN, Labels

Match: TypeAlias = dict[int, int]  # found label -> true label
Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many frames each found label shares with each true one, classes in ascending order.

    >>> overlap = Overlap.of(np.array([0, 0, 4, 4]), np.array([2, 2, 2, 3]))
    >>> overlap.shared.tolist(), overlap.found_classes.tolist(), overlap.true_classes.tolist()
    ([[2, 1], [0, 1]], [2, 3], [0, 4])
    """

    shared: Counts  # (found classes, true classes)
    found_classes: Labels
    true_classes: Labels

    @classmethod
    def of(cls, truth: Labels, found: Labels) -> Overlap:
        """Count over the frames of one pair of label arrays."""
        true_classes, true_index = np.unique(truth, return_inverse=True)
        found_classes, found_index = np.unique(found, return_inverse=True)
        cells = found_index * len(true_classes) + true_index
        counts = np.bincount(cells, minlength=len(found_classes) * len(true_classes))
        return cls(counts.reshape(len(found_classes), len(true_classes)), found_classes, true_classes)

    def pairs(self, background: bool, match: Match | None = None) -> Pairs:
        """The one-to-one pairs with the largest overlap; without `background`, key-steps only, on both sides.

        The frames of a label are all its frames, also those laid on background. A pair may share no frame at all.
        A one-to-one `match` gives the pairs instead, as far as both of a pair label any frame.
        """
        rows = np.flatnonzero(self.found_classes > BACKGROUND) if not background else np.arange(len(self.shared))
        columns = np.flatnonzero(self.true_classes > BACKGROUND) if not background else np.arange(self.shared.shape[1])
        if match is None:
            i, j = linear_sum_assignment(self.shared[np.ix_(rows, columns)], maximize=True)
        else:
            meant = np.array([match.get(int(label), UNKNOWN) for label in self.found_classes[rows]], dtype=np.int64)
            i, j = np.nonzero(meant[:, None] == self.true_classes[columns])
        r, c = rows[i], columns[j]
        return Pairs(
            match={int(f): int(t) for f, t in zip(self.found_classes[r], self.true_classes[c], strict=True)},
            shared=self.shared[r, c],
            found_frames=self.shared.sum(axis=1)[r],
            true_frames=self.shared.sum(axis=0)[c],
            found_count=len(rows),
            true_count=len(columns),
        )


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matched pairs (M,) with their frame counts, and how many classes each side had to offer.

    >>> overlap = Overlap.of(np.array([1, 1, 2, 2]), np.array([2, 2, 1, 1]))
    >>> overlap.pairs(background=False).match
    {1: 2, 2: 1}
    """

    match: Match
    shared: Counts
    found_frames: Counts
    true_frames: Counts
    found_count: int
    true_count: int

    @property
    def precision(self) -> NDArray[np.float64]:
        """(M,) the share of each found label's frames that is right; no label is without frames."""
        return np.asarray(self.shared / self.found_frames, dtype=np.float64)

    @property
    def recall(self) -> NDArray[np.float64]:
        """(M,) the share of each true class that was found."""
        return np.asarray(self.shared / self.true_frames, dtype=np.float64)

    @property
    def iou(self) -> NDArray[np.float64]:
        """(M,) frames in both over frames in either."""
        return np.asarray(self.shared / (self.found_frames + self.true_frames - self.shared), dtype=np.float64)


def match_steps(truth: Sequence[Labels], found: Sequence[Labels]) -> Match:
    """Found key-step -> true key-step over all recordings; background is never matched (protocol D)."""
    return Overlap.of(*pool(truth, found)).pairs(background=False).match


def same_numbers(found: Sequence[Labels]) -> Match:
    """Every found label stands for the true one of its own number: for labels whose numbers were given, not found.

    >>> same_numbers([np.array([3, 0]), np.array([3, 5])])
    {0: 0, 3: 3, 5: 5}
    """
    _, labels = pool(found, found)
    return {int(label): int(label) for label in np.unique(labels)}


def relabel(found: Sequence[Labels], match: Match, truth: Sequence[Labels]) -> list[Labels]:
    """The found labels in the true labels' numbers.

    A found key-step without a partner gets a number of its own above every true one: it is wrong wherever it lies.
    No step stays background, unless `match` gave true background to another label.
    """
    above = 1 + max((int(labels.max()) for labels in truth if len(labels)), default=0)
    idle = BACKGROUND if BACKGROUND not in match.values() else UNKNOWN
    return [_translate(merge_unknown(labels), match, above, idle) for labels in found]


def _translate(labels: Labels, match: Match, above: int, idle: int) -> Labels:
    classes, index = np.unique(labels, return_inverse=True)
    numbers = [match.get(int(c), above + int(c) if c > BACKGROUND else idle) for c in classes]
    return np.array(numbers, dtype=np.int64)[index]


def pool(truth: Sequence[Labels], found: Sequence[Labels]) -> tuple[Labels, Labels]:
    """All recordings' frames in a row, unknown counted as background."""
    pairs = paired(truth, found)
    empty = [np.zeros(0, dtype=np.int64)]
    return np.concatenate([t for t, _ in pairs] or empty), np.concatenate([f for _, f in pairs] or empty)


def paired(truth: Sequence[Labels], found: Sequence[Labels]) -> list[tuple[Labels, Labels]]:
    """True and found labels of each recording that has frames, unknown counted as background.

    Raises ValueError where the two sides do not hold the same recordings with the same numbers of frames.
    """
    if len(truth) != len(found):
        raise ValueError(f"every recording needs true and found labels, got {len(truth)} true and {len(found)} found")
    for number, (t, f) in enumerate(zip(truth, found, strict=True)):
        if t.ndim != 1 or t.shape != f.shape:
            raise ValueError(f"recording {number}: labels need one shape (T,), got {t.shape} true, {f.shape} found")
    return [(merge_unknown(t), merge_unknown(f)) for t, f in zip(truth, found, strict=True) if len(t)]


def merge_unknown(labels: Labels) -> Labels:
    """Unknown activity as background: neither is a step."""
    return np.maximum(labels.astype(np.int64), BACKGROUND)
