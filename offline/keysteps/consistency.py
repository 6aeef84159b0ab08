"""How much labels are like a task that several people did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from guide.domain import Labels
from guide.teach.refine import Floats, RefineSettings, judge_each, visits_of


def sense(rows: Sequence[Floats], labels: Sequence[Labels], k: int, settings: RefineSettings) -> float:
    """How much labels 1..K, 0 for background, are like a task that several people did; 1 at most.

    The mean over the steps of three shares multiplied: how well the other recordings recognise it by its look alone
    (F1 of frames), how many that have it begin it just once, and how many have it. A step without frames counts as 0.
    """
    right, seen, said = np.zeros(k + 1), np.zeros(k + 1), np.zeros(k + 1)
    for each, judged in zip(labels, judge_each(rows, labels, settings), strict=True):
        judgement = judged.argmax(1)
        right += np.bincount(each[judgement == each], minlength=k + 1)
        seen += np.bincount(each, minlength=k + 1)
        said += np.bincount(judgement, minlength=k + 1)
    visits = np.array([visits_of(each, k + 1) for each in labels])
    once = (visits == 1).sum(0) / np.maximum((visits > 0).sum(0), 1)
    recognised = 2 * right / np.maximum(seen + said, 1)
    return float((recognised * once * (visits > 0).mean(0))[1:].mean())
