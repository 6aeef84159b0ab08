"""Detects a frozen picture: a camera's noise always changes, a picture repeated by a hung device does not."""

from __future__ import annotations

from typing import Literal

import numpy as np

from guide.domain import Image

CHECK_S = 0.5  # between two checks: freezing is a matter of seconds
GRID = 8  # every 8th pixel each way is enough, and costs a 64th
# Mean difference in grey levels. The noise of a camera gives 1 or more; a frozen picture sent anew by an encoder, less.
TOLERANCE = 0.25


class FreezeDetector:
    """Says when a picture has not changed for `freeze_s`, and when it moves again.

    >>> detector = FreezeDetector(freeze_s=1.0)
    >>> grey, dark = np.full((16, 16, 3), 90, np.uint8), np.zeros((16, 16, 3), np.uint8)
    >>> [detector.push(grey, 0.0), detector.push(grey, 0.6), detector.push(grey, 1.2), detector.push(grey, 2.0)]
    [None, None, 'frozen', None]
    >>> detector.push(dark, 2.6)
    'moving'
    """

    def __init__(self, freeze_s: float) -> None:
        self._freeze_s = freeze_s
        self._is_frozen = False
        self._reference: Image | None = None
        self._since = self._checked = 0.0

    def reset(self) -> None:
        """Forgets the picture, but not that it was frozen: the next picture clears that."""
        self._reference = None

    def is_due(self, at: float) -> bool:
        """Whether a picture taken at `at` should be checked."""
        return self._reference is None or at - self._checked >= CHECK_S

    def push(self, image: Image, at: float) -> Literal["frozen", "moving"] | None:
        """The change with this picture, if any."""
        self._checked = at
        sample = image[::GRID, ::GRID].copy()
        if not self._is_same(sample):
            was_frozen, self._is_frozen = self._is_frozen, False
            self._reference, self._since = sample, at
            return "moving" if was_frozen else None
        if self._is_frozen or at - self._since < self._freeze_s:
            return None
        self._is_frozen = True
        return "frozen"

    def _is_same(self, sample: Image) -> bool:
        """Compares with the first unchanged picture, not the last one: slow changes add up to movement."""
        if self._reference is None or self._reference.shape != sample.shape:
            return False
        return float(np.abs(sample.astype(np.int16) - self._reference).mean()) <= TOLERANCE
