"""The session store: SQLite, one database for all sessions of a folder. The only home of sqlite3.

Write-ahead logging: pages read while a session writes, and a process killed in the middle of a write leaves the last
whole transaction. What the database refuses becomes an OutputError with one sentence; the caller may try again.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from guide.domain import Alert, Question, Resolution, SettledLabel, StepEvent
from guide.errors import InputError, OutputError
from guide.record.keeping import DEFAULT_DAYS
from guide.record.lock import is_alive
from guide.record.private_folder import make_private_file, make_private_folder
from guide.record.schema import COLUMNS, MIGRATIONS, NEWEST, SAID, SESSION_COLUMNS
from guide.record.values import (
    SESSION_ID,
    Contents,
    HealthSample,
    Row,
    SessionFacts,
    SessionState,
    StoredAction,
    StoredOutcome,
    StoredPicture,
    StoredSession,
)  # fmt: skip

DATABASE = "sessions.sqlite"
FOUND = "unknown: only its files were found"
LEAP_S = 86_400.0
"""A clock that goes ahead by more is not believed before it has run on for as long."""
CLOCK_S = 3_600.0
SETTLED_S = 60.0
PATIENCE_S = 0.5  # how long a write waits for another one before it is tried again later

_TABLES: dict[str, type[Any]] = {
    "labels": SettledLabel,
    "steps": StepEvent,
    "alerts": Alert,
    "resolutions": Resolution,
    "questions": Question,
    "actions": StoredAction,
    "health": HealthSample,
    "pictures": StoredPicture,
    "outcomes": StoredOutcome,
}
_TRUTHS = {"withdrawn": 2, "answer": 7}  # SQLite has no truth values: the place of such a column in its row
_FINAL = """NOT EXISTS (SELECT 1 FROM alerts AS later WHERE later.session = resolutions.session
    AND later.id = resolutions.id AND later.said > resolutions.said)"""
_STANDING = f"""(SELECT COUNT(DISTINCT id) FROM alerts WHERE session = sessions.id AND id NOT IN
    (SELECT id FROM resolutions WHERE session = sessions.id AND withdrawn AND {_FINAL}))"""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are wanted; what is left out does not matter. Times are seconds since 1970.

    >>> SessionFilter(person="shift 2").state is None
    True
    """

    person: str | None = None
    bundle: str | None = None
    """Its folder, or the name of it."""
    since: float | None = None
    until: float | None = None
    alert_kind: str | None = None
    state: SessionState | None = None


