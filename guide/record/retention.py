"""Deletes the pictures of sessions whose days are over; what was seen, said and done stays.

A report page that was written beside them holds their stills, so it goes with them; it can be written again without.
"""

from __future__ import annotations

import logging
from pathlib import Path

from guide.record.store import Store

log = logging.getLogger(__name__)

DAY_S = 86_400.0
PICTURE_SUFFIXES = frozenset({".mp4", ".webm", ".jpg"})
PAGE_SUFFIXES = frozenset({".html", ".new"})  # a page, or one whose writing was cut short
REPORT = "report"


def drop_old_pictures(store: Store, now: float) -> tuple[str, ...]:
    """Deletes the pictures of closed sessions that began more than their days before `now`; gives their names."""
    over = [
        one.id
        for one in store.sessions()
        if one.state != "open"
        and one.facts.keep_days is not None
        and one.facts.started + one.facts.keep_days * DAY_S < now
    ]
    return tuple(session for session in over if _drop(store, session))


def _drop(store: Store, session: str) -> bool:
    """Whether there was something to delete."""
    place = store.place(session)
    pictures = [path for path in _files(place) if path.suffix in PICTURE_SUFFIXES]
    pictures += [path for path in _files(place / REPORT) if path.suffix in PAGE_SUFFIXES]
    for path in pictures:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s should be deleted by now, but cannot be (%s).", path, error.strerror)
            return False
    if pictures:
        store.forget_pictures(session)
    return bool(pictures)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # it left no files, or they are gone
        return []
