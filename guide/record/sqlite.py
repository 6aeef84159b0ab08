"""SQLite, the database of one folder of sessions. The only home of sqlite3.

Write-ahead logging: pages read while a session writes, and a process killed in the middle of a write leaves the last
whole transaction. What the database refuses becomes an OutputError with one sentence; the caller may try again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guide.errors import InputError, OutputError
from guide.record.private_folder import make_private_file, make_private_folder

DATABASE = "sessions.sqlite"
PATIENCE_S = 0.5  # how long a write waits for another one before it is tried again later


class SqliteDatabase:
    """The database in a folder.

    >>> import tempfile
    >>> database = SqliteDatabase(Path(tempfile.mkdtemp()), is_new=True)
    >>> database.rows("SELECT 1 + ?", (2,)), database.version()
    ([(3,)], 0)
    >>> database.close()
    """

    is_shared = False

    def __init__(self, folder: Path, is_new: bool) -> None:
        """Raises InputError where there is none and `is_new` forbids to make one."""
        path = folder / DATABASE
        self.name = str(path)
        if not is_new and not path.is_file():
            raise InputError(
                f"{folder} holds no sessions: record one with `python -m guide watch SOURCE --record --data {folder}`."
            )
        make_private_folder(folder)
        make_private_file(path)  # the folder may be older than the store, and open to everybody
        with self._explained():
            self._connection = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)

    def close(self) -> None:
        self._connection.close()

    def prepare(self) -> None:
        """Settings of this connection, and of a new database."""
        if self.version() == 0:  # it is set once, and setting it again would wait for whoever writes
            self.rows("PRAGMA auto_vacuum = INCREMENTAL")
        self.rows("PRAGMA journal_mode = WAL")
        # Deleted rows hold people's names: they are overwritten.
        for setting in ("foreign_keys = ON", "secure_delete = ON"):
            self.run(f"PRAGMA {setting}")

    def version(self) -> int:
        return int(self.rows("PRAGMA user_version")[0][0])

    def migrate(self, statements: Sequence[str], version: int) -> None:
        """Changes the tables; within a transaction."""
        for statement in statements:
            self.run(statement)
        self.run(f"PRAGMA user_version = {version}")

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a query gives."""
        with self._explained():
            return self._connection.execute(query, values).fetchall()

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Runs a statement; how many rows it touched."""
        with self._explained():
            return self._connection.execute(query, values).rowcount

    def run_many(self, query: str, rows: Sequence[Sequence[object]]) -> None:
        """Runs a statement for each row of values."""
        with self._explained():
            self._connection.executemany(query, rows)

    @contextmanager
    def transaction(self, is_flushed: bool = True, is_alone: bool = False) -> Iterator[None]:
        """All or nothing. Nobody else writes meanwhile, whether `is_alone` asks for it or not."""
        self.run(f"PRAGMA synchronous = {'FULL' if is_flushed else 'NORMAL'}")
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk may have rolled it back already
                self.run("ROLLBACK")
            raise

    def erase(self) -> None:
        """Leaves nothing of what was deleted in the files."""
        self.rows("PRAGMA incremental_vacuum")
        # The log of writes still holds what was deleted; where somebody reads, the next deletion empties it.
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            raise OutputError(f"{self.name} cannot be used ({cause}): {_advice(cause)}.") from cause


def is_kept(folder: Path) -> Callable[[str], bool]:
    """Whether the database in a folder, if there is one, knows a session; one that cannot be read may know them all."""
    if not (folder / DATABASE).is_file():
        return lambda session: False
    try:
        database = SqliteDatabase(folder, is_new=False)
        try:
            known = {row[0] for row in database.rows("SELECT id FROM sessions")} if database.version() else set()
        finally:
            database.close()
    except OutputError:
        return lambda session: True
    return known.__contains__


def _advice(cause: sqlite3.Error) -> str:
    """What to do about it, from the database's own code."""
    name = str(getattr(cause, "sqlite_errorname", ""))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another program holds it; it is tried again"
    if name.startswith("SQLITE_FULL"):
        return "free some space or choose another folder with --data"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
        return "check the disk and who may write there, or choose another folder with --data"
    return "it is damaged or no session store; choose another folder with --data"
