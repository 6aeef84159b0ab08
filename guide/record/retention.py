"""Deletes the pictures of sessions whose days are over; what was seen, said and done stays."""

from __future__ import annotations

import logging
from pathlib import Path

from guide.record.store import Store

log = logging.getLogger(__name__)

DAY_S = 86_400.0
PICTURE_SUFFIXES = frozenset({".mp4", ".webm", ".jpg"})


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
    pictures = [path for path in _files(store.place(session)) if path.suffix in PICTURE_SUFFIXES]
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
