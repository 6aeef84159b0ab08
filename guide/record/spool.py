"""What a session gives to a database that may be away: lines in files of this machine, shipped from there.

A session writes here what it would write to a store, and never waits for a network. A line is there as a whole or not
at all, and outlasts a power cut where the same rows in SQLite would. The files of a spool are named after the session,
which spool of it they are, a random word and the number of their first line, so that they sort in the order in which
they came. One is locked while it grows: a file that nobody holds is complete.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final, TypeAlias

from guide.errors import InputError
from guide.record.growing_file import GrowingFile, flush_folder
from guide.record.lock import SessionLock
from guide.record.private_folder import make_private_folder
from guide.record.values import TABLES, Row, SessionFacts, SessionState, is_promised

log = logging.getLogger(__name__)

FOLDER: Final = "spool"
SUFFIX: Final = ".jsonl"
SHARED: Final = "shared"
"""A file in the folder of a session: its records go to a database of many machines."""
FILE_LINES: Final = 150
"""Of one file, a minute of a session: what was shipped is deleted file by file."""
ONE_VERSION: Final = "let programs of one version only record to this folder"
_NAMES: Final = {kind: table for table, kind in TABLES.items()}

Entry: TypeAlias = list[Any]
"""A line: the name of a method of the store and its values."""


class Spool:
    """The lines of a session, to be shipped; it takes what the store takes.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Spool(folder, "20300102-030405-00ff") as spool:
    ...     spool.begin(SessionFacts("20300102-030405-00ff", started=0.0))
    ...     spool.end("20300102-030405-00ff", "finished", 9.0)
    >>> [entry[0] for path in spool_files(folder) for entry, _ in read_entries(path)]
    ['begin', 'end']
    """

    def __init__(self, data: Path, session: str) -> None:
        """Raises OSError or OutputError where the folder cannot be written."""
        self._folder = data / FOLDER
        make_private_folder(self._folder)
        if (data / session).is_dir():
            (data / session / SHARED).touch(mode=0o600)
        waiting = [path.name[len(session) + 1 :] for path in spool_files(data, session)]
        number = 1 + max((int(rest[:4]) for rest in waiting if rest[:4].isdigit()), default=-1)  # after those that wait
        self._name = f"{session}-{number:04}-{secrets.token_hex(8)}"
        self._lines = self._first = 0
        self._lock, self._file = self._open()

    def _open(self) -> tuple[SessionLock, GrowingFile]:
        """A file for the lines that come next."""
        path = self._folder / f"{self._name}-{self._lines:09}{SUFFIX}"
        aside = path.with_name(f".{path.name}")  # nobody sees it before it is locked
        lock = SessionLock(self._folder, aside.name)
        with ExitStack() as undone:
            undone.callback(lock.release)
            undone.callback(aside.unlink, missing_ok=True)
            file = GrowingFile(aside)
            undone.callback(file.close)
            aside.rename(path)
            flush_folder(self._folder)
            undone.pop_all()
        return lock, file

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self._lock.release()

    def begin(self, facts: SessionFacts) -> None:
        """A new session, open."""
        self._append("begin", astuple(facts))

    def reopen(self, session: str) -> None:
        """A session that was closed for its process goes on."""
        self._append("reopen")

    def write(self, session: str, rows: Sequence[Row], frames: int, at: float, wall: float) -> None:
        """Rows that belong together, with how far the session has come."""
        plain = [(_NAMES[type(row)], *astuple(row)) for row in rows]
        self._append("write", plain, frames, at, wall, is_flushed=is_promised(rows))

    def end(self, session: str, state: SessionState, wall: float) -> None:
        """Closes the session."""
        self._append("end", state, wall)

    def _append(self, *entry: object, is_flushed: bool = True) -> None:
        if self._lines - self._first >= FILE_LINES:
            lock, file = self._open()
            self.close()
            self._lock, self._file, self._first = lock, file, self._lines
        self._file.append(json.dumps(entry).encode() + b"\n")
        self._lines += 1
        if is_flushed:
            try:
                self._file.flush()
            except OSError as error:  # the line stands and is shipped: to write it again would tell it twice
                log.warning("the spool could not be flushed (%s): a power cut may lose its end.", error.strerror)


def spool_files(data: Path, session: str = "") -> list[Path]:
    """The files that still have to be shipped, those of a spool in their order."""
    found = (data / FOLDER).glob(f"{session}{'-' if session else ''}*{SUFFIX}")
    return sorted(path for path in found if not path.name.startswith("."))  # one that is just being made


def read_entries(path: Path, place: int = 0) -> Iterator[tuple[Entry, int]]:
    """The whole lines from a place in the file on, each with the place after it."""
    with path.open("rb") as stream:
        stream.seek(place)
        for line in stream:
            if not line.endswith(b"\n"):  # it is being written, or was when its process died
                return
            try:
                entry = json.loads(line)
            except ValueError:  # a power cut tore what was not flushed
                return
            place += len(line)
            yield entry, place


def merged(entries: Sequence[Entry]) -> list[Entry]:
    """The same lines, those that only write and follow each other as one: a database is asked less often.

    >>> merged([["begin", []], ["write", ["a"], 1, 0.0, 5.0], ["write", ["b"], 2, 0.2, 5.2], ["end", "finished", 6.0]])
    [['begin', []], ['write', ['a', 'b'], 2, 0.2, 5.2], ['end', 'finished', 6.0]]
    """
    found: list[Entry] = []
    for entry in entries:
        match found[-1:], entry:
            case [["write", list() as rows, _, _, _]], ["write", list() as more, frames, at, wall]:
                found[-1] = ["write", [*rows, *more], frames, at, wall]
            case _:
                found.append(entry)
    return found


def read_rows(plain: Sequence[Sequence[Any]]) -> list[Row]:
    """The rows of a line; raises InputError for those of another version."""
    try:
        return [TABLES[table](*values) for table, *values in plain]
    except (KeyError, TypeError, ValueError) as cause:
        raise InputError(f"a spool holds a record that this version cannot read ({cause}): {ONE_VERSION}.") from cause


def read_facts(plain: Sequence[Any]) -> SessionFacts:
    """What a session is stored under; raises InputError for that of another version."""
    try:
        return SessionFacts(*plain)
    except TypeError as cause:
        raise InputError(f"a spool holds a session that this version cannot read ({cause}): {ONE_VERSION}.") from cause
