"""Small stills of the newest frames, from which steps and alerts take their picture."""

from __future__ import annotations

from collections import deque

import cv2

from guide.domain import Image

WIDTH_PX = 320
QUALITY = 80
MOST = 256
"""As JPEG these are 4 MB."""
KEPT_S = 50.0
"""What labels may lag behind, and so reaches no further back where frames come slowly."""


class Snapshots:
    """The newest frames as small JPEGs.

    >>> import numpy as np
    >>> snapshots = Snapshots()
    >>> for at in (0.0, 1.0, 2.0):
    ...     snapshots.push(np.zeros((48, 64, 3), np.uint8), at)
    >>> snapshots.nearest(1.2)[0]
    1.0
    """

    def __init__(self, most: int = MOST) -> None:
        self._stills: deque[tuple[float, bytes]] = deque(maxlen=most)

    def push(self, image: Image, at: float) -> None:
        while self._stills and self._stills[0][0] < at - KEPT_S:
            self._stills.popleft()
        self._stills.append((at, encode(image)))

    def nearest(self, at: float) -> tuple[float, bytes] | None:
        """The still nearest to a moment and when it was taken; none before the first frame."""
        return min(self._stills, key=lambda still: abs(still[0] - at), default=None)


def encode(image: Image, width_px: int = WIDTH_PX) -> bytes:
    """A picture as JPEG, at most `width_px` wide."""
    height, width = image.shape[:2]
    if width > width_px:
        size = (width_px, max(1, round(height * width_px / width)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    is_made, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    assert is_made, "OpenCV encodes every picture of eight bits"
    return bytes(data.tobytes())
