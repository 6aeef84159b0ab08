"""A mean over the past that fades, used by several packages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Fading:
    """A mean over the past whose weights fade by e every `span_s` seconds, fair from the first item on.

    >>> forever = Fading(np.inf)
    >>> [float(forever.push(np.array([x]), at=x)[0]) for x in (0.0, 1.0, 5.0)]
    [0.0, 0.5, 2.0]
    """

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._sum: NDArray[np.float64] = np.zeros(1)
        self._weight = 0.0
        self._at = 0.0

    def push(self, item: NDArray[np.floating[Any]], at: float) -> NDArray[np.float64]:
        keep = float(np.exp(-max(at - self._at, 0.0) / self._span_s)) if self._weight else 0.0
        self._sum = item + keep * self._sum
        self._weight = keep * self._weight + 1.0
        self._at = at
        return np.asarray(self._sum / self._weight)
