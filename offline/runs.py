"""The folder of a training run, in which one process at a time may work."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guide.errors import InputError

LOCK = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Within it the run in `folder` is ours; raises InputError where another process is at work on it.

    The system frees the lock when the process dies, however it dies.

    >>> import tempfile
    >>> with locked(Path(tempfile.mkdtemp())):
    ...     pass
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as cause:
            raise InputError(
                f"another process is learning from these recordings with these settings at the moment ({folder}): "
                "wait until it has ended, then give the command again; what it made is used."
            ) from cause
        yield
