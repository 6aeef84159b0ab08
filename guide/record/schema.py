"""The tables of the session store, one migration a version: a store of any earlier version becomes the newest."""

from __future__ import annotations

from typing import Final

_SESSION = "session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE"

_FIRST: Final = (
    """CREATE TABLE sessions (id TEXT PRIMARY KEY, started REAL NOT NULL, ended REAL, state TEXT NOT NULL,
       person TEXT NOT NULL, bundle TEXT NOT NULL, bundle_hash TEXT NOT NULL, source TEXT NOT NULL,
       settings TEXT NOT NULL, procedure TEXT NOT NULL, frames INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL DEFAULT 0,
       seen REAL NOT NULL)""",
    f"CREATE TABLE labels ({_SESSION}, at REAL NOT NULL, step INTEGER NOT NULL, confidence REAL NOT NULL)",
    f"""CREATE TABLE steps ({_SESSION}, at REAL NOT NULL, step INTEGER NOT NULL, state TEXT NOT NULL,
        start REAL NOT NULL, stop REAL, confidence REAL NOT NULL)""",
    f"""CREATE TABLE alerts ({_SESSION}, id INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
        step INTEGER NOT NULL, before INTEGER, severity TEXT NOT NULL, evidence TEXT NOT NULL)""",
    f"CREATE TABLE resolutions ({_SESSION}, id INTEGER NOT NULL, at REAL NOT NULL, withdrawn INTEGER NOT NULL)",
    f"""CREATE TABLE actions ({_SESSION}, number INTEGER NOT NULL, at REAL NOT NULL, wall REAL NOT NULL,
        after INTEGER NOT NULL, kind TEXT NOT NULL, target INTEGER, step INTEGER, answer INTEGER,
        snooze_s REAL NOT NULL, person TEXT NOT NULL, comment TEXT NOT NULL)""",
    f"CREATE TABLE health ({_SESSION}, at REAL NOT NULL, wall REAL NOT NULL, note TEXT NOT NULL, sample TEXT NOT NULL)",
    "CREATE INDEX labels_of ON labels(session)",
    "CREATE INDEX steps_of ON steps(session)",
    "CREATE INDEX alerts_of ON alerts(session)",
    "CREATE INDEX resolutions_of ON resolutions(session)",
    "CREATE INDEX actions_of ON actions(session)",
    "CREATE INDEX health_of ON health(session)",
)

_QUESTIONS_AND_PICTURES: Final = (
    f"""CREATE TABLE questions ({_SESSION}, id INTEGER NOT NULL, at REAL NOT NULL, step INTEGER NOT NULL,
        words TEXT NOT NULL)""",
    f"""CREATE TABLE pictures ({_SESSION}, at REAL NOT NULL, of TEXT NOT NULL, number INTEGER NOT NULL,
        file TEXT NOT NULL)""",
    "CREATE INDEX questions_of ON questions(session)",
    "CREATE INDEX pictures_of ON pictures(session)",
    "ALTER TABLE sessions ADD COLUMN keep_days REAL",
    # An alert can come again after it was resolved: what came last, it or its resolution?
    "ALTER TABLE alerts ADD COLUMN said INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE resolutions ADD COLUMN said INTEGER NOT NULL DEFAULT 1",
)

_OUTCOMES: Final = (
    f"CREATE TABLE outcomes ({_SESSION}, at REAL NOT NULL, done TEXT NOT NULL, visits TEXT NOT NULL)",
    "CREATE INDEX outcomes_of ON outcomes(session)",
)

_CLOCK: Final = ("CREATE TABLE clock (trusted REAL NOT NULL, leapt REAL)",)

_SHARED: Final = (
    # How many lines of a spool were shipped, and the sessions whose files other machines shall delete.
    "CREATE TABLE spools (name TEXT PRIMARY KEY, session_id TEXT NOT NULL, lines INTEGER NOT NULL)",
    "CREATE TABLE deleted (id TEXT PRIMARY KEY)",
)

_PERCEPTS: Final = (
    # What another machine needs to go on with a session; gone when it is over.
    f"CREATE TABLE percepts ({_SESSION}, data TEXT NOT NULL)",
    "CREATE INDEX percepts_of ON percepts(session)",
    "CREATE INDEX sessions_by_source ON sessions(source, started)",
)

_VERDICTS: Final = (
    "ALTER TABLE outcomes ADD COLUMN ending TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE outcomes ADD COLUMN verdict TEXT NOT NULL DEFAULT ''",
    # Which alerts of a session stand is asked for all sessions at once.
    "CREATE INDEX alerts_by_id ON alerts(session, id, said)",
    "CREATE INDEX resolutions_by_id ON resolutions(session, id)",
)

MIGRATIONS: Final = (_FIRST, _QUESTIONS_AND_PICTURES, _OUTCOMES, _CLOCK, _SHARED, _PERCEPTS, _VERDICTS)
"""Entry n leads from version n to n + 1; entries are only ever added."""
NEWEST: Final = len(MIGRATIONS)

COLUMNS: Final = {
    "labels": ("at", "step", "confidence"),
    "steps": ("at", "step", "state", "start", "stop", "confidence"),
    "alerts": ("id", "at", "kind", "step", "before", "severity", "evidence"),
    "resolutions": ("id", "at", "withdrawn"),
    "questions": ("id", "at", "step", "words"),
    "actions": (
        "number", "at", "wall", "after", "kind", "target", "step", "answer", "snooze_s", "person", "comment",
    ),
    "health": ("at", "wall", "note", "sample"),
    "pictures": ("at", "of", "number", "file"),
    "outcomes": ("at", "done", "visits", "ending", "verdict"),
    "percepts": ("data",),
}  # fmt: skip
"""The columns of each table in the order of the fields of its value."""
SAID: Final = ("alerts", "resolutions")
"""The tables with a column `said`, which counts their rows of a session together."""
SESSION_COLUMNS: Final = (
    "id", "started", "person", "bundle", "bundle_hash", "source", "settings", "procedure", "keep_days",
)  # fmt: skip
