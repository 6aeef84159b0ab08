"""PostgreSQL, one database for the sessions of many machines. The only home of psycopg.

It speaks the SQL of the store; the few differences stand here. Every commit is flushed by the server. What it refuses
becomes one sentence that never holds the address's password.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from guide.errors import InputError, OutputError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    HAS_DRIVER = True
except ImportError:  # the extra is not installed, or its C library is missing
    HAS_DRIVER = False

_LOCK: Final = 0x636E63  # "cnc", for work that only one may do at a time
_CONNECTION: Final = {
    "application_name": "cnc-guide",
    "connect_timeout": 5,
    # A network that is gone without a word is noticed within 10 s.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,
}
ANSWER_S: Final = 40.0
"""A server that is silent for longer hangs: one that runs keeps its own limits, which are shorter."""
_SETTINGS: Final = (
    "SET lock_timeout = '5s'",
    "SET statement_timeout = '30s'",
    # What a lost connection began holds its locks no longer than that.
    "SET idle_in_transaction_session_timeout = '10s'",
    "SET synchronous_commit = on",
)
_MISSING: Final = """SELECT NOT EXISTS
    (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'version')"""


if HAS_DRIVER:

    class _Connection(psycopg.Connection[tuple[Any, ...]]):
        """Hangs up on a server that does not answer; the driver would wait for ever."""

        def wait(self, gen: Any, *more: Any, **options: Any) -> Any:
            return super().wait(self._limited(gen), *more, **options)

        def _limited(self, gen: Any) -> Generator[Any, int, Any]:
            heard = time.monotonic()
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    if ready:
                        heard = time.monotonic()
                    elif time.monotonic() - heard > ANSWER_S:
                        self.pgconn.finish()
                        raise psycopg.OperationalError(f"no answer for {ANSWER_S:.0f} s")
                    wanted = gen.send(ready)
            except StopIteration as end:
                return end.value


class PostgresDatabase:
    """The database at an address; `name` is the address without user and password."""

    is_shared = True

    def __init__(self, address: str) -> None:
        """Raises InputError without the driver or for a wrong address, OutputError where nobody answers."""
        if not HAS_DRIVER:
            raise InputError("PostgreSQL needs a driver that is not installed: pip install -e '.[fleet]'.")
        try:
            parts: dict[str, Any] = {**_CONNECTION, **conninfo_to_dict(address)}
        except psycopg.Error:  # its words would repeat parts of the address
            raise InputError(
                "the address of the records cannot be read: expected is postgresql://USER@HOST:PORT/DATABASE."
            ) from None
        host, port = parts.get("host") or "localhost", parts.get("port") or 5432
        self.name = f"postgresql://{host}:{port}/{parts.get('dbname') or ''}"
        self._secrets = [str(parts[key]) for key in ("password", "sslpassword") if parts.get(key)]
        with self._explained():
            self._connection = _Connection.connect(**parts, autocommit=True)

    def close(self) -> None:
        self._connection.close()

    def prepare(self) -> None:
        """Settings of this connection."""
        for setting in _SETTINGS:
            self.run(setting)

    def version(self) -> int:
        return 0 if self.rows(_MISSING)[0][0] else int(self.rows("SELECT number FROM version")[0][0])

    def migrate(self, statements: Sequence[str], version: int) -> None:
        """Changes the tables; within a transaction."""
        if self.rows(_MISSING)[0][0]:
            self.run("CREATE TABLE version (number INTEGER NOT NULL)")
            self.run("INSERT INTO version VALUES (0)")
        for statement in statements:
            self.run(_translated(statement))
        self.run("UPDATE version SET number = ?", (version,))

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a query gives."""
        with self._explained():
            return self._connection.execute(_marked(query), _fitting(values)).fetchall()

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        """Runs a statement; how many rows it touched."""
        with self._explained():
            return self._connection.execute(_marked(query), _fitting(values)).rowcount

    def run_many(self, query: str, rows: Sequence[Sequence[object]]) -> None:
        """Runs a statement for each row of values."""
        with self._explained(), self._connection.cursor() as cursor:
            cursor.executemany(_marked(query), [_fitting(row) for row in rows])

    @contextmanager
    def transaction(self, is_flushed: bool = True, is_alone: bool = False) -> Iterator[None]:
        """All or nothing, flushed always; with `is_alone` no other such transaction runs meanwhile."""
        with self._explained(), self._connection.transaction():
            if is_alone:
                self.rows("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            yield

    def erase(self) -> None:
        """Nothing to do: the server's own vacuum gives the room back."""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.DataError, psycopg.IntegrityError) as cause:  # in vain, however often
            raise InputError(
                f"{self.name} refuses a record ({type(cause).__name__}): check the values in it, and whether somebody "
                "changed the tables."
            ) from cause
        except psycopg.Error as cause:
            words = " ".join(str(cause).split()) or type(cause).__name__
            for secret in self._secrets:  # before the words are cut, or a piece of it would stay
                words = words.replace(secret, "***")
            raise OutputError(
                f"{self.name} cannot be used ({words[:300]}): check the address, the network and "
                "whether the database runs."
            ) from None  # the cause would repeat it


def _marked(query: str) -> Any:
    return query.replace("?", "%s")


def _fitting(values: Sequence[object]) -> list[object]:
    """Truth values as numbers, as SQLite has them, and text without what no PostgreSQL text may hold."""
    return [
        int(value) if isinstance(value, bool) else _text(value) if isinstance(value, str) else value for value in values
    ]


def _text(words: str) -> str:
    return words.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _translated(statement: str) -> str:
    """A statement that makes tables: REAL is exact to 15 digits, and rows are numbered in the order in which they came.

    >>> _translated("CREATE TABLE labels (session TEXT NOT NULL REFERENCES sessions(id), at REAL)")
    'CREATE TABLE labels (rowid BIGINT GENERATED ALWAYS AS IDENTITY, session TEXT NOT NULL REFERENCES sessions(id), \
at DOUBLE PRECISION)'
    """
    numbered = "(rowid BIGINT GENERATED ALWAYS AS IDENTITY, session TEXT NOT NULL REFERENCES"
    return re.sub(r"\bREAL\b", "DOUBLE PRECISION", statement).replace("(session TEXT NOT NULL REFERENCES", numbered)
