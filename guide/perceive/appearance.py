"""Order-free features: what is seen now and how it differs from a moment ago, never when in the course it is.

An embedding trained on time sees the usual order even when it is broken; these features are made of pooled trunk
outputs alone, over the past only, so the same picture gives the same features whatever came before the memory's reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Times
from guide.fading import Fading

SMOOTHED_STEPS = 0.08
REMEMBERED_STEPS = 2.0
ROWS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class AppearanceSettings:
    """How far back the features look.

    >>> AppearanceSettings.for_step(7.5).memory_s
    15.0
    """

    smoothing_s: float = 0.6
    """The present: one picture is noisy, a gesture lasts longer than this."""
    memory_s: float = 15.0
    """The past the present is compared with: long enough to hold the room, the light and the person."""

    @staticmethod
    def for_step(step_s: float) -> AppearanceSettings:
        """The settings for a task whose average step takes `step_s` seconds: work is slow or quick as a whole."""
        return AppearanceSettings(SMOOTHED_STEPS * step_s, REMEMBERED_STEPS * step_s)


class Appearance:
    """Gives a feature vector (2P,) for each pooled trunk output (P,).

    >>> Appearance(AppearanceSettings()).push(np.array([3.0, 4.0], np.float32), at=0.0).round(3).tolist()
    [0.6000000238418579, 0.800000011920929, 0.0, 0.0]
    """

    def __init__(self, settings: AppearanceSettings) -> None:
        self._present = Fading(settings.smoothing_s)
        self._past = Fading(settings.memory_s)

    def push(self, pooled: NDArray[np.float32], at: float) -> NDArray[np.float32]:
        # Unit length: a brighter picture makes every feature larger and means nothing.
        unit = pooled / max(float(np.linalg.norm(pooled)), 1e-12)
        present, past = self._present.push(unit, at), self._past.push(unit, at)
        return np.concatenate([present, present - past]).astype(np.float32)


class Embedder(Protocol):
    """Anything that turns such features (N, 2P) into embeddings (N, D)."""

    def embed(self, features: NDArray[np.float32]) -> NDArray[np.float32]: ...


def appearance_parts(pooled: NDArray[Any], times: Times, settings: AppearanceSettings) -> Iterator[Features]:
    """The features of a recording's pooled trunk outputs (T, P), some rows (N, 2P) at a time: it may be hours long."""
    stage = Appearance(settings)
    for start in range(0, len(pooled), ROWS_AT_ONCE):
        rows = np.asarray(pooled[start : start + ROWS_AT_ONCE], np.float32)
        some = zip(rows, times[start : start + ROWS_AT_ONCE], strict=True)
        yield np.stack([stage.push(row, float(at)) for row, at in some])


def appearance(pooled: NDArray[Any], times: Times, settings: AppearanceSettings, every: int = 1) -> Features:
    """The features (N, 2P) of every so many-th frame of a recording (T, P), the same that `Appearance` gives."""
    rows = (row for part in appearance_parts(pooled, times, settings) for row in part)
    found = list(map(np.copy, islice(rows, 0, None, every)))  # not a view, which would keep its part
    return np.stack(found) if found else np.zeros((0, 2 * pooled.shape[1]), np.float32)


def difference(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """The half (..., P) of features (..., 2P) that says how the present differs from the past."""
    return features[..., features.shape[-1] // 2 :]
