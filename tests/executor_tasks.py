"""Tasks for other processes to import: they count threads, fail, die or never end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import cv2
import torch

from guide.errors import InputError


def count_threads() -> tuple[int, tuple[int, int, str | None]]:
    """The process, and how many threads each library has in it."""
    return os.getpid(), (torch.get_num_threads(), cv2.getNumThreads(), os.environ.get("OPENBLAS_NUM_THREADS"))


def fail() -> None:
    raise InputError("the recording is damaged: leave it out.")


def die_at_first(marks: Path) -> int:
    """Kills its process the first time, as a system without memory would; then says how often it was begun."""
    count = len(list(marks.iterdir()))
    (marks / str(count)).touch()
    if count == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return count + 1


def never_end(mark: Path) -> None:
    mark.touch()
    time.sleep(3600)
