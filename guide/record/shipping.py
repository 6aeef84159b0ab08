"""Ships what sessions of a folder leave in its spool to the database at an address, and opens stores for readers.

One thread with one connection serves all sessions of a folder, whichever process records them. While the database is
away lines wait in the spool; nothing is lost with the network, the database or this process, and nothing comes twice.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from guide.errors import GuideError, InputError
from guide.record.growing_file import GrowingFile
from guide.record.lock import SessionLock, is_alive
from guide.record.retention import drop_old_pictures
from guide.record.spool import FOLDER, SUFFIX, Entry, Spool, read_entries, spool_files
from guide.record.store import Store
from guide.record.values import SESSION_ID

log = logging.getLogger(__name__)

VARIABLE: Final = "CNC_RECORDS"
PERIOD_S: Final = 0.2
LONGEST_PAUSE_S: Final = 5.0  # between two tries while the database is away
PATIENCE_S: Final = 10.0  # how long the end waits for a database that is away
MOST_LINES: Final = 200  # in one transaction
LOCK: Final = "shipping"
_HOST: Final = r"(?:\[[^\]@]*\]|[^:@/?#,]*)(?::\d{1,5})?"
_HOSTS: Final = rf"[^:@/?#]*(?::[^@/?#]*)?@{_HOST}(?:,{_HOST})*"
# Without a user nothing after a colon is taken for a port: it may be a password whose host was forgotten.
_ADDRESS: Final = re.compile(rf"postgres(?:ql)?://(?:{_HOSTS}|\[[^\]@]*\]|[^:@/?#]*)(?:[/?][^@]*)?")
_NAMED: Final = re.compile(
    rf"(?P<spool>(?P<session>{SESSION_ID.pattern})-\d{{4}}-[0-9a-f]{{16}})-(?P<first>\d{{9}}){re.escape(SUFFIX)}"
)

Tell = Callable[[str], None]


def find_address(given: str | None) -> str | None:
    """The address that was given, else that of the environment (CNC_RECORDS); none is SQLite in the folder.

    Its parts must be told apart beyond doubt, or a piece of a password could pass for a host and be printed.

    >>> find_address("postgresql://guide@db.example/records")
    'postgresql://guide@db.example/records'
    >>> find_address("postgresql://guide:p@ss@db.example/records")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    guide.errors.InputError: records are kept at an address like postgresql://USER@HOST/DATABASE, this one is none: ...
    """
    address = given or os.environ.get(VARIABLE) or None
    if address is not None and not _ADDRESS.fullmatch(address):
        raise InputError(
            "records are kept at an address like postgresql://USER@HOST/DATABASE, this one is none: write @ : / ? # "
            "in a password as %40 %3A %2F %3F %23, and USER@ before a port; a folder is given with --data."
        )
    return address


@contextlib.contextmanager
def opened(folder: Path, records: str | None = None) -> Iterator[Store]:
    """The store for readers, with all that dead processes left shipped, and their sessions closed.

    Raises InputError where a folder holds no sessions.
    """
    with Store(folder, is_new=False, records=records) as store:
        _settle(store, folder, records)
        yield store


def open_for_writing(folder: Path, session: str, records: str | None, is_new: bool = True) -> Store | Spool:
    """What a session writes to: the store of its folder, made where `is_new` allows, or a spool for an address."""
    return Store(folder, is_new) if records is None else Spool(folder, session)


@contextlib.contextmanager
def shipping(
    folder: Path, records: str | None, most_bytes: float = 0.0, tell: Tell = log.warning
) -> Iterator[Shipper | None]:
    """Within it what sessions leave in the spool is shipped; at the end it waits a while for the last of it.

    Without an address there is nothing to do. Raises OutputError where nobody answers at the beginning.
    """
    if records is None:
        yield None
        return
    with Store(folder, records=records) as store:
        _settle(store, folder, records)
        drop_old_pictures(store, time.time(), most_bytes)
    shipper = Shipper(folder, records, tell)
    thread = threading.Thread(target=shipper.run, name="shipping", daemon=True)
    thread.start()
    try:
        yield shipper
    finally:
        shipper.stop()
        thread.join(2 * PATIENCE_S)


def _settle(store: Store, folder: Path, records: str | None) -> None:
    """Ships what dead processes left, and closes their sessions."""
    if records is not None:
        Shipper(folder, records).ship(store, only_left=True)
    store.close_orphans()


class Shipper:
    """Ships the spool of a folder; `trouble` says why it cannot just now, if so.

    `heard` is told how many seconds each write to the database took.
    """

    def __init__(
        self, folder: Path, records: str, tell: Tell = log.warning, heard: Callable[[float], None] | None = None
    ) -> None:
        self.trouble = ""
        self._folder, self._records, self._tell, self._heard = folder, records, tell, heard
        self._places: dict[Path, tuple[int, int]] = {}  # lines and bytes of each file that were shipped
        self._store: Store | None = None
        self._stop = threading.Event()

    def stop(self) -> None:
        """No new lines come: `run` ends when all is shipped, or when it has been tried for long enough."""
        self._stop.set()

    def run(self) -> None:
        """Ships until `stop`, and then the rest."""
        pause_s = PERIOD_S
        while not self._stop.wait(pause_s):
            pause_s = PERIOD_S if self._try() else min(2 * pause_s, LONGEST_PAUSE_S)
        until = time.monotonic() + PATIENCE_S
        while not (self._try() and not self._left()) and time.monotonic() < until:
            time.sleep(PERIOD_S)
        if self._left():
            self._tell(
                f"records: what could not be written waits in {self._folder / FOLDER}, and is written by the next "
                "command with this folder and these records."
            )
        if self._store is not None:
            self._store.close()

    def waiting(self) -> int:
        """Bytes in the spool that were not shipped yet."""
        waiting = 0
        for path in spool_files(self._folder):
            with contextlib.suppress(FileNotFoundError):  # it was shipped meanwhile
                waiting += path.stat().st_size - self._places.get(path, (0, 0))[1]
        return waiting

    def ship(self, store: Store, only_left: bool = False) -> bool:
        """Ships all that lies there, or what nobody holds any more; false where another process is at it.

        Only one process of a folder ships at a time.
        """
        files = self._left() if only_left else spool_files(self._folder)
        # Others of this folder ship and delete files too: what is known of these goes with them.
        self._places = {path: self._places[path] for path in files if path in self._places}
        if not files:
            return True
        try:
            lock = SessionLock(self._folder / FOLDER, LOCK)
        except BlockingIOError:
            return False
        try:
            for path in files:
                self._ship_file(store, path)
        finally:
            lock.release()
        return True

    def _try(self) -> bool:
        try:
            self._store = self._store or Store(self._folder, records=self._records)
            is_shipped = self.ship(self._store)
        except Exception as error:
            if not isinstance(error, GuideError | OSError):  # our own fault: what waits is shipped when it is mended
                log.exception("records could not be shipped")
            if self._store is not None:
                self._store.close()
                self._store = None
            if not self.trouble:
                kept = f"what happens is kept in {self._folder / FOLDER} meanwhile"
                self._tell(f"records: {error} Sessions go on, {kept}.")
            self.trouble = str(error)
            return False
        if is_shipped and self.trouble:
            self.trouble = ""
            self._tell("records: the database answers again, what was kept is written; nothing was lost.")
        return True

    def _left(self) -> list[Path]:
        return [path for path in spool_files(self._folder) if not is_alive(path.parent, path.name)]

    def _ship_file(self, store: Store, path: Path) -> None:
        named = _NAMED.fullmatch(path.name)
        if named is None or not path.exists():
            return
        is_held = is_alive(path.parent, path.name)  # asked first: what nobody holds does not grow any more
        lines, place = self._places.get(path, (int(named["first"]), 0))
        alone = 0  # so many lines are shipped one by one, as one of them is refused
        while entries := list(itertools.islice(read_entries(path, place), 1 if alone else MOST_LINES)):
            began = time.monotonic()
            try:
                is_wanted = store.ship(named["spool"], named["session"], lines, [entry for entry, _ in entries])
            except InputError as error:  # however often it were tried
                if len(entries) > 1:
                    alone = len(entries)
                    continue
                _set_aside(path, entries[0][0], error)
                is_wanted = store.ship(named["spool"], named["session"], lines + 1, [])  # it counts as shipped
            alone = max(0, alone - 1)
            if self._heard is not None:
                self._heard(time.monotonic() - began)
            lines, place = lines + len(entries), entries[-1][1] if is_wanted else path.stat().st_size
            self._places[path] = lines, place
        if not is_held:
            path.unlink(missing_ok=True)


def _set_aside(path: Path, entry: Entry, error: InputError) -> None:
    """Keeps a line that was refused beside its spool."""
    refused = path.with_suffix(".refused")
    if not refused.exists():
        log.warning("%s What is refused is not stored, and kept in %s.", error, refused)
    file = GrowingFile(refused, refused.stat().st_size if refused.exists() else 0)
    try:
        file.append(json.dumps(entry).encode() + b"\n")
        file.flush()
    finally:
        file.close()
