"""`python -m guide replay`: run a stored session through the same loop again, and say whether it gives the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from guide.bundle import fingerprint, read_bundle
from guide.commands.watch import JsonLines, Terminal
from guide.domain import Alert, Question, Resolution, Update
from guide.errors import BundleError, InputError
from guide.ingest.base import BY_HAND
from guide.networks import Networks, start_networks
from guide.perceive.embedder import Device
from guide.procedure.reading import from_plain
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.shipping import find_address, opened
from guide.record.values import Contents, StoredPercept, StoredSession
from guide.resuming import play_back
from guide.session import Session
from guide.settings import LiveSettings

DIFFERS = 1


@dataclass(frozen=True)
class ReplayOptions:
    """Run a recorded session through the loop again; the same bundle gives the same alerts."""

    session: Annotated[str, tyro.conf.Positional]
    """The session's name, the beginning of it, or last."""
    data: Path = Path("sessions")
    """The folder of the sessions."""
    records: str | None = field(default=None, repr=False)  # it may hold a password
    """Where the records are, if not in that folder: postgresql://USER@HOST/DATABASE, by default CNC_RECORDS."""
    bundle: Path | None = None
    """Another bundle to try on the session; without it, the one it was recorded with."""
    jsonl: bool = False
    """Print one JSON object per line instead of the terminal view."""
    device: Device = "auto"
    """Where to compute: auto, cpu or cuda."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored session ready to run: the session, what was seen, and what was said then."""

    stored: StoredSession
    contents: Contents
    session: Session
    seen: Path

    def updates(self) -> Iterator[Update]:
        """All updates, actions in their places; the end is judged only where it was."""
        actions, end = self.contents.actions, self.stored.frames
        seen = (self._require_fit(one) for one in _in_order(read_percepts(self.seen), end))
        yield from play_back(self.session, seen, [one for one in actions if one.after <= end])
        if self.stored.state == "finished" or self.contents.outcomes:
            yield from self.session.finish(is_cut_off=self.stored.state == "interrupted")
            yield from play_back(self.session, (), [replace(one, after=0) for one in actions if one.after > end])

    def _require_fit(self, seen: StoredPercept) -> StoredPercept:
        bundle = self.session.bundle
        width = 1 if self.session.is_by_hand else bundle.embedding_width
        if len(seen.embedding) != width:
            raise InputError(
                f"{bundle.folder} sees with another network than session {self.stored.id} did: replay its video with "
                "`python -m guide watch` instead."
            )
        return seen

    def missing(self) -> int:
        """Frames that the loop processed but that were not stored."""
        return self.stored.frames - sum(1 for _ in _in_order(read_percepts(self.seen), self.stored.frames))


def open_replay(options: ReplayOptions) -> Replay:
    """The stored session and a fresh one to run it through; one sentence where that cannot be."""
    with opened(options.data, find_address(options.records)) as store:
        stored = store.find(options.session)
        contents = store.contents(stored.id)
        seen = store.place(stored.id) / PERCEPTS_FILE
    if stored.state == "open":
        raise InputError(f"session {stored.id} is still being recorded: replay it when it has ended.")
    bundle = read_bundle(options.bundle or Path(stored.facts.bundle))
    if options.bundle is None and fingerprint(bundle) != stored.facts.bundle_hash:
        raise InputError(
            f"{bundle.folder} is not the bundle that session {stored.id} was recorded with "
            f"({stored.facts.bundle_hash}): give that one, or this one as --bundle {bundle.folder} to try it."
        )
    networks = Networks() if stored.facts.source == BY_HAND else start_networks(bundle, options.device)
    session = Session(bundle, networks, _settings(stored))
    session.rename(_names(stored))
    return Replay(stored, contents, session, seen)


def differences(contents: Contents, updates: Iterable[Update]) -> list[str]:
    """How what is said now differs from what was said then, a line each; nothing where it is the same."""
    said = [one for update in updates for one in update.guidance]
    lines = []
    for kind, old in ((Alert, contents.alerts), (Resolution, contents.resolutions), (Question, contents.questions)):
        then, now = list[object](old), [one for one in said if isinstance(one, kind)]
        lines += [f"- {one}" for one in then if one not in now]
        lines += [f"+ {one}" for one in now if one not in then]
        if not lines and then != now:
            lines.append(f"{kind.__name__.lower()}s came in another order")
    return lines


def main(options: ReplayOptions) -> None:
    """Runs the command; exits with 1 where the same bundle does not give the same."""
    console, aside = Console(highlight=False), Console(stderr=options.jsonl, highlight=False)
    replay = open_replay(options)
    view = JsonLines(console, replay.session, False) if options.jsonl else Terminal(console, replay.session)
    updates = []
    for update in replay.updates():
        view.show(update)
        updates.append(update)
    view.end()
    for line in (lines := _verdict(replay, updates, options.bundle)):
        aside.print(f"  {line}", markup=False, emoji=False, soft_wrap=True)
    if options.bundle is None and len(lines) > 1 and not replay.missing():
        raise SystemExit(DIFFERS)


def _verdict(replay: Replay, updates: list[Update], other: Path | None) -> list[str]:
    count = len({alert.id for alert in replay.contents.alerts})
    found = differences(replay.contents, updates)
    name = f"session {replay.stored.id}, {replay.stored.state}"
    gap = f"; {missing} frames were not stored, so it cannot be exact" if (missing := replay.missing()) else ""
    if not found:
        return [f"{name}: the same alerts as recorded ({count}){gap}"]
    source = f"with {other}" if other else "although the bundle is the same"
    return [f"{name}: it differs from the recording {source}{gap} (- then, + now)", *found]


def _in_order(seen: Iterable[StoredPercept], frames: int) -> Iterator[StoredPercept]:
    """What was seen up to the last frame that the store knows of: later ones have no labels there."""
    for one in seen:
        if one.number >= frames:
            return
        yield one


def _settings(stored: StoredSession) -> LiveSettings:
    try:
        return LiveSettings(**json.loads(stored.facts.settings))
    except (TypeError, ValueError) as cause:
        raise InputError(
            f"session {stored.id} was recorded with settings this program does not know ({cause}): use the program "
            "that recorded it."
        ) from cause


def _names(stored: StoredSession) -> dict[int, str]:
    """The names under which the steps were shown then; evidence mentions them."""
    try:
        return {step.number: step.name for step in from_plain(json.loads(stored.facts.procedure)).steps}
    except (ValueError, BundleError):  # stored by another version: the bundle's own names will do
        return {}
