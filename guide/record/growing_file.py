"""A private file that only grows: what is appended is there as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


class GrowingFile:
    """Appends; a write that fails leaves the file as it was and may be tried again.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes"
    >>> file = GrowingFile(path)
    >>> file.append(b"one"); file.append(b"two"); file.close(); path.read_bytes()
    b'onetwo'
    """

    def __init__(self, path: Path, size: int = 0) -> None:
        """Goes on after the first `size` bytes of a file that is there; the first write drops the rest."""
        self._size = size
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        os.close(self._file)

    def append(self, data: bytes) -> None:
        """Raises OSError where the disk refuses."""
        if os.fstat(self._file).st_size != self._size:  # a disk that refused even to take back what it had half written
            os.ftruncate(self._file, self._size)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            with contextlib.suppress(OSError):  # it is tried again before anything else is written
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)

    def flush(self) -> None:
        """Comes back once all of it would outlast a power cut; raises OSError where the disk refuses."""
        os.fdatasync(self._file)


def flush_folder(folder: Path) -> None:
    """Comes back once the names in a folder would outlast a power cut; raises OSError where the disk refuses."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
