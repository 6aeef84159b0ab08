"""A stripe of colours one pixel high, as a PNG in a data address: the smallest form of a bar with many stretches."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Final

import numpy as np

from guide.domain import Labels

MOST_COLUMNS: Final = 1600
"""More than a bar is wide on most screens, in pixels."""
PALETTE: Final = 256  # colours that an indexed picture can hold
RGBA = tuple[int, int, int, int]


def columns(labels: Labels, most: int = MOST_COLUMNS) -> Labels:
    """One label for each column of the picture: the frames themselves, of more than `most` the one amid each column.

    >>> columns(np.array([1, 1, 1, 2, 2, 2]), most=2).tolist()
    [1, 2]
    """
    if len(labels) <= most:
        return labels
    return np.asarray(labels[(2 * np.arange(most) + 1) * len(labels) // (2 * most)], np.int64)


def address(labels: Labels, colours: Mapping[int, RGBA]) -> str:
    """The picture of `labels` (T,), T at least 1, as an address that a page can hold itself."""
    classes, places = np.unique(columns(labels), return_inverse=True)
    table = np.array([colours[int(label)] for label in classes], np.uint8)
    chunks = _indexed(table, places) if len(table) <= PALETTE else [(b"IDAT", _packed(table[places].tobytes()))]
    kind = 3 if len(table) <= PALETTE else 6  # indexed, or every pixel with its own colour
    head = (b"IHDR", struct.pack(">IIBBBBB", len(places), 1, 8, kind, 0, 0, 0))
    content = b"".join(_chunk(name, data) for name, data in [head, *chunks, (b"IEND", b"")])
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + content).decode("ascii")


def _indexed(table: np.ndarray[tuple[int, int], np.dtype[np.uint8]], places: Labels) -> list[tuple[bytes, bytes]]:
    return [
        (b"PLTE", table[:, :3].tobytes()),
        (b"tRNS", table[:, 3].tobytes()),
        (b"IDAT", _packed(places.astype(np.uint8).tobytes())),
    ]


def _packed(pixels: bytes) -> bytes:
    return zlib.compress(b"\x00" + pixels, 9)  # a line begins with its filter: none


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
