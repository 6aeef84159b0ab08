"""MATLAB files of version 5 to 7: tables of numbers, texts, and cells of these.

Our own reader, because a damaged file brought the usual one to a crash that no message can follow.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.errors import InputError

Value: TypeAlias = "NDArray[np.float64] | str | list[Value] | None"
"""A table (column by column as MATLAB counts), a text, cells as a list, or None for what is not read (structures)."""

HEADER_BYTES: Final = 128
LARGEST_BYTES: Final = 256 * 2**20
DEEPEST: Final = 16
NUMBERS: Final = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
TEXTS: Final = {2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
MATRIX, COMPRESSED = 14, 15
CELL, CHARACTERS = 1, 4
NUMERIC: Final = range(6, 16)


class _DamageError(Exception):
    """The bytes are not what the form promises."""


class _Element(NamedTuple):
    kind: int
    content: bytes


def read_matlab(path: Path) -> dict[str, Value]:
    """The variables of a file by name; raises InputError where it is no such file or damaged."""
    try:
        size, content = path.stat().st_size, b""
        if size <= LARGEST_BYTES:
            content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} should be a MATLAB file and cannot be read ({error.strerror}).") from error
    if size > LARGEST_BYTES:
        raise InputError(f"{path} is larger than {LARGEST_BYTES // 2**20} MB, no file of labels is: check it.")
    if content[:10] == b"MATLAB 7.3" or content[124:126] in {b"\x00\x02", b"\x02\x00"}:
        raise InputError(f"{path} is of MATLAB's newest form, which is not read: save it with -v7.")
    try:
        return _variables(content)
    except (_DamageError, struct.error, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path} should be a MATLAB file and cannot be read ({error}): fetch it again.") from error


def _variables(content: bytes) -> dict[str, Value]:
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER_BYTES])
    if order is None:
        raise _DamageError("its first bytes are another's")
    found: dict[str, Value] = {}
    for element in _elements(content[HEADER_BYTES:], order):
        for inner in _unpacked(element, order):
            if inner.kind == MATRIX:
                name, value = _matrix(inner.content, order, 0)
                found[name] = value
    return found


def _unpacked(element: _Element, order: str) -> list[_Element]:
    if element.kind != COMPRESSED:
        return [element]
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(element.content, LARGEST_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _DamageError("a compressed part is cut off or grows too large")
    return _elements(content, order)


def _elements(content: bytes, order: str) -> list[_Element]:
    """The parts of a stretch of bytes: each a kind, a length and its bytes, filled up to eight."""
    found: list[_Element] = []
    at = 0
    while at + 8 <= len(content):
        kind, length = struct.unpack_from(f"{order}II", content, at)
        if kind >> 16:  # a short part has kind and length in one word and its bytes in the next
            kind, length, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if length > 4:
                raise _DamageError("a short part is too long")
        else:
            start = at + 8
            end = start + length + (-length % 8 if kind != COMPRESSED else 0)
        if start + length > len(content):
            raise _DamageError("it is cut off")
        found.append(_Element(kind, content[start : start + length]))
        at = end
    return found


def _matrix(content: bytes, order: str, depth: int) -> tuple[str, Value]:
    if not content:
        return "", np.zeros((0, 0))
    if depth > DEEPEST:
        raise _DamageError("cells lie too deep in cells")
    parts = _elements(content, order)
    if len(parts) < 3:
        raise _DamageError("a variable lacks its size or name")
    flags, sizes, name, *data = parts
    kind = struct.unpack_from(f"{order}I", flags.content)[0] & 0xFF
    shape = tuple(int(size) for size in np.frombuffer(sizes.content, f"{order}i4", len(sizes.content) // 4))
    if any(size < 0 for size in shape):
        raise _DamageError("a variable has a negative size")
    return name.content.decode("latin-1"), _value(kind, shape, data, order, depth)


def _value(kind: int, shape: tuple[int, ...], data: list[_Element], order: str, depth: int) -> Value:
    count = math.prod(shape)
    if kind == CELL:
        if len(data) != count or any(part.kind != MATRIX for part in data):
            raise _DamageError(f"{count} cells were promised, {len(data)} parts came")
        return [_matrix(part.content, order, depth + 1)[1] for part in data]
    if kind == CHARACTERS:
        return _text(data[0], order) if data else ""
    if kind in NUMERIC:
        numbers = _numbers(data[0], order) if data else np.zeros(0)
        if len(numbers) != count:
            raise _DamageError(f"{count} numbers were promised, {len(numbers)} came")
        return numbers.reshape(shape, order="F")
    return None


def _numbers(part: _Element, order: str) -> NDArray[np.float64]:
    if part.kind not in NUMBERS:
        raise _DamageError("numbers of an unknown kind")
    stored = np.dtype(order + NUMBERS[part.kind])
    return np.frombuffer(part.content, stored, len(part.content) // stored.itemsize).astype(np.float64)


def _text(part: _Element, order: str) -> str:
    if part.kind not in TEXTS:
        raise _DamageError("a text of an unknown kind")
    encoding = TEXTS[part.kind]
    suffix = "" if encoding == "utf-8" else {"<": "-le", ">": "-be"}[order]
    return part.content.decode(encoding + suffix)
