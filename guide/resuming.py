"""A session whose server was killed goes on: what was stored of it is run through a fresh one, up to its last frame."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from guide.domain import Alert, Update
from guide.errors import GuideError, InputError
from guide.perceive.perceiver import Percept
from guide.procedure.actions import Action
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.store import DATABASE, Store
from guide.record.values import Contents, SessionFacts, StoredAction, StoredPercept, StoredSession
from guide.session import Session

log = logging.getLogger(__name__)

RESUME_S = 60.0
"""A headset that comes back so soon after its server was killed goes on with its session."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A session that goes on, what was stored of it, and the time of its own at which it does."""

    session: Session
    stored: StoredSession
    contents: Contents
    at: float


def resume(
    data: Path, source: str, now: float, make: Callable[[], Session], facts_of: Callable[[Session], SessionFacts]
) -> Earlier | None:
    """The killed session of the same source, person, bundle and settings, where it stood; None where there is none.

    One that cannot be gone on with exactly stays as it is. `make` gives a fresh session, `facts_of` says what it is.
    """
    if not (data / DATABASE).is_file():
        return None
    try:
        with Store(data, is_new=False) as store:
            stored = store.killed(source, since=now - RESUME_S)
            if stored is None or stored.ended is None:
                return None
            contents = store.contents(stored.id)
        session = make()
        if not _is_alike(stored.facts, facts_of(session)):
            return None
        seen = [one for one in read_percepts(data / stored.id / PERCEPTS_FILE) if one.number < stored.frames]
        said = [one for update in play_back(session, seen, contents.actions) for one in update.guidance]
        if len(seen) != stored.frames or [one for one in said if isinstance(one, Alert)] != list(contents.alerts):
            raise InputError("not all of it was stored.")
    except GuideError as error:  # guidance does not wait for it
        log.warning("the session of %s cannot be gone on with, a new one begins: %s", source, error)
        return None
    return Earlier(session, stored, contents, stored.at + max(0.0, now - stored.ended))


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


def _is_alike(facts: SessionFacts, wanted: SessionFacts) -> bool:
    return facts == replace(wanted, id=facts.id, started=facts.started, keep_days=facts.keep_days)
