"""The folder of the sessions: it shows people at work, so only its owner may read what is made in it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from guide.errors import OutputError

PASSING = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What a recording waits out: it keeps what happens and writes it when it can."""


def make_folder(folder: Path) -> None:
    """Makes the folder where it is missing; raises OutputError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be made ({cause.strerror}): choose a folder you may write to.") from cause


def require_folder(folder: Path) -> None:
    """Raises OutputError where nothing could ever be recorded, for a person to hear before the work begins.

    >>> require_folder(Path("/dev/null/sessions"))
    Traceback (most recent call last):
    ...
    guide.errors.OutputError: /dev/null/sessions cannot be made (Not a directory): choose a folder you may write to.
    """
    try:
        make_folder(folder)
    except OutputError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in PASSING:
            return
        raise
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be written by this user: choose another folder with --data.")


def make_private(path: Path) -> None:
    """Makes an empty file that only its owner may read; one that is there stays as it is, and so does a refusal."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError:  # it is there, or whoever opens it next hears why it cannot be
        return
