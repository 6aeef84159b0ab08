"""The session store: the sessions of a folder in SQLite, or those of many machines in PostgreSQL, by the same SQL.

Pictures and what replays need lie in the folder either way. What the database refuses becomes an OutputError with one
sentence; the caller may try again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guide.domain import Alert, Resolution
from guide.errors import InputError, OutputError
from guide.record.keeping import DEFAULT_DAYS
from guide.record.lock import LOCK, is_alive
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter, unpack
from guide.record.picture_address import find_pictures
from guide.record.schema import COLUMNS, MIGRATIONS, NEWEST, SAID, SESSION_COLUMNS
from guide.record.spool import FOLDER as SPOOL
from guide.record.spool import ONE_VERSION, SHARED, Entry, merged, read_facts, read_rows, spool_files
from guide.record.sqlite import SqliteDatabase, is_kept
from guide.record.values import (
    SESSION_ID,
    TABLES,
    Contents,
    Row,
    SessionFacts,
    SessionFilter,
    SessionState,
    SharedPercepts,
    StoredSession,
    is_promised,
)

if TYPE_CHECKING:
    from guide.record.postgres import PostgresDatabase

FOUND = "unknown: only its files were found"
DAY_S = 86_400.0
LEAP_S = DAY_S
"""A clock that goes ahead by more is not believed before it has run on for as long."""
DATED = 1.7e9  # the autumn of 2023: this program is younger, and clocks that say otherwise have lost the date
CLOCK_S = 3_600.0
SETTLED_S = 60.0
ALL_LINES = 2**31 - 1
"""Of a spool that counts as shipped to its end, as another machine goes on with its session."""
ABSENT_S = 86_400.0
"""A session of another machine that was not heard of for so long is closed."""

_TRUTHS = {"withdrawn": 2, "answer": 7}  # truth values are stored as numbers: the place of such a column in its row
_FINAL = """NOT EXISTS (SELECT 1 FROM alerts AS later WHERE later.session = resolutions.session
    AND later.id = resolutions.id AND later.said > resolutions.said)"""
_STANDS = f"""NOT EXISTS (SELECT 1 FROM resolutions WHERE session = alerts.session AND resolutions.id = alerts.id
    AND withdrawn = 1 AND {_FINAL})"""
_STANDING = f"(SELECT COUNT(DISTINCT id) FROM alerts WHERE session = sessions.id AND {_STANDS})"
_VERDICT = """COALESCE((SELECT verdict FROM outcomes WHERE session = sessions.id ORDER BY rowid DESC LIMIT 1), '')"""


class Store:
    """The sessions of a folder.

    >>> import tempfile
    >>> from guide.domain import SettledLabel
    >>> with Store(Path(tempfile.mkdtemp())) as store:
    ...     store.begin(SessionFacts("20300102-030405-00ff", started=0.0, bundle="demo"))
    ...     store.write("20300102-030405-00ff", [SettledLabel(1.5, 2, 0.9)], frames=8, at=1.5, wall=1.5)
    ...     store.contents("20300102-030405-00ff").labels
    (SettledLabel(at=1.5, step=2, confidence=0.9),)
    """

    def __init__(self, folder: Path, is_new: bool = True, records: str | None = None) -> None:
        """Opens the store, makes it where `is_new` allows, and brings it to the newest version.

        Records at an address are many machines': there is nothing to be made by mistake, so `is_new` does not matter.
        """
        self.folder = folder
        self._db = SqliteDatabase(folder, is_new) if records is None else _postgres(records)
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
        with self._db.transaction():
            self._begin(facts)

    def _begin(self, facts: SessionFacts) -> None:
        self._db.run("DELETE FROM sessions WHERE id = ? AND source = ?", (facts.id, FOUND))
        clocks = self._db.rows("SELECT trusted FROM clock")
        behind_s = clocks[0][0] - facts.started if clocks else 0.0
        if behind_s > LEAP_S and facts.keep_days is not None:  # a clock that lost the date would let it age at once
            facts = replace(facts, keep_days=facts.keep_days + behind_s / DAY_S)
        self._insert(facts, "open")

    def _insert(self, facts: SessionFacts, state: SessionState) -> None:
        columns = ", ".join(SESSION_COLUMNS)
        marks = ", ".join("?" * len(SESSION_COLUMNS))
        self._db.run(
            f"INSERT INTO sessions ({columns}, state, seen) VALUES ({marks}, ?, ?)",
            (*astuple(facts), state, facts.started),
        )

    def write(self, session: str, rows: Sequence[Row], frames: int, at: float, wall: float) -> None:
        """Rows of a session in one transaction, with how far it has come: all of it is stored, or nothing.

        What is more than labels outlasts a power cut once this comes back, with all that was written before it.
        """
        with self._db.transaction(is_flushed=is_promised(rows)):
            self._write(session, rows, frames, at, wall)

    def _write(self, session: str, rows: Sequence[Row], frames: int, at: float, wall: float) -> None:
        come = "UPDATE sessions SET frames = ?, at = ?, seen = ? WHERE id = ?"
        if self._db.run(come, (frames, at, wall, session)) == 0:
            raise InputError(f"session {session} was deleted: nothing can be added to it any more.")
        said = self._count_said(session) if any(isinstance(row, Alert | Resolution) for row in rows) else 0
        for table, kind in TABLES.items():
            values = [
                (session, *astuple(row), *((said + place,) if table in SAID else ()))
                for place, row in enumerate(rows)
                if type(row) is kind
            ]
            if values:
                columns = ("session", *COLUMNS[table], *(("said",) if table in SAID else ()))
                marks = ", ".join("?" * len(columns))
                self._db.run_many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)

    def _count_said(self, session: str) -> int:
        """A number greater than that of anything said so far."""
        tables = " UNION ALL ".join(f"SELECT MAX(said) AS said FROM {table} WHERE session = ?" for table in SAID)
        newest = self._db.rows(f"SELECT MAX(said) FROM ({tables}) AS newest", (session,) * len(SAID))[0][0]
        return 0 if newest is None else int(newest) + 1

    def end(self, session: str, state: SessionState, wall: float) -> None:
        """Closes a session."""
        with self._db.transaction():
            self._end(session, state, wall)

    def _end(self, session: str, state: SessionState, wall: float) -> None:
        # One that was only closed for its silence ends as its own machine says.
        is_open = "(state = 'open' OR state = 'interrupted' AND ended <= seen)"
        self._db.run(f"UPDATE sessions SET state = ?, ended = ? WHERE id = ? AND {is_open}", (state, wall, session))
        self._db.run("DELETE FROM percepts WHERE session = ?", (session,))

    def ship(self, spool: str, session: str, first: int, entries: Sequence[Entry]) -> bool:
        """Does what the lines of a spool say, from line `first` on, each once however often it is shipped.

        Gives false where the session was deleted meanwhile: then nothing of it is wanted any more.
        """
        with self._db.transaction():
            # Waits for whoever began to ship this and was not heard of again; then what came of it is known.
            shipped = self._db.rows(
                "INSERT INTO spools (name, session_id, lines) VALUES (?, ?, 0) "
                "ON CONFLICT (name) DO UPDATE SET lines = spools.lines RETURNING lines",
                (spool, session),
            )[0][0]
            if self._db.rows("SELECT 1 FROM deleted WHERE id = ?", (session,)):
                return False
            for entry in merged(entries[max(0, shipped - first) :]):
                self._follow(session, entry)
            lines = max(shipped, first + len(entries))
            self._db.run("UPDATE spools SET lines = ? WHERE name = ?", (lines, spool))
        return True

    def _follow(self, session: str, entry: Entry) -> None:
        match entry:
            case ["begin", facts]:
                self._begin(read_facts(facts))
            case ["reopen"]:
                self._reopen(session)
            case ["write", rows, frames, at, wall]:
                self._write(session, read_rows(rows), frames, at, wall)
            case ["end", state, wall]:
                self._end(session, state, wall)
            case _:
                raise InputError(f"a spool of session {session} holds what this version cannot read: {ONE_VERSION}.")

    def close_orphans(self) -> tuple[str, ...]:
        """Closes the open sessions whose process is gone, as of when they last wrote; gives their names.

        Folders of sessions that could never be entered here, such as on a full disk, are entered now: what they hold
        is to be listed, deleted and aged like any other.
        """
        self._enter_folders()
        if self._db.is_shared:  # elsewhere there are none, and who only looks on writes nothing
            with self._db.transaction():
                past = "SELECT id FROM sessions WHERE state <> 'open' AND seen < ?"
                self._db.run(f"DELETE FROM percepts WHERE session IN ({past})", (time.time() - CLOCK_S,))
        return self.close_left()

    def close_left(self, session: str | None = None) -> tuple[str, ...]:
        """Closes the open sessions whose process is gone, or one of them; gives their names."""
        one, values = ("", ()) if session is None else (" AND id = ?", (session,))
        opened = self._db.rows(f"SELECT id, seen FROM sessions WHERE state = 'open'{one}", values)
        gone = tuple(str(session) for session, seen in opened if self._is_left(session, seen))
        for session in gone:
            with self._db.transaction():
                self._db.run(
                    "UPDATE sessions SET state = 'interrupted', ended = seen WHERE id = ? AND state = 'open'",
                    (session,),
                )
        return gone

    def _is_left(self, session: str, seen: float) -> bool:
        """Whether nobody records an open session any more; that of another machine is only known by its silence."""
        if self._is_recorded_here(session):
            return False
        return not self._is_elsewhere(session) or time.time() - seen > ABSENT_S

    def killed(self, source: str, since: float) -> StoredSession | None:
        """The newest session that was recorded here from a source, if its process was killed since then.

        It ended when it last wrote, as `close_orphans` has it, which a server does when it starts.
        """
        found = self._db.rows(
            "SELECT id, state = 'interrupted' AND ended = seen AND seen >= ? FROM sessions WHERE source = ? "
            "ORDER BY started DESC",
            (since, source),
        )
        newest = next((row for row in found if not self._is_elsewhere(row[0])), None)
        return self.sessions(SessionFilter(id=newest[0]))[0] if newest is not None and newest[1] else None

    def newest_of(self, source: str) -> str | None:
        """The newest session of a source, wherever it was recorded."""
        found = self._db.rows("SELECT id FROM sessions WHERE source = ? ORDER BY started DESC LIMIT 1", (source,))
        return str(found[0][0]) if found else None

    def take_over(self, source: str, since: float) -> StoredSession | None:
        """The newest session of a source, if no process records it here and one has written since then, to go on here.

        Percepts of another machine are brought here; whatever that one still has to say of it is not stored any more.
        """
        session = self.newest_of(source)
        if session is None or self._is_recorded_here(session):
            return None
        with self._db.transaction(is_alone=True):
            is_elsewhere = self._is_elsewhere(session)
            is_left = "(state = 'open' OR state = 'interrupted' AND ended <= seen)"
            taken = self._db.run(
                f"UPDATE sessions SET state = 'interrupted', ended = seen WHERE id = ? AND seen >= ? AND {is_left}",
                (session, since),
            )
            if not taken:
                return None
            if is_elsewhere:
                self._db.run("UPDATE spools SET lines = ? WHERE session_id = ?", (ALL_LINES, session))
            packed = self._db.rows("SELECT data FROM percepts WHERE session = ? ORDER BY rowid", (session,))
        place = self.place(session)
        if is_elsewhere:  # else all of them lie here
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            with PerceptWriter(place / PERCEPTS_FILE) as writer:
                for row in packed:
                    writer.append(unpack(row[0]))
        return self.sessions(SessionFilter(id=session))[0]

    def reopen(self, session: str) -> None:
        """A session that was closed for its process goes on."""
        with self._db.transaction():
            self._reopen(session)

    def _reopen(self, session: str) -> None:
        self._db.run("UPDATE sessions SET state = 'open', ended = NULL WHERE id = ?", (session,))

    def _enter_folders(self) -> None:
        known = {str(row[0]) for row in self._db.rows("SELECT id FROM sessions")}
        found = [path for path in self.folder.glob("*-*-*/") if SESSION_ID.fullmatch(path.name)]
        # The other kind of store knows some where the folder changed its kind: they age there.
        is_passed = is_kept(self.folder) if self._db.is_shared else lambda name: (self.folder / name / SHARED).exists()
        for place in [one for one in found if one.name not in known]:
            changed = place.stat().st_mtime
            # It is just being begun, or recorded, or will be known once what waits is shipped.
            if time.time() - changed < SETTLED_S or is_alive(place) or spool_files(self.folder, place.name):
                continue
            if self._db.rows("SELECT 1 FROM deleted WHERE id = ?", (place.name,)):  # on another machine
                self._remove_files(place.name)
                continue
            if is_passed(place.name):
                continue
            with self._db.transaction():
                newest = self._db.rows("SELECT keep_days FROM sessions ORDER BY started DESC LIMIT 1")
                keep_days = newest[0][0] if newest else DEFAULT_DAYS
                self._insert(SessionFacts(place.name, changed, source=FOUND, keep_days=keep_days), "interrupted")

    def trusted_time(self, now: float) -> float:
        """`now`, or an earlier time as long as the clock is ahead of what was seen and has not stayed so for a day.

        A clock that is wrong for an hour must not delete what was recorded yesterday. One that is behind as much is
        believed after a day too: what begins meanwhile is known to be younger than it says.
        """
        clocks = self._db.rows("SELECT trusted, leapt FROM clock")
        found = clocks[0] if clocks else None
        newest = self._db.rows("SELECT MAX(seen) FROM sessions")[0][0]
        before, leapt = found or (now if newest is None else newest, None)
        trusted = before
        if leapt is not None and (now < leapt or (leapt > before) != (now > before)):  # another leap
            leapt = None
        leapt = (leapt or now) if abs(now - trusted) > LEAP_S else None
        if leapt is None or now - leapt >= LEAP_S:
            trusted, leapt = now, None
        if found is None or found[1] != leapt or abs(trusted - before) > CLOCK_S:  # a page that looks on writes rarely
            with self._db.transaction(is_alone=True):
                self._db.run("DELETE FROM clock")
                self._db.run("INSERT INTO clock VALUES (?, ?)", (trusted, leapt))
        return float(min(now, trusted))

    def sessions(self, wanted: SessionFilter | None = None) -> tuple[StoredSession, ...]:
        """The wanted sessions, oldest first."""
        wanted = wanted or SessionFilter()
        clauses, values = _conditions(wanted)
        columns = ", ".join((*SESSION_COLUMNS, "state", "ended", "frames", "at", _STANDING, _VERDICT))
        query = f"SELECT {columns} FROM sessions WHERE {' AND '.join(clauses)} ORDER BY started, id"
        rows = self._db.rows(query, values)
        count = len(SESSION_COLUMNS)
        found = (StoredSession(SessionFacts(*row[:count]), *row[count:]) for row in rows)
        return tuple(one for one in found if wanted.bundle in (None, one.facts.bundle, Path(one.facts.bundle).name))

    def alert_kinds(self) -> dict[str, set[str]]:
        """The kinds of alerts that were raised and not withdrawn in each session that has any."""
        found: dict[str, set[str]] = {}
        for session, kind in self._db.rows(f"SELECT DISTINCT session, kind FROM alerts WHERE {_STANDS}"):
            found.setdefault(session, set()).add(kind)
        return found

    def find(self, name: str) -> StoredSession:
        """The one session of that name, or whose name begins so; `last` is the newest."""
        found = self.sessions()
        if name == "last" and found:
            return found[-1]
        matches = [one for one in found if name and one.id.startswith(name)]
        if len(matches) != 1:
            few = "no session" if not matches else f"{len(matches)} sessions"
            begin = "begin" if matches else "begins"
            raise InputError(f"{few} in {self._place} {begin} with {name!r:.40}: see `python -m guide sessions`.")
        return matches[0]

    def contents(self, session: str) -> Contents:
        """All rows of a session."""
        told = {table: kind for table, kind in TABLES.items() if kind is not SharedPercepts}
        rows = {table: tuple(self._rows(table, kind, session)) for table, kind in told.items()}
        return Contents(**rows, final=tuple(self._rows("resolutions", Resolution, session, _FINAL)))

    def delete(self, session: str) -> None:
        """Deletes a session with its files; one that is still being recorded is refused.

        Files on other machines go when those next tidy up.
        """
        is_recorded = is_alive(self.place(session)) or self._is_elsewhere(session)
        if is_recorded and any(one.state == "open" for one in self.sessions(SessionFilter(id=session))):
            raise InputError(f"session {session} is still being recorded: end it first.")
        if (address := find_pictures()) is not None:
            address.delete(session)
        self._remove_files(session)
        with self._db.transaction():
            self._db.run("DELETE FROM sessions WHERE id = ?", (session,))
            self._db.run("DELETE FROM spools WHERE session_id = ?", (session,))
            if self._db.is_shared:
                self._db.run("INSERT INTO deleted (id) VALUES (?) ON CONFLICT (id) DO NOTHING", (session,))
        self._db.erase()

    def _remove_files(self, session: str) -> None:
        place = self.place(session)
        try:
            for waiting in (self.folder / SPOOL).glob(f"{session}-*"):
                waiting.unlink(missing_ok=True)
            shutil.rmtree(place)
        except FileNotFoundError:
            pass  # it left no files
        except OSError as cause:
            raise OutputError(f"{place} cannot be deleted ({cause.strerror}): check who owns it.") from cause

    def _is_recorded_here(self, session: str) -> bool:
        """Whether a process of this machine records it, or left something of it that is not shipped yet."""
        return is_alive(self.place(session)) or bool(spool_files(self.folder, session))

    def _is_elsewhere(self, session: str) -> bool:
        """Whether another machine records or recorded it: who does leaves a lock, held or not.

        Once a session was taken over, locks lie on several machines, and none says who records it.
        """
        if not self._db.is_shared:
            return False
        taken = "SELECT 1 FROM spools WHERE session_id = ? AND lines = ?"
        return not (self.place(session) / LOCK).is_file() or bool(self._db.rows(taken, (session, ALL_LINES)))

    def keep_pictures(self, days: float | None) -> None:
        """Sets for all sessions after how many days their pictures are deleted; none keeps them.

        The days of those that a clock without the date began are counted from now: nobody knows when that was.
        """
        clocks = self._db.rows("SELECT trusted FROM clock")
        with self._db.transaction():
            self._db.run("UPDATE sessions SET keep_days = ?", (days,))
            if clocks:
                stretch = "UPDATE sessions SET keep_days = keep_days + (? - started) / ? WHERE started < ?"
                self._db.run(stretch, (max(clocks[0][0], DATED), DAY_S, DATED))

    def with_pictures(self) -> set[str]:
        """The sessions of which pictures are mentioned."""
        query = "SELECT id FROM sessions WHERE EXISTS (SELECT 1 FROM pictures WHERE session = sessions.id)"
        return {str(row[0]) for row in self._db.rows(query)}

    def fetch_pictures(self, session: str) -> str:
        """Brings pictures of a session that lie at an address to its folder; why they cannot be brought, if so."""
        address = find_pictures()
        if address is not None and not is_alive(self.place(session)):
            rows = self._db.rows("SELECT file FROM pictures WHERE session = ?", (session,))
            try:
                address.fetch(self.place(session), [row[0] for row in rows])
            except OutputError as error:
                return str(error)
        return ""

    def forget_pictures(self, session: str) -> None:
        """Removes the mention of a session's pictures, which were deleted."""
        with self._db.transaction():
            self._db.run("DELETE FROM pictures WHERE session = ?", (session,))

    def _rows(self, table: str, kind: type[Any], session: str, clause: str = "TRUE") -> Iterator[Any]:
        query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE session = ? AND {clause} ORDER BY rowid"
        found = self._db.rows(query, (session,))
        truths = [place for name, place in _TRUTHS.items() if name in COLUMNS[table]]
        for row in found:
            values = list(row)
            for place in truths:
                values[place] = None if values[place] is None else bool(values[place])
            yield kind(*values)

    def _prepare(self) -> None:
        version = self._db.version()
        if version > NEWEST:  # before anything is written to it
            raise InputError(f"{self._place} was written by a newer program (version {version}): update this one.")
        self._db.prepare()
        if version < NEWEST:
            self._migrate()

    def _migrate(self) -> None:
        """All missing versions in one transaction; another process may have been quicker."""
        with self._db.transaction(is_alone=True):
            for version in range(self._db.version(), NEWEST):
                self._db.migrate(MIGRATIONS[version], version + 1)

    @property
    def _place(self) -> str:
        """What messages call it."""
        return self._db.name if self._db.is_shared else str(self.folder)


def _postgres(records: str) -> PostgresDatabase:
    from guide.record.postgres import PostgresDatabase  # few need it, and its driver takes a while to load

    return PostgresDatabase(records)


def _conditions(wanted: SessionFilter) -> tuple[list[str], list[object]]:
    """The clauses of a query and their values."""
    choices: Iterable[tuple[str, object]] = (
        ("person = ?", wanted.person),
        ("started >= ?", wanted.since),
        ("started < ?", wanted.until),
        ("state = ?", wanted.state),
        ("id = ?", wanted.id),
        ("id IN (SELECT session FROM alerts WHERE kind = ?)", wanted.alert_kind),
    )
    asked = [(clause, value) for clause, value in choices if value is not None]
    return ["TRUE", *(clause for clause, _ in asked)], [value for _, value in asked]
