"""Precision, recall, F1 and IoU as one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall, F1 and IoU as fractions; printed in percent. NaN stands for a figure nobody published.

    >>> print(Score.of(precision=0.5, recall=0.25, iou=0.2))
    P 50.0  R 25.0  F1 33.3  IoU 20.0
    """

    precision: float
    recall: float
    f1: float
    iou: float

    def __post_init__(self) -> None:
        if any(value < 0 or value > 1 for value in astuple(self)):
            raise ValueError(f"a score holds fractions between 0 and 1, got {astuple(self)}")

    @classmethod
    def of(cls, precision: float, recall: float, iou: float) -> Score:
        """The score whose F1 is the harmonic mean of `precision` and `recall`."""
        return cls(precision, recall, harmonic(precision, recall), iou)

    def __str__(self) -> str:
        names = ("P", "R", "F1", "IoU")
        return "  ".join(f"{name} {100 * value:.1f}" for name, value in zip(names, astuple(self), strict=True))


NOTHING = Score(0.0, 0.0, 0.0, 0.0)


def harmonic(a: float, b: float) -> float:
    """The harmonic mean of two fractions; 0 where both are 0."""
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def average(scores: Sequence[Score]) -> Score:
    """Each figure's mean over tasks or seeds: F1 is the mean of the F1s, not the F1 of the means."""
    if not scores:
        raise ValueError("an average needs at least one score, got none")
    columns = zip(*map(astuple, scores), strict=True)
    return Score(*(math.fsum(column) / len(scores) for column in columns))


def f1_of_means(scores: Sequence[Score]) -> Score:
    """Precision, recall and IoU averaged over recordings, F1 from the averages, as B takes it; nothing of none."""
    if not scores:
        return NOTHING
    count = len(scores)
    return Score.of(
        precision=sum(score.precision for score in scores) / count,
        recall=sum(score.recall for score in scores) / count,
        iou=sum(score.iou for score in scores) / count,
    )
