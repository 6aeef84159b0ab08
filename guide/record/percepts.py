"""The percepts of a session in a file: the exact embedding of every processed frame.

A replay must give the same alerts. Video cannot do that: it is lossy, and the networks on another machine round
otherwise. So what recognition rests on is stored as it was used, in float32: the embedding of every processed frame
(under 1 kB, 15 MB an hour at 5 frames a second). From there on the loop is plain arithmetic on the processor. The video
is for people.

The file only grows: a head, then records of one size, each with a checksum. Whatever a killed process or a full disk
leaves half written at the end is passed over.
"""

from __future__ import annotations

import io
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from guide.errors import InputError
from guide.record.growing_file import GrowingFile
from guide.record.values import StoredPercept

PERCEPTS_FILE: Final = "seen.bin"
_MAGIC: Final = b"CNCSEEN2"
_HEAD: Final = struct.Struct("<8sI")  # magic, width of the embedding
_FRONT: Final = struct.Struct("<QdI")  # number, at, checksum of the rest
WIDEST: Final = 1_000_000


class PerceptWriter:
    """Appends percepts; a write that fails leaves the file as it was and may be tried again.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / PERCEPTS_FILE
    >>> with PerceptWriter(path) as writer:
    ...     writer.append([StoredPercept(0, 0.5, np.ones(4, np.float32))])
    >>> [(one.number, one.at, one.embedding.tolist()) for one in read_percepts(path)]
    [(0, 0.5, [1.0, 1.0, 1.0, 1.0])]
    """

    def __init__(self, path: Path, frames: int = 0) -> None:
        """Goes on with a file that holds so many frames or more; those beyond are dropped."""
        kept = [one for one in read_percepts(path) if one.number < frames] if frames else []
        self._width = len(kept[0].embedding) if kept else None
        size = _HEAD.size + len(kept) * (_FRONT.size + 4 * (self._width or 0)) if kept else 0
        self._file = GrowingFile(path, size)

    def __enter__(self) -> PerceptWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def append(self, percepts: Sequence[StoredPercept]) -> None:
        """Adds records; raises OSError where the disk refuses."""
        if not percepts:
            return
        width = len(percepts[0].embedding)
        head = b"" if self._width else _HEAD.pack(_MAGIC, width)
        self._file.append(head + b"".join(_record(one) for one in percepts))
        self._width = width

    def flush(self) -> None:
        """Comes back once all of it would outlast a power cut; raises OSError where the disk refuses."""
        self._file.flush()


def pack(percepts: Sequence[StoredPercept]) -> str:
    """Percepts as a line of text, for a database.

    >>> [one.number for one in unpack(pack([StoredPercept(7, 0.5, np.ones(4, np.float32))]))]
    [7]
    """
    head = _HEAD.pack(_MAGIC, len(percepts[0].embedding)) if percepts else b""
    return b64encode(head + b"".join(map(_record, percepts))).decode()


def unpack(text: str) -> list[StoredPercept]:
    """The percepts of such a line."""
    stream = io.BytesIO(b64decode(text))
    head = stream.read(_HEAD.size)
    return list(_records(stream.read, _width(head, Path(PERCEPTS_FILE)))) if head else []


def _record(percept: StoredPercept) -> bytes:
    numbers = percept.embedding.astype("<f4").tobytes()
    return _FRONT.pack(percept.number, percept.at, zlib.crc32(numbers)) + numbers


def read_percepts(path: Path) -> Iterator[StoredPercept]:
    """The percepts of a file up to the first incomplete record; raises InputError for any other file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD.size)
            if not head:
                return
            yield from _records(stream.read, _width(head, path))
    except OSError as cause:
        raise InputError(
            f"the percepts of this session cannot be read from {path} ({cause.strerror}): only sessions recorded with "
            "them can be replayed."
        ) from cause


def _width(head: bytes, path: Path) -> int:
    magic, width = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0)
    if magic != _MAGIC or not 0 < width <= WIDEST:
        raise InputError(
            f"{path} does not hold the percepts of a session: it is damaged, of another kind, or recorded by an older "
            "version."
        )
    return int(width)


def _records(read: Callable[[int], bytes], width: int) -> Iterator[StoredPercept]:
    while len(front := read(_FRONT.size)) == _FRONT.size:
        number, at, checksum = _FRONT.unpack(front)
        data = read(4 * width)
        if len(data) != 4 * width or zlib.crc32(data) != checksum:
            return
        yield StoredPercept(number, at, np.frombuffer(data, "<f4").astype(np.float32))
