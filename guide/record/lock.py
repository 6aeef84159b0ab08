"""Whether the process of a session or server still lives: it holds a lock that the system frees when it dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

LOCK = "lock"


class SessionLock:
    """A held lock on a session's folder. A number of a process could be given to another one; a lock cannot.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with_lock = SessionLock(folder)
    >>> is_alive(folder)
    True
    >>> with_lock.release(); is_alive(folder)
    False
    """

    def __init__(self, folder: Path, name: str = LOCK) -> None:
        """Raises OSError where the folder cannot be written, or another process holds the lock."""
        self._descriptor: int | None = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Lets go; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_alive(folder: Path, name: str = LOCK) -> bool:
    """Whether somebody holds the lock of the session in `folder`; one without a lock file was left by nobody living."""
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # we may not look: leave the session alone
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
