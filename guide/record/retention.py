"""Deletes pictures and replay data of sessions whose days are over, and the oldest where all take too much room.

What was said and done stays. A report page that was written beside pictures holds their stills, so it goes with
them; it can be written again without.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guide.errors import GuideError, OutputError
from guide.record.keeping import read_keeping
from guide.record.lock import is_alive
from guide.record.percepts import PERCEPTS_FILE
from guide.record.picture_address import SETTLED_S, PictureAddress, find_pictures, list_pictures
from guide.record.private_folder import is_nearly_full
from guide.record.store import DAY_S, Store
from guide.record.values import SESSION_ID, SessionFilter

log = logging.getLogger(__name__)

PERIOD_S = 3_600.0
MOVE_EVERY_S = 60.0
PAGE_SUFFIXES = frozenset({".html"})  # a page, or one whose writing was cut short
REPORT = "report"


def drop_old_pictures(store: Store, now: float, most_bytes: float = 0.0) -> tuple[str, ...]:
    """Deletes pictures and replay data of closed sessions that began more than their days before `now`, everywhere.

    Gives the names of those that lost pictures.

    Where the files of all sessions take more than `most_bytes`, pictures of the oldest go as well, and if that is not
    enough what replays need; 0 is no limit.
    """
    now = store.trusted_time(now)
    closed = [one for one in store.sessions() if one.state != "open"]
    address = find_pictures()
    moved = set() if address is None else store.with_pictures()
    over = [
        one.id
        for one in closed
        if one.facts.keep_days is not None and one.facts.started + one.facts.keep_days * DAY_S < now
    ]
    gone = [session for session in over if _drop(store, session, address if session in moved else None)]
    for session in over:
        _unlink(store.place(session) / PERCEPTS_FILE)
    if most_bytes:
        gone += _drop_to_fit(store, [one.id for one in closed], most_bytes)
    return tuple(gone)


def move_pictures(folder: Path, records: str | None = None, session: str | None = None) -> None:
    """Moves pictures of one closed session, or of all that have settled, to their address, if there is one.

    Raises OutputError where it refuses.
    """
    address, before = find_pictures(), None if session else time.time() - SETTLED_S
    found = [path for path in folder.glob(session or "*-*-*/") if SESSION_ID.fullmatch(path.name)]
    places = [path for path in found if list_pictures(path) and not is_alive(path)]
    if address is None or not places:
        return
    with Store(folder, records=records) as store:
        for place in places:
            named = SessionFilter(id=place.name)
            if any(one.state != "open" for one in store.sessions(named)):
                address.move(place, before)
                if not store.sessions(named):  # it was deleted meanwhile, perhaps on another machine
                    address.delete(place.name)


@contextmanager
def tidying(folder: Path, most_bytes: float = 0.0, records: str | None = None) -> Iterator[None]:
    """Within it old pictures are deleted every hour, the first time at once, and sessions left open are closed.

    Pictures that shall lie at an address go there every minute.

    A full disk is told of and waited for; raises OutputError where the folder can never be used.
    """
    try:
        _tidy_up(folder, most_bytes, records)
    except OutputError as error:
        if not is_nearly_full(folder):
            raise
        log.warning("%s Sessions are guided all the same, and recorded once there is room.", error)
    is_over = threading.Event()

    def work() -> None:
        tidied = time.monotonic()
        while not is_over.wait(PERIOD_S if find_pictures() is None else MOVE_EVERY_S):
            try:
                if time.monotonic() - tidied >= PERIOD_S:
                    tidied = time.monotonic()
                    _tidy_up(folder, most_bytes, records)
                move_pictures(folder, records)
            # Also of a store that a newer program brought up to date, or a folder that somebody deleted meanwhile.
            except (GuideError, OSError) as error:
                log.warning("old pictures cannot be deleted or moved: %s", error)
            except Exception:  # our own fault: pictures must age all the same
                log.exception("old pictures could not be deleted or moved")

    thread = threading.Thread(target=work, name="retention", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(5.0)


def _tidy_up(folder: Path, most_bytes: float, records: str | None) -> None:
    told = read_keeping(folder)
    with Store(folder, records=records) as store:
        store.close_orphans()  # of a server that was killed
        drop_old_pictures(store, time.time(), most_bytes if told is None else told.most_bytes)


def _drop_to_fit(store: Store, sessions: list[str], most_bytes: float) -> list[str]:
    """Deletes pictures, then what replays need, oldest session first, until the folder takes no more than that.

    Pictures that can go to an address go there instead.
    """
    total = sum(_size(path) for path in store.folder.rglob("*"))
    address, gone = find_pictures(), []
    for session in sessions:
        if total > most_bytes:
            place = store.place(session)
            before = _pictures_bytes(place)
            if address is None:
                is_gone = _drop(store, session)
            else:  # what lies at the address stays, and stays known
                is_gone = not _is_moved(address, place) and all(_unlink(path) for path in _pictures(place))
            gone += [session] if is_gone and before else []
            total -= before - _pictures_bytes(place)
    for session in sessions:
        seen = store.place(session) / PERCEPTS_FILE
        if total > most_bytes and seen.is_file():
            total -= _size(seen)
            _unlink(seen)
    return gone


def _drop(store: Store, session: str, address: PictureAddress | None = None) -> bool:
    """Whether there was something to delete, in the folder and at the address where some may lie, and it is gone."""
    pictures = _pictures(store.place(session))
    if not (pictures or address) or not all(_unlink(path) for path in pictures):
        return False
    try:
        if address is not None:
            address.delete(session)
    except OutputError as error:
        log.warning("%s The pictures of %s should be deleted there by now.", error, session)
        return False
    store.forget_pictures(session)
    return True


def _is_moved(address: PictureAddress, place: Path) -> bool:
    try:
        return address.move(place) > 0
    except OutputError as error:
        log.warning("%s Pictures that should be there are deleted, as the folder is to take no more room.", error)
        return False


def _pictures_bytes(place: Path) -> int:
    return sum(_size(path) for path in _pictures(place))


def _pictures(place: Path) -> list[Path]:
    return list_pictures(place) + [path for path in _files(place / REPORT) if path.suffix in PAGE_SUFFIXES]


def _unlink(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("%s should be deleted by now, but cannot be (%s).", path, error.strerror)
        return False
    return True


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # it left no files, or they are gone
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
