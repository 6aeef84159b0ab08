"""How right labels are where something is done: frames of background are not asked about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from guide.domain import BACKGROUND, Labels


class StepFrames(NamedTuple):
    """Shares in [0, 1], on the frames that truly show a step."""

    accuracy: float
    macro_f1: float


def step_frames(truth: Labels, found: Labels) -> StepFrames:
    """Accuracy, and F1 averaged over the steps that are truly done, of labels (T,) on the frames of steps.

    >>> step_frames(np.array([0, 1, 1, 2, 2]), np.array([2, 1, 1, 1, 2]))
    StepFrames(accuracy=0.75, macro_f1=0.7333333333333334)
    """
    if truth.shape != found.shape:
        raise ValueError(f"{truth.shape} true labels came with {found.shape} found ones")
    asked = truth > BACKGROUND
    truth, found = truth[asked], found[asked]
    if not len(truth):
        return StepFrames(np.nan, np.nan)
    scores = [
        2 * np.sum((truth == step) & (found == step)) / (np.sum(truth == step) + np.sum(found == step))
        for step in np.unique(truth)
    ]
    return StepFrames(float(np.mean(truth == found)), float(np.mean(scores)))
