"""Do prototypes go by what they see, or by when? Frames in order and shuffled should get the same labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import Times

NEAR_S = 2.0  # after a splice: recognition looks back over a gesture, and so does its memory of a moment ago


def agreement(
    shuffled: NDArray[np.float64], unshuffled: NDArray[np.float64], is_near_splice: NDArray[np.bool_]
) -> float:
    """Share of frames whose cheapest label is the same in both; frames near a splice do not count, NaN if all are.

    Row n of `shuffled` and of `unshuffled` (N, C) are the unaries (costs, no priors) of the same frame;
    `is_near_splice` (N,).

    >>> costs = np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    >>> agreement(costs, 1 - costs, np.array([True, True, True]))
    nan
    >>> agreement(costs, costs[[0, 2, 2]], np.array([False, False, True]))
    0.5
    """
    if shuffled.shape != unshuffled.shape or is_near_splice.shape != shuffled.shape[:1]:
        raise ValueError(f"the same frames are compared, got {shuffled.shape} and {unshuffled.shape}")
    same = shuffled.argmin(axis=1) == unshuffled.argmin(axis=1)
    return float(same[~is_near_splice].mean()) if not is_near_splice.all() else float("nan")


def near_splices(
    times: Times, splices: Sequence[float], after_s: float = NEAR_S, before_s: float = 0.0
) -> NDArray[np.bool_]:
    """Which times (T,) lie at a splice or within `after_s` of one, or `before_s` ahead of it.

    >>> near_splices(np.arange(5.0), [1.5], after_s=1.0).tolist()
    [False, False, True, False, False]
    """
    near = np.zeros(len(times), dtype=np.bool_)
    for splice in splices:
        near |= (times >= splice - before_s) & (times <= splice + after_s)
    return near
