"""A session whose server was killed goes on: what was stored of it is run through a fresh one, up to its last frame."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from guide.domain import Alert, Update
from guide.errors import GuideError, InputError
from guide.perceive.perceiver import Percept
from guide.procedure.actions import Action
from guide.record.lock import is_alive
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.spool import spool_files
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import Contents, SessionFacts, StoredAction, StoredPercept, StoredSession
from guide.session import Session

log = logging.getLogger(__name__)

RESUME_S = 60.0
"""A headset that comes back so soon after its server was killed goes on with its session."""
LEFT_S = 3.0
"""How long a headset waits for what its killed server left in the spool of this machine."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A session that goes on, what was stored of it, and the time of its own at which it does."""

    session: Session
    stored: StoredSession
    contents: Contents
    at: float


def resume(
    data: Path, records: str | None, source: str, now: float, make: Callable[[], Session],
    facts_of: Callable[[Session], SessionFacts], is_fleet: bool = False,
) -> Earlier | None:  # fmt: skip
    """The killed session of the same source, person, bundle and settings, where it stood; None where there is none.

    One that cannot be gone on with exactly stays as it is. `make` gives a fresh session, `facts_of` says what it is.
    In a fleet whoever serves the source from now on goes on with its session, here or from another machine.
    """
    if records is None and not (data / DATABASE).is_file():
        return None
    try:
        with Store(data, is_new=False, records=records) as store:
            if is_fleet:
                _close_neighbours(store, source)
            goes_round = is_fleet and records is not None  # it may have been at several machines
            stored = (store.take_over if goes_round else store.killed)(source, since=now - RESUME_S)
            if stored is None or stored.ended is None:
                return None
            contents = store.contents(stored.id)
        session, facts = make(), stored.facts
        if facts != replace(facts_of(session), id=facts.id, started=facts.started, keep_days=facts.keep_days):
            return None
        seen = [one for one in read_percepts(data / stored.id / PERCEPTS_FILE) if one.number < stored.frames]
        said = [one for update in play_back(session, seen, contents.actions) for one in update.guidance]
        if len(seen) != stored.frames or [one for one in said if isinstance(one, Alert)] != list(contents.alerts):
            raise InputError("not all of it was stored.")
    except (GuideError, OSError) as error:  # guidance does not wait for it
        log.warning("the session of %s cannot be gone on with, a new one begins: %s", source, error)
        return None
    return Earlier(session, stored, contents, stored.at + max(0.0, now - stored.ended))


def _close_neighbours(store: Store, source: str) -> None:
    """Closes the source's session if another process of this machine was killed with it, once all it left is shipped.

    What ships the spool of this folder does so all the time; a session with a process that lives is left alone.
    """
    session = store.newest_of(source)
    if session is None or is_alive(store.place(session)):
        return
    until = time.monotonic() + LEFT_S
    while spool_files(store.folder, session) and time.monotonic() < until:
        time.sleep(LEFT_S / 100)
    store.close_left(session)


def play_back(session: Session, seen: Iterable[StoredPercept], actions: Sequence[StoredAction]) -> Iterator[Update]:
    """Runs what was seen through a session, the operator's actions in their places: all updates that gives."""
    waiting, frames = deque(actions), 0
    for one in seen:
        yield from _act(session, waiting, until=one.number)
        yield from session.perceived(Percept(one.at, one.embedding))
        frames = one.number + 1
    yield from _act(session, waiting, until=frames)


def _act(session: Session, waiting: deque[StoredAction], until: int) -> Iterator[Update]:
    while waiting and waiting[0].after <= until:
        said = session.act(read_stored(waiting.popleft()))
        if (label := session.last_label) is not None:
            yield Update(label, guidance=said)


def read_stored(stored: StoredAction) -> Action:
    """The action as it was taken."""
    return Action(
        stored.kind,  # type: ignore[arg-type]  # looked at by Action itself
        stored.at,
        stored.target,
        stored.step,
        stored.answer,
        stored.snooze_s,
        stored.person,
        stored.comment,
    )
