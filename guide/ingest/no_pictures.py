"""No pictures at all: a source that only lets time pass, for sessions in which an operator says what is done."""

from __future__ import annotations

import threading

import numpy as np

from guide.ingest.base import Shot
from guide.ingest.capture import CaptureSettings

EVERY_S = 0.5
NEVER_FROZEN = CaptureSettings(freeze_s=1e9)
_BLANK = np.full((180, 320, 3), 32, np.uint8)


class Timer:
    """A device that gives an empty picture twice a second, the first at once.

    >>> Timer().read().picture().shape
    (180, 320, 3)
    """

    def __init__(self) -> None:
        self._wait_s = 0.0
        self._closed = threading.Event()

    def read(self) -> Shot:
        self._closed.wait(self._wait_s)
        self._wait_s = EVERY_S
        return Shot(lambda: _BLANK)

    def close(self) -> None:
        self._closed.set()