class Store:
    """The sessions of a folder.

    >>> import tempfile
    >>> with Store(Path(tempfile.mkdtemp())) as store:
    ...     store.begin(SessionFacts("20300102-030405-00ff", started=0.0, bundle="demo"))
    ...     store.write("20300102-030405-00ff", [SettledLabel(1.5, 2, 0.9)], frames=8, at=1.5, wall=1.5)
    ...     store.contents("20300102-030405-00ff").labels
    (SettledLabel(at=1.5, step=2, confidence=0.9),)
    """

    def __init__(self, folder: Path, is_new: bool = True) -> None:
        """Opens the store, makes it where `is_new` allows, and brings it to the newest version."""
        self.folder = folder
        path = folder / DATABASE
        if not is_new and not path.is_file():
            raise InputError(
                f"{folder} holds no sessions: record one with `python -m guide watch SOURCE --record --data {folder}`."
            )
        make_private_folder(folder)
        make_private_file(path)  # the folder may be older than the store, and open to everybody
        with self._explained():
            self._db = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def place(self, session: str) -> Path:
        """The folder of a session's files; raises InputError for what is no name of a session."""
        if not SESSION_ID.fullmatch(session):
            raise InputError(f"a session is named like 20300102-030405-00ff, got {session!r:.40}.")
        return self.folder / session

    def begin(self, facts: SessionFacts) -> None:
        """A new session, open."""
        with self._transaction():
            self._db.execute("DELETE FROM sessions WHERE id = ? AND source = ?", (facts.id, FOUND))
            self._insert(facts, "open")

    def _insert(self, facts: SessionFacts, state: SessionState) -> None:
        columns = ", ".join(SESSION_COLUMNS)
        marks = ", ".join("?" * len(SESSION_COLUMNS))
        self._db.execute(
            f"INSERT INTO sessions ({columns}, state, seen) VALUES ({marks}, ?, ?)",
            (*astuple(facts), state, facts.started),
        )

    def write(self, session: str, rows: Sequence[Row], frames: int, at: float, wall: float) -> None:
        """Rows of a session in one transaction, with how far it has come: all of it is stored, or nothing.

        What is more than labels outlasts a power cut once this comes back, with all that was written before it.
        """
        with self._transaction(is_flushed=is_promised(rows)):
            if self._db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is None:
                raise InputError(f"session {session} was deleted: nothing can be added to it any more.")
            said = self._count_said(session)
            for table, kind in _TABLES.items():
                columns = ("session", *COLUMNS[table], *(("said",) if table in SAID else ()))
                values = [
                    (session, *astuple(row), *((said + place,) if table in SAID else ()))
                    for place, row in enumerate(rows)
                    if type(row) is kind
                ]
                marks = ", ".join("?" * len(columns))
                self._db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)
            self._db.execute(
                "UPDATE sessions SET frames = ?, at = ?, seen = ? WHERE id = ?", (frames, at, wall, session)
            )

    def _count_said(self, session: str) -> int:
        """A number greater than that of anything said so far."""
        tables = " UNION ALL ".join(f"SELECT MAX(said) AS said FROM {table} WHERE session = ?" for table in SAID)
        newest = self._db.execute(f"SELECT MAX(said) FROM ({tables})", (session,) * len(SAID)).fetchone()[0]
        return 0 if newest is None else int(newest) + 1

    def end(self, session: str, state: SessionState, wall: float) -> None:
        """Closes a session."""
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET state = ?, ended = ? WHERE id = ? AND state = 'open'", (state, wall, session)
            )

    def close_orphans(self) -> tuple[str, ...]:
        """Closes the open sessions whose process is gone, as of when they last wrote; gives their names.

        Folders of sessions that could never be entered here, such as on a full disk, are entered now: what they hold
        is to be listed, deleted and aged like any other.
        """
        self._enter_folders()
        with self._explained():
            opened = [str(row[0]) for row in self._db.execute("SELECT id FROM sessions WHERE state = 'open'")]
        gone = tuple(session for session in opened if not is_alive(self.place(session)))
        for session in gone:
            with self._transaction():
                self._db.execute(
                    "UPDATE sessions SET state = 'interrupted', ended = seen WHERE id = ? AND state = 'open'",
                    (session,),
                )
        return gone

    def killed(self, source: str, since: float) -> StoredSession | None:
        """The newest session of a source, if its process was killed since then.

        It ended when it last wrote, as `close_orphans` has it, which a server does when it starts.
        """
        with self._explained():
            found = self._db.execute(
                "SELECT id, state = 'interrupted' AND ended = seen AND seen >= ? FROM sessions WHERE source = ? "
                "ORDER BY started DESC LIMIT 1",
                (since, source),
            ).fetchone()
        return self.find(found[0]) if found is not None and found[1] else None

    def reopen(self, session: str) -> None:
        """A session that was closed for its process goes on."""
        with self._transaction():
            self._db.execute("UPDATE sessions SET state = 'open', ended = NULL WHERE id = ?", (session,))

    def _enter_folders(self) -> None:
        known = {one.id for one in self.sessions()}
        found = [path for path in self.folder.glob("*-*-*/") if SESSION_ID.fullmatch(path.name)]
        for place in [one for one in found if one.name not in known]:
            changed = place.stat().st_mtime
            if time.time() - changed < SETTLED_S or is_alive(place):  # it is just being begun, or recorded
                continue
            with self._transaction():
                newest = self._db.execute("SELECT keep_days FROM sessions ORDER BY started DESC LIMIT 1").fetchone()
                keep_days = DEFAULT_DAYS if newest is None else newest[0]
                self._insert(SessionFacts(place.name, changed, source=FOUND, keep_days=keep_days), "interrupted")

    def trusted_time(self, now: float) -> float:
        """`now`, or an earlier time as long as the clock is ahead of what was seen and has not stayed so for a day.

        A clock that is wrong for an hour must not delete what was recorded yesterday.
        """
        with self._explained():
            found = self._db.execute("SELECT trusted, leapt FROM clock").fetchone()
            newest = self._db.execute("SELECT MAX(seen) FROM sessions").fetchone()[0]
        before, leapt = found or (now if newest is None else newest, None)
        trusted = before
        has_leapt = now - trusted > LEAP_S
        leapt = (now if leapt is None or now < leapt else leapt) if has_leapt else None
        if leapt is None or now - leapt >= LEAP_S:
            trusted, leapt = now, None
        if found is None or found[1] != leapt or abs(trusted - before) > CLOCK_S:  # a page that looks on writes rarely
            with self._transaction():
                self._db.execute("DELETE FROM clock")
                self._db.execute("INSERT INTO clock VALUES (?, ?)", (trusted, leapt))
        return float(trusted)

    def sessions(self, wanted: SessionFilter | None = None) -> tuple[StoredSession, ...]:
        """The wanted sessions, oldest first."""
        wanted = wanted or SessionFilter()
        clauses, values = _conditions(wanted)
        columns = ", ".join((*SESSION_COLUMNS, "state", "ended", "frames", "at", _STANDING))
        query = f"SELECT {columns} FROM sessions WHERE {' AND '.join(clauses)} ORDER BY started, id"
        with self._explained():
            rows = self._db.execute(query, values).fetchall()
        count = len(SESSION_COLUMNS)
        found = (StoredSession(SessionFacts(*row[:count]), *row[count:]) for row in rows)
        return tuple(one for one in found if wanted.bundle in (None, one.facts.bundle, Path(one.facts.bundle).name))

    def find(self, name: str) -> StoredSession:
        """The one session of that name, or whose name begins so; `last` is the newest."""
        found = self.sessions()
        if name == "last" and found:
            return found[-1]
        matches = [one for one in found if name and one.id.startswith(name)]
        if len(matches) != 1:
            few = "no session" if not matches else f"{len(matches)} sessions"
            begin = "begin" if matches else "begins"
            raise InputError(f"{few} in {self.folder} {begin} with {name!r:.40}: see `python -m guide sessions`.")
        return matches[0]

    def contents(self, session: str) -> Contents:
        """All rows of a session."""
        rows = {table: tuple(self._rows(table, kind, session)) for table, kind in _TABLES.items()}
        return Contents(**rows, final=tuple(self._rows("resolutions", Resolution, session, _FINAL)))

    def delete(self, session: str) -> None:
        """Deletes a session with its files; one that is still being recorded is refused."""
        place = self.place(session)
        if any(one.id == session and one.state == "open" for one in self.sessions()) and is_alive(place):
            raise InputError(f"session {session} is still being recorded: end it first.")
        try:
            shutil.rmtree(place)
        except FileNotFoundError:
            pass  # it left no files
        except OSError as cause:
            raise OutputError(f"{place} cannot be deleted ({cause.strerror}): check who owns it.") from cause
        with self._transaction():
            self._db.execute("DELETE FROM sessions WHERE id = ?", (session,))
        with self._explained():
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
            # The log of writes still holds what was deleted; where somebody reads, the next deletion empties it.
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def keep_pictures(self, days: float | None) -> None:
        """Sets for all sessions after how many days their pictures are deleted; none keeps them."""
        with self._transaction():
            self._db.execute("UPDATE sessions SET keep_days = ?", (days,))

    def forget_pictures(self, session: str) -> None:
        """Removes the mention of a session's pictures, which were deleted."""
        with self._transaction():
            self._db.execute("DELETE FROM pictures WHERE session = ?", (session,))

    def _rows(self, table: str, kind: type[Any], session: str, clause: str = "1") -> Iterator[Any]:
        query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE session = ? AND {clause} ORDER BY rowid"
        with self._explained():
            found = self._db.execute(query, (session,)).fetchall()
        truths = [place for name, place in _TRUTHS.items() if name in COLUMNS[table]]
        for row in found:
            values = list(row)
            for place in truths:
                values[place] = None if values[place] is None else bool(values[place])
            yield kind(*values)

    def _prepare(self) -> None:
        with self._explained():
            version = self._version()
        if version > NEWEST:  # before anything is written to it
            raise InputError(f"{self.folder} was written by a newer program (version {version}): update this one.")
        with self._explained():
            if version == 0:  # it is set once, and setting it again would wait for whoever writes
                self._db.execute("PRAGMA auto_vacuum = INCREMENTAL").fetchall()
            self._db.execute("PRAGMA journal_mode = WAL").fetchall()
            # Deleted rows hold people's names: they are overwritten.
            for setting in ("foreign_keys = ON", "secure_delete = ON"):
                self._db.execute(f"PRAGMA {setting}")
        if version < NEWEST:
            self._migrate()

    def _migrate(self) -> None:
        """All missing versions in one transaction; another process may have been quicker."""
        with self._transaction():
            for version in range(self._version(), NEWEST):
                for statement in MIGRATIONS[version]:
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {NEWEST}")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def _transaction(self, is_flushed: bool = True) -> Iterator[None]:
        with self._explained():
            self._db.execute(f"PRAGMA synchronous = {'FULL' if is_flushed else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk may have rolled it back already
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            raise OutputError(f"{self.folder / DATABASE} cannot be used ({cause}): {_advice(cause)}.") from cause


def is_promised(rows: Iterable[Row]) -> bool:
    """Whether any of these must outlast a power cut: all but labels, of which there are many; with samples of how a
    session fares they too are flushed every few seconds."""
    return any(not isinstance(row, SettledLabel) for row in rows)


def _conditions(wanted: SessionFilter) -> tuple[list[str], list[object]]:
    """The clauses of a query and their values."""
    choices: Iterable[tuple[str, object]] = (
        ("person = ?", wanted.person),
        ("started >= ?", wanted.since),
        ("started < ?", wanted.until),
        ("state = ?", wanted.state),
        ("id IN (SELECT session FROM alerts WHERE kind = ?)", wanted.alert_kind),
    )
    asked = [(clause, value) for clause, value in choices if value is not None]
    return ["1", *(clause for clause, _ in asked)], [value for _, value in asked]


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
