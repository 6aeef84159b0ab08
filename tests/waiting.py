"""Waiting in tests for what another thread or process does: never for a time, and not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(is_so: Callable[[], bool], patience_s: float = 30.0) -> None:
    """Comes back once it is so; fails where nothing comes of it."""
    deadline = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.01)
