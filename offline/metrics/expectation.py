"""What random labels score, worked out instead of drawn: the check on the random row of every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from guide.domain import BACKGROUND, Labels
from offline.metrics.matching import pool
from offline.metrics.score import NOTHING, Score, f1_of_means


def expected_random(truth: Sequence[Labels], k: int, protocol: Literal["A", "B", "D", "pooled"]) -> Score:
    """The score of labels 1..k drawn uniformly and independently for every frame, in the limit of many frames.

    Each label then holds 1/k of all frames and 1/k of every class, so a match with a class that fills a share p of
    the frames has precision p, recall 1/k and IoU (p/k) / (p + 1/k - p/k), and the largest classes are matched.
    The Hungarian match also profits from chance, so a drawn row stands above this: by two to three points of F1 with
    a few thousand frames, by one with a hundred thousand, and by more under B, where every recording has its own.
    """
    if protocol == "B":
        return f1_of_means([expected_random([labels], k, "A") for labels in truth if len(labels)])
    frames, _ = pool(truth, truth)
    classes, counts = np.unique(frames, return_counts=True)
    if protocol != "A":
        counts = counts[classes > BACKGROUND]
    if len(counts) == 0:
        return NOTHING
    p = np.sort(counts)[::-1][:k] / len(frames)
    if protocol == "pooled":
        right, wanted = float(p.sum()) / k, float(counts.sum()) / len(frames)
        return Score.of(precision=right, recall=right / wanted, iou=right / (1 + wanted - right))
    iou = (p / k) / (p + 1 / k - p / k)
    size = len(p) if protocol == "A" else max(k, len(counts))
    return Score.of(precision=float(p.sum()) / size, recall=len(p) / k / size, iou=float(iou.sum()) / size)
