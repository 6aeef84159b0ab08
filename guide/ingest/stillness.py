"""Has the picture frozen? A camera's noise never stands still; a picture repeated by a hung device does."""

from __future__ import annotations

from typing import Literal

import numpy as np

from guide.domain import Image

CHECK_S = 0.5  # how often a picture is looked at: freezing is a matter of seconds
GRID = 8  # every 8th pixel each way is enough, and costs a 64th
# Mean difference in grey levels. The noise of a camera gives 1 or more; a frozen picture sent anew by an encoder, less.
TOLERANCE = 0.25


class Stillness:
    """Says when a picture has stood still for `freeze_s`, and when it moves again.

    >>> still = Stillness(freeze_s=1.0)
    >>> grey, dark = np.full((16, 16, 3), 90, np.uint8), np.zeros((16, 16, 3), np.uint8)
    >>> [still.push(grey, 0.0), still.push(grey, 0.6), still.push(grey, 1.2), still.push(grey, 2.0)]
    [None, None, 'frozen', None]
    >>> still.push(dark, 2.6)
    'moving'
    """

    def __init__(self, freeze_s: float) -> None:
        self._freeze_s = freeze_s
        self._is_frozen = False
        self._reference: Image | None = None
        self._since = self._looked = 0.0

    def reset(self) -> None:
        """Forgets the picture, not that it was said to be frozen: the next one clears that."""
        self._reference = None

    def is_due(self, at: float) -> bool:
        """Whether a picture taken at `at` is one to look at."""
        return self._reference is None or at - self._looked >= CHECK_S

    def push(self, image: Image, at: float) -> Literal["frozen", "moving"] | None:
        """What changed with this picture."""
        self._looked = at
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
        """Against the first picture of the still stretch, not the last one: slow changes add up to movement."""
        if self._reference is None or self._reference.shape != sample.shape:
            return False
        return float(np.abs(sample.astype(np.int16) - self._reference).mean()) <= TOLERANCE
