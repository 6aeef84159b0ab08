"""A disk that loses what was not flushed: writes of SQLite and of our own files are noted, then any cut can be made.

SQLite's own file methods are wrapped, in the library that Python uses. A cut keeps of every file what was flushed, and
of the writes since then any, whole, in part (in sectors) or not at all, in any order: what a disk may do. Deletions are
the file system's own and last once anything later was flushed, as journals of file systems have it.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import itertools
import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from guide.record import percepts

SECTOR = 512
_POINTER, _TEXT, _INT, _LONG = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int64
_OPEN = ctypes.CFUNCTYPE(_INT, _POINTER, _POINTER, _POINTER, _INT, ctypes.POINTER(_INT))
_DELETE = ctypes.CFUNCTYPE(_INT, _POINTER, _TEXT, _INT)
_WRITE = ctypes.CFUNCTYPE(_INT, _POINTER, _POINTER, _INT, _LONG)
_TRUNCATE = ctypes.CFUNCTYPE(_INT, _POINTER, _LONG)
_SYNC = ctypes.CFUNCTYPE(_INT, _POINTER, _INT)


class _Vfs(ctypes.Structure):
    _fields_ = [("version", _INT), ("file_size", _INT), ("longest_path", _INT), ("next", _POINTER), ("name", _TEXT),
                ("data", _POINTER), ("open", _POINTER), ("delete", _POINTER), ("others", _POINTER * 14)]  # fmt: skip


class _Methods(ctypes.Structure):
    _fields_ = [("version", _INT), ("close", _POINTER), ("read", _POINTER), ("write", _POINTER),
                ("truncate", _POINTER), ("sync", _POINTER), ("others", _POINTER * 13)]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Noted:
    """A write, a truncation, a flush or a deletion; or a promise that was made to a person by then."""

    what: Literal["write", "truncate", "sync", "delete", "promise"]
    file: str
    place: int = 0
    data: bytes = b""


@dataclass(slots=True)
class Disk:
    """All that happened to the files, in order."""

    noted: list[Noted] = field(default_factory=list)

    def promise(self, number: int) -> None:
        self.noted.append(Noted("promise", "", number))

    def cut(self, place: int, chance: random.Random, folder: Path) -> int:
        """Writes the files as a power cut after `place` events may leave them; gives the last promise made by then."""
        flushed: dict[str, bytearray] = {}
        since: dict[str, list[Noted]] = {}
        promised = -1
        for one in self.noted[:place]:
            if one.what == "promise":
                promised = one.place
            elif one.what == "sync":
                gone = [name for name, waiting in since.items() if waiting[-1].what == "delete"]
                for waiting in (each for name in {one.file, *gone} for each in since.pop(name, [])):
                    _apply(flushed, waiting)
            else:
                since.setdefault(one.file, []).append(one)
        for waiting_ones in since.values():
            for waiting in waiting_ones:
                for part in _parts(waiting, chance):
                    _apply(flushed, part)
        for name, data in flushed.items():
            target = folder / Path(name).relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(bytes(data))
        return promised

    root: Path = Path("/")


def _parts(one: Noted, chance: random.Random) -> list[Noted]:
    """What a disk may have done of it when the power went."""
    if one.what != "write":
        return [one] if chance.random() < 0.5 else []
    kind = chance.choice(("all", "none", "torn"))
    if kind != "torn":
        return [one] if kind == "all" else []
    begins = [0, *range(SECTOR - one.place % SECTOR, len(one.data), SECTOR), len(one.data)]
    pieces = [Noted("write", one.file, one.place + a, one.data[a:b]) for a, b in itertools.pairwise(begins)]
    return [piece for piece in pieces if chance.random() < 0.5]


def _apply(files: dict[str, bytearray], one: Noted) -> None:
    if one.what == "delete":
        files.pop(one.file, None)
        return
    data = files.setdefault(one.file, bytearray())
    if one.what == "truncate":
        del data[one.place :]
        return
    data.extend(bytes(max(0, one.place + len(one.data) - len(data))))
    data[one.place : one.place + len(one.data)] = one.data


@contextmanager
def noted_disk(root: Path) -> Iterator[Disk]:
    """Within it what is written below `root` by SQLite and as percepts is noted."""
    disk = Disk(root=root)
    with _noted_sqlite(disk), _noted_percepts(disk):
        yield disk


@contextmanager
def _noted_sqlite(disk: Disk) -> Iterator[None]:
    library = ctypes.CDLL(_sqlite3.__file__)
    try:
        library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        library.sqlite3_vfs_register.argtypes = [ctypes.POINTER(_Vfs), _INT]
        usual = library.sqlite3_vfs_find(None)
    except AttributeError:
        pytest.skip("this Python hides its SQLite: no file methods can be wrapped")
    names: dict[int, str] = {}
    kept: list[Any] = []  # what SQLite calls must not be collected
    ours = _Vfs.from_buffer_copy(usual.contents)
    open_file, delete_file = _OPEN(usual.contents.open), _DELETE(usual.contents.delete)

    def opened(_: int, name: int | None, file: int, flags: int, out: Any) -> int:
        code = open_file(ctypes.addressof(usual.contents), name, file, flags, out)
        place = ctypes.cast(file, ctypes.POINTER(_POINTER))
        if code == 0 and name is not None and place[0]:
            names[file] = os.fsdecode(ctypes.string_at(name))  # the name itself is passed on: SQLite looks behind it
            methods = _wrapped(_Methods.from_address(place[0]), disk, names, kept)
            kept.append(methods)
            place[0] = ctypes.addressof(methods)
        return int(code)

    def deleted(_: int, name: bytes, is_flushed: int) -> int:
        disk.noted.append(Noted("delete", os.fsdecode(name)))
        return int(delete_file(ctypes.addressof(usual.contents), name, is_flushed))

    kept += [_OPEN(opened), _DELETE(deleted)]
    ours.open, ours.delete = (ctypes.cast(one, _POINTER).value for one in kept[:2])
    ours.name = b"noted"
    library.sqlite3_vfs_register(ctypes.byref(ours), 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_register(usual, 1)
        library.sqlite3_vfs_unregister(ctypes.byref(ours))


def _wrapped(real: _Methods, disk: Disk, names: dict[int, str], kept: list[Any]) -> _Methods:
    write, truncate, sync = _WRITE(real.write), _TRUNCATE(real.truncate), _SYNC(real.sync)

    def wrote(file: int, data: int, count: int, place: int) -> int:
        disk.noted.append(Noted("write", names[file], place, ctypes.string_at(data, count)))
        return int(write(file, data, count, place))

    def truncated(file: int, place: int) -> int:
        disk.noted.append(Noted("truncate", names[file], place))
        return int(truncate(file, place))

    def flushed(file: int, flags: int) -> int:
        disk.noted.append(Noted("sync", names[file]))
        return int(sync(file, flags))

    calls = [_WRITE(wrote), _TRUNCATE(truncated), _SYNC(flushed)]
    kept += calls
    made = _Methods.from_buffer_copy(real)
    made.write, made.truncate, made.sync = (ctypes.cast(one, _POINTER).value for one in calls)
    return made


@contextmanager
def _noted_percepts(disk: Disk) -> Iterator[None]:
    """The same for our own file, which is only ever appended to."""
    real: Any = os

    class Noting:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def write(self, file: int, data: Any) -> int:
            place = real.fstat(file).st_size
            count = real.write(file, data)
            disk.noted.append(Noted("write", _name(file), place, bytes(data[:count])))
            return int(count)

        def fdatasync(self, file: int) -> None:
            disk.noted.append(Noted("sync", _name(file)))
            real.fdatasync(file)

    vars(percepts)["os"] = Noting()
    try:
        yield
    finally:
        vars(percepts)["os"] = real


def _name(file: int) -> str:
    return os.readlink(f"/proc/self/fd/{file}")


def is_sound(database: Path) -> bool:
    """Whether the database says of itself that it is whole."""
    opened = sqlite3.connect(database)
    try:
        return bool(opened.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    finally:
        opened.close()
