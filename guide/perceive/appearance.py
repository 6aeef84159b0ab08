"""Order-free features: what is seen now and how it differs from a moment ago, never when in the course it is.

An embedding trained on time sees the usual order even when it is broken; these features are made of pooled trunk
outputs alone, over the past only, so the same picture gives the same features whatever came before the memory's reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Times


@dataclass(frozen=True, slots=True)
class AppearanceSettings:
    """How far back the features look.

    >>> AppearanceSettings().memory_s
    15.0
    """

    smoothing_s: float = 0.6
    """The present: one picture is noisy, a gesture lasts longer than this."""
    memory_s: float = 15.0
    """The past the present is compared with: long enough to hold the room, the light and the person."""


class Appearance:
    """Gives a feature vector (2P,) for each pooled trunk output (P,).

    >>> Appearance(AppearanceSettings()).push(np.array([1.0, 2.0], np.float32), at=0.0).tolist()
    [1.0, 2.0, 0.0, 0.0]
    """

    def __init__(self, settings: AppearanceSettings) -> None:
        self._present = _Fading(settings.smoothing_s)
        self._past = _Fading(settings.memory_s)

    def push(self, pooled: NDArray[np.float32], at: float) -> NDArray[np.float32]:
        present = self._present.push(pooled, at)
        past = self._past.push(pooled, at)
        return np.concatenate([present, present - past]).astype(np.float32)

    def reset(self) -> None:
        self._present.reset()
        self._past.reset()


def appearance(pooled: Features, times: Times, settings: AppearanceSettings) -> Features:
    """The features (T, 2P) of a whole recording, the same that `Appearance` gives one by one."""
    stage = Appearance(settings)
    rows = [stage.push(row, float(at)) for row, at in zip(np.asarray(pooled, np.float32), times, strict=True)]
    return np.stack(rows) if rows else np.zeros((0, 2 * pooled.shape[1]), np.float32)


class _Fading:
    """A mean over the past whose weights fade by e every `span_s` seconds, fair from the first item on."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._sum: NDArray[np.float64] = np.zeros(1)
        self._weight = 0.0
        self._at = 0.0

    def push(self, item: NDArray[np.float32], at: float) -> NDArray[np.float64]:
        keep = float(np.exp(-max(at - self._at, 0.0) / self._span_s)) if self._weight else 0.0
        self._sum = keep * self._sum + item.astype(np.float64)
        self._weight = keep * self._weight + 1.0
        self._at = at
        return np.asarray(self._sum / self._weight)

    def reset(self) -> None:
        self._weight = 0.0
