"""The same recording in another order: what a recogniser must not care about.

Features that look back carry a little of what came before, and at the start of a recording there is nothing to look
back on. A recogniser taught on one order would learn both. So it is also taught on recordings whose stretches were put
in another order before the features were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from guide.domain import BACKGROUND, Labels

LEAD_IN = -2  # the background before the first step, where it is told from the rest


def stretches(labels: Labels) -> list[NDArray[np.int64]]:
    """The frames of each stretch of one label, in order.

    >>> [part.tolist() for part in stretches(np.array([1, 1, 0, 2]))]
    [[0, 1], [2], [3]]
    """
    return [part.astype(np.int64) for part in np.split(np.arange(len(labels)), np.flatnonzero(np.diff(labels)) + 1)]


def visited(labels: Labels) -> list[int]:
    """The steps in the order of their visits.

    >>> visited(np.array([1, 1, 0, 1, 2]))
    [1, 2]
    """
    steps = [int(step) for step in labels[labels > BACKGROUND]]
    return [step for place, step in enumerate(steps) if place == 0 or step != steps[place - 1]]


def visits_a_step(labels: Sequence[Labels]) -> float:
    """How often recordings with these labels (T,) hold each of their steps, on average; 1 where they hold none.

    Where steps come back, each time takes that much less of the recording.

    >>> visits_a_step([np.array([1, 2, 1, 2]), np.array([1, 2])])
    1.5
    """
    seen = [visited(own) for own in labels]
    return sum(map(len, seen)) / max(sum(len(set(own)) for own in seen), 1) or 1.0


def with_lead_in(labels: Labels) -> Labels:
    """The same (T,) with background before the first step told from all other background: nothing has been done yet.

    The workplace is as the first step finds it, so waiting looks like that step, and whoever leaves the step out would
    seem to do it by waiting.

    >>> with_lead_in(np.array([0, 0, 1, 0])).tolist()
    [-2, -2, 1, 0]
    """
    is_step = labels > BACKGROUND
    is_before = (np.cumsum(is_step) == 0) & bool(is_step.any())
    return np.where(is_before, LEAD_IN, labels)


def turned(labels: Labels, rng: np.random.Generator) -> NDArray[np.int64]:
    """The frames (T,) with the recording cut at the start of some stretch and the two parts exchanged."""
    parts = stretches(labels)
    first = int(rng.integers(1, len(parts))) if len(parts) > 1 else 0
    return np.concatenate([*parts[first:], *parts[:first]])


def shuffled(labels: Labels, rng: np.random.Generator) -> NDArray[np.int64]:
    """The frames (T,) with the stretches in any order."""
    parts = stretches(labels)
    return np.concatenate([parts[number] for number in rng.permutation(len(parts))])


def shuffled_parts(count: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """So many frames in parts of about this length, the parts in any order: for recordings without labels.

    >>> sorted(shuffled_parts(5, 2, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3, 4]
    """
    parts = np.array_split(np.arange(count), max(count // max(length, 1), 1))
    return np.concatenate([parts[number] for number in rng.permutation(len(parts))])


def elsewhere(pooled: NDArray[Any], span: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """The features (T, P), of unit length, with the workplace as it looks around some other moment of the recording.

    What stands around tells how far the work has come: a bare table, a closed lid. Where a step is done too early or
    late, it is done before another workplace than ever before. The mean over `span` frames stands for the workplace.
    """
    unit = np.asarray(pooled, np.float32)
    unit = unit / np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    place = uniform_filter1d(unit, max(int(span), 1), axis=0, mode="nearest")
    return np.asarray(unit - place + place[int(rng.integers(len(unit)))], np.float32)
