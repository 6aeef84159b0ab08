"""Writes a session down in a thread of its own, twice a second: the loop never waits for a disk.

A database that another program locks, a full disk, a folder that cannot be written: what comes meanwhile is kept, up to
a limit, and written as soon as it can be. Every such trouble, and its end, is told in one sentence and stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from guide.domain import SettledLabel
from guide.errors import OutputError
from guide.record.lock import SessionLock
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter, pack
from guide.record.private_folder import RESERVED_BYTES, is_nearly_full
from guide.record.retention import drop_old_pictures
from guide.record.spool import Spool
from guide.record.store import Store
from guide.record.values import (
    HealthSample,
    Item,
    Row,
    SessionFacts,
    SessionState,
    SharedPercepts,
    StoredPercept,
    StoredSession,
    is_promised,
)

log = logging.getLogger(__name__)

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """How often is written, how much is kept when it cannot be, and for how long it is tried at the end.

    >>> WriterSettings().period_s
    0.4
    """

    period_s: float = 0.4
    """A killed process loses what came since the last write; with the write itself this stays under a second."""
    longest_pause_s: float = 5.0
    """Between two tries while writing fails."""
    most_rows: int = 200_000
    """Labels are kept up to half of this, so that there is always room for alerts and actions."""
    most_bytes: int = 32 * 2**20
    """Of what was seen: two hours of embeddings at 5 a second."""
    patience_s: float = 10.0
    """How long the end of a session waits for a disk that refuses."""


class SessionWriter:
    """Takes what happens in a session and stores it. `trouble` says why nothing can be written just now, if so.

    >>> import tempfile
    >>> folder, name = Path(tempfile.mkdtemp()), "20300102-030405-00ff"
    >>> writer = SessionWriter(folder, SessionFacts(name, started=0.0))
    >>> writer.put(SettledLabel(0.0, 1, 0.9), frames=1, at=0.0)
    >>> writer.close("finished")
    >>> with Store(folder) as store:
    ...     store.find(name).state, len(store.contents(name).labels)
    ('finished', 1)
    """

    def __init__(
        self,
        folder: Path,
        facts: SessionFacts,
        settings: WriterSettings | None = None,
        tell: Tell = log.warning,
        open_store: Callable[[Path], Store | Spool] = Store,
        wall: Callable[[], float] = time.time,
        most_bytes: float = 0.0,
        resumed: StoredSession | None = None,
        is_shared: bool = False,
    ) -> None:
        """With `is_shared` what was seen goes to the store too: another machine may have to go on with the session."""
        self.trouble = ""
        self._resumed = resumed
        self._to_share: list[StoredPercept] | None = [] if is_shared else None
        self._most_bytes = most_bytes  # of all sessions, see drop_old_pictures
        self.folder = folder / facts.id
        self._data, self._facts, self._settings = folder, facts, settings or WriterSettings()
        self._tell, self._open_store, self._wall = tell, open_store, wall
        self._guard = threading.Lock()
        self._rows: deque[Row] = deque()
        self._seen: deque[StoredPercept] = deque()
        self._seen_bytes = 0
        self._frames = self._stored_frames = resumed.frames if resumed is not None else 0
        self._at = resumed.at if resumed is not None else 0.0
        self._lost: Counter[str] = Counter()
        self._lock: SessionLock | None = None
        self._store: Store | Spool | None = None
        self._file: PerceptWriter | None = None
        self._failure: Exception | None = None
        self._end_state: SessionState = "interrupted"
        self._is_ended = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"writer of {facts.id}", daemon=True)
        self._thread.start()

    @property
    def kept(self) -> int:
        """Items that wait to be written."""
        return len(self._rows) + len(self._seen)

    def put(self, *items: Item, frames: int | None = None, at: float | None = None) -> None:
        """Takes items that belong together: all of them are stored in one transaction. Never waits.

        `frames` is how many frames the loop has processed, `at` where it stands; without them they stay as they were.
        """
        if self._failure is not None:
            raise self._failure
        with self._guard:
            for item in items:
                self._keep(item)
            self._frames = self._frames if frames is None else frames
            self._at = self._at if at is None else at

    def note(self, words: str) -> None:
        """Stores a note about how the session fares."""
        self.put(HealthSample(self._at, self._wall(), words))

    def close(self, state: SessionState) -> None:
        """Writes the rest and closes the session; raises OutputError where the disk refuses to the end."""
        self._end_state = state
        self._stop.set()
        self._thread.join(self._settings.patience_s + 5.0)
        if self._failure is not None:
            raise self._failure
        if not self._is_ended:
            raise OutputError(
                f"{self.kept} items of session {self._facts.id} could not be written: "
                f"{self.trouble or 'the disk does not answer'}"
            )

    def _keep(self, item: Item) -> None:
        if isinstance(item, StoredPercept):
            size = item.embedding.nbytes
            if self._seen_bytes + size > self._settings.most_bytes:
                self._lost["frames"] += 1
                return
            self._seen_bytes += size
            self._seen.append(item)
            return
        room = self._settings.most_rows // (2 if isinstance(item, SettledLabel) else 1)
        if len(self._rows) >= room:
            self._lost["labels" if isinstance(item, SettledLabel) else "events"] += 1
            return
        self._rows.append(item)

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:  # our own fault: the loop hears of it with its next item
            self._failure = error
        finally:
            for held in (self._file, self._store):
                if held is not None:
                    held.close()
            if self._lock is not None:
                self._lock.release()

    def _work(self) -> None:
        pause_s = self._settings.period_s
        while not self._stop.wait(pause_s):
            pause_s = self._settings.period_s if self._try() else min(2 * pause_s, self._settings.longest_pause_s)
        deadline, pause_s = time.monotonic() + self._settings.patience_s, 0.05
        while not self._try(is_last=True) and time.monotonic() < deadline:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 1.0)

    def _try(self, is_last: bool = False) -> bool:
        """Writes what is there; says whether it could."""
        try:
            self._flush()
            if is_last and self._store is not None:
                self._store.end(self._facts.id, self._end_state, self._wall())
            self._is_ended = is_last
        except (OutputError, OSError) as error:
            self._begin_trouble(_explain(error, self.folder))
            return False
        self._end_trouble()
        return True

    def _flush(self) -> None:
        if self._store is None and not self.kept:
            return  # a source that cannot be opened leaves no trace
        store, file = self._open()
        if is_nearly_full(self._data):
            self._write_urgent(store)
            raise OutputError(
                f"less than {RESERVED_BYTES >> 20} MB are left for {self._data}, kept for alerts and actions: "
                "free some space."
            )
        with self._guard:
            rows, seen, frames, at = list(self._rows), list(self._seen), self._frames, self._at
        # The file first: the database then never speaks of a frame that the file lacks.
        file.append(seen)
        if is_promised(rows):
            file.flush()
        with self._guard:
            self._seen_bytes -= sum(one.embedding.nbytes for one in seen)
            for _ in seen:
                self._seen.popleft()
        shared: list[Row] = []
        if self._to_share is not None:
            self._to_share += seen
            shared = [SharedPercepts(pack(self._to_share))] if self._to_share else []
        store.write(self._facts.id, [*rows, *shared], frames, at, self._wall())
        if self._to_share is not None:
            self._to_share.clear()
        with self._guard:
            self._stored_frames = frames
            for _ in rows:
                self._rows.popleft()

    def _write_urgent(self, store: Store | Spool) -> None:
        """Writes all but labels, which wait with the frames they are of."""
        with self._guard:
            waiting, at = list(self._rows), self._at
        urgent = [row for row in waiting if not isinstance(row, SettledLabel)]
        if urgent:
            store.write(self._facts.id, urgent, self._stored_frames, at, self._wall())
        with self._guard:
            later = list(self._rows)[len(waiting) :]
            self._rows = deque([row for row in waiting if isinstance(row, SettledLabel)] + later)

    def _open(self) -> tuple[Store | Spool, PerceptWriter]:
        """What is written to, opened when it can be; the lock comes first, so that an open session has its process."""
        if self._store is None or self._file is None:
            self._data.mkdir(parents=True, exist_ok=True, mode=0o700)  # it shows people at work
            self.folder.mkdir(exist_ok=True, mode=0o700)
            self._lock = self._lock or SessionLock(self.folder)
            self._file = self._file or PerceptWriter(self.folder / PERCEPTS_FILE, self._stored_frames)
            store = self._open_store(self._data)
            try:
                if isinstance(store, Store):  # what ships a spool does so itself
                    store.close_orphans()
                    drop_old_pictures(store, self._wall(), self._most_bytes)
                # Last: what fails after it would begin the session a second time.
                store.begin(self._facts) if self._resumed is None else store.reopen(self._facts.id)
            except BaseException:
                store.close()
                raise
            self._store = store
        return self._store, self._file

    def _begin_trouble(self, words: str) -> None:
        if not self.trouble:
            self._tell(f"recording: {words} The session goes on, what happens is kept and written when it can be.")
            self._rows.append(HealthSample(self._at, self._wall(), words))
        self.trouble = words

    def _end_trouble(self) -> None:
        if self.trouble:
            self.trouble = ""
            lost = ", ".join(f"{count} {what}" for what, count in sorted(self._lost.items()))
            words = f"the session is written again; {f'lost for want of room: {lost}' if lost else 'nothing was lost'}."
            self._tell(f"recording: {words}")
            self._rows.append(HealthSample(self._at, self._wall(), words))
            self._lost.clear()


def _explain(error: OutputError | OSError, folder: Path) -> str:
    if isinstance(error, OutputError):
        return str(error)
    return (
        f"{error.filename or folder} cannot be written ({error.strerror or error}): free some space or mend the disk."
    )
