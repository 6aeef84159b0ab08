"""Private folders and files: sessions show people at work, so only the owner may read them."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from guide.errors import OutputError

TEMPORARY_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors that a recording waits out: it buffers what happens and writes it when it can."""


RESERVED_BYTES = 8 * 2**20
"""What is left of a disk for alerts and actions; pictures and what replays need leave it alone."""


def is_nearly_full(folder: Path) -> bool:
    """Whether only what is reserved is left of the disk on which `folder` lies, or will lie.

    >>> is_nearly_full(Path("/proc/sessions"))
    True
    """
    standing = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return shutil.disk_usage(standing).free < RESERVED_BYTES


def make_private_folder(folder: Path) -> None:
    """Makes the folder if it is missing, readable by its owner only; raises OutputError where it cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be made ({cause.strerror}): choose a folder you may write to.") from cause


def require_writable_folder(folder: Path) -> None:
    """Raises OutputError, before the work begins, where nothing could ever be recorded. A full disk may pass.

    >>> require_writable_folder(Path("/dev/null/sessions"))
    Traceback (most recent call last):
    ...
    guide.errors.OutputError: /dev/null/sessions cannot be made (Not a directory): choose a folder you may write to.
    """
    try:
        make_private_folder(folder)
    except OutputError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in TEMPORARY_ERRORS:
            return
        raise
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be written by this user: choose another folder with --data.")


def make_private_file(path: Path) -> None:
    """Makes an empty file that only its owner may read; an existing file stays as it is, errors are ignored."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError:  # it exists, or the next one to open it gets the error
        return
