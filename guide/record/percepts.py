"""The percepts of a session in a file: the exact features and embeddings of every processed frame.

A replay must give the same alerts. Video cannot ensure that: it is lossy, and networks round differently on another
machine. So the input of recognition is stored as it was used, in float32: the order-free features and the embedding
of every processed frame (28 kB with the default trunk, 510 MB an hour at 5 frames a second). From there on the loop is
plain arithmetic on the processor. The video is for people.

The file only grows: a head, then records of one size, each with a checksum. Whatever a killed process or a full disk
leaves half written at the end is passed over.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from guide.errors import InputError
from guide.record.values import StoredPercept

PERCEPTS_FILE: Final = "seen.bin"
_MAGIC: Final = b"CNCSEEN1"
_HEAD: Final = struct.Struct("<8sII")  # magic, width of the features, width of the embedding
_FRONT: Final = struct.Struct("<QdI")  # number, at, checksum of the rest
WIDEST: Final = 1_000_000


class PerceptWriter:
    """Appends percepts; a write that fails leaves the file as it was and may be tried again.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / PERCEPTS_FILE
    >>> with PerceptWriter(path) as writer:
    ...     writer.append([StoredPercept(0, 0.5, np.ones(4, np.float32), np.zeros(2, np.float32))])
    >>> [(one.number, one.at, one.appearance.tolist()) for one in read_percepts(path)]
    [(0, 0.5, [1.0, 1.0, 1.0, 1.0])]
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size
        self._widths: tuple[int, int] | None = None

    def __enter__(self) -> PerceptWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._file)

    def append(self, percepts: Sequence[StoredPercept]) -> None:
        """Adds records; raises OSError where the disk refuses."""
        if not percepts:
            return
        widths = len(percepts[0].appearance), len(percepts[0].embedding)
        head = b"" if self._widths else _HEAD.pack(_MAGIC, *widths)
        self._write(head + b"".join(_record(one) for one in percepts))
        self._widths = widths

    def _write(self, data: bytes) -> None:
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


def _record(percept: StoredPercept) -> bytes:
    numbers = np.concatenate([percept.appearance, percept.embedding]).astype("<f4").tobytes()
    return _FRONT.pack(percept.number, percept.at, zlib.crc32(numbers)) + numbers


def read_percepts(path: Path) -> Iterator[StoredPercept]:
    """The percepts of a file up to the first incomplete record; raises InputError for any other file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD.size)
            if not head:
                return
            yield from _records(stream.read, *_widths(head, path))
    except OSError as cause:
        raise InputError(
            f"the percepts of this session cannot be read from {path} ({cause.strerror}): only sessions recorded with "
            "them can be replayed."
        ) from cause


def _widths(head: bytes, path: Path) -> tuple[int, int]:
    magic, features, embedding = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0, 0)
    if magic != _MAGIC or not 0 < features <= WIDEST or not 0 < embedding <= WIDEST:
        raise InputError(f"{path} does not hold the percepts of a session: it is damaged, or of another kind.")
    return features, embedding


def _records(read: Callable[[int], bytes], features: int, embedding: int) -> Iterator[StoredPercept]:
    size = 4 * (features + embedding)
    while len(front := read(_FRONT.size)) == _FRONT.size:
        number, at, checksum = _FRONT.unpack(front)
        data = read(size)
        if len(data) != size or zlib.crc32(data) != checksum:
            return
        numbers = np.frombuffer(data, "<f4").astype(np.float32)
        yield StoredPercept(number, at, numbers[:features], numbers[features:])
