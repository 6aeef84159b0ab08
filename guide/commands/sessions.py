"""`python -m guide sessions`: list, filter, delete and export what was recorded."""

from __future__ import annotations

import csv
import json
import shlex
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guide.commands.console import table_console
from guide.commands.report import write_report
from guide.domain import AlertKind
from guide.errors import InputError, OutputError
from guide.record.retention import drop_old_pictures
from guide.record.shipping import find_address, opened
from guide.record.store import Store
from guide.record.tables import cell
from guide.record.values import STATE_WORDS, SessionFilter, SessionState, StoredSession


@dataclass(frozen=True)
class SessionsOptions:
    """List, export or delete recorded sessions."""

    data: Path = Path("sessions")
    """The folder of the sessions."""
    records: str | None = field(default=None, repr=False)  # it may hold a password
    """Where the records are, if not in that folder: postgresql://USER@HOST/DATABASE, by default CNC_RECORDS."""
    person: str | None = None
    """Only sessions of this person."""
    bundle: str | None = None
    """Only sessions with this bundle, given as its folder or name."""
    since: str | None = None
    """Only sessions that began on this day (YYYY-MM-DD) or later."""
    until: str | None = None
    """Only sessions that began on this day or earlier."""
    alert: AlertKind | None = None
    """Only sessions in which an alert of this kind was raised."""
    state: SessionState | None = None
    """Only sessions in this state."""
    jsonl: bool = False
    """Print one JSON object per line instead of a table."""
    list: bool = False
    """List them; the default unless something else is asked for."""
    delete: tuple[str, ...] = ()
    """Delete these sessions with all that belongs to them; needs --yes."""
    yes: bool = False
    """Really delete."""
    export: Path | None = None
    """Write the chosen sessions to this folder: a report each, and a table of all."""


def main(options: SessionsOptions) -> None:
    """Runs the command."""
    console = table_console()
    with opened(options.data, find_address(options.records)) as store:
        drop_old_pictures(store, time.time())
        if options.delete:
            _delete(store, options, console)
            return
        found = store.sessions(make_filter(options))
        if options.export is not None:
            _export(store, found, options.export, console)
        elif options.jsonl:
            for one in found:
                console.out(json.dumps(plain(one), ensure_ascii=False), highlight=False)
        else:
            _show(found, options, console)


def make_filter(options: SessionsOptions) -> SessionFilter:
    """What the options ask for; days are those of the place where the machine stands."""
    since = None if options.since is None else _day(options.since).timestamp()
    until = None if options.until is None else (_day(options.until) + timedelta(days=1)).timestamp()
    return SessionFilter(options.person, options.bundle, since, until, options.alert, options.state)


def plain(session: StoredSession) -> dict[str, object]:
    """A session for JSON and tables."""
    facts = session.facts
    length_s = round(session.at, 1)
    return {
        "session": session.id,
        "started": datetime.fromtimestamp(facts.started).astimezone().isoformat(timespec="seconds"),
        "length_s": length_s,
        "state": session.state,
        "verdict": session.verdict,
        "person": facts.person,
        "bundle": facts.bundle,
        "source": facts.source,
        "frames": session.frames,
        "alerts": session.alerts,
    }


def _day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d")
    except ValueError as cause:
        raise InputError(f"a day is written like 2030-01-31, got {text!r:.40}.") from cause


def _show(found: tuple[StoredSession, ...], options: SessionsOptions, console: Console) -> None:
    if not found:
        is_filtered = make_filter(options) != SessionFilter()
        record = "no session yet. Record one with: python -m guide watch SOURCE --record"
        console.print("no session fits: leave out a filter." if is_filtered else record, markup=False, soft_wrap=True)
        return
    rows = [_cells(one) for one in found]
    shown = [name for name in rows[0] if name != "person" or any(row[name] for row in rows)]  # room for the others
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in shown:
        is_free = name in ("source", "person", "bundle")
        justify: Literal["left", "right"] = "right" if name in ("length", "alerts") else "left"
        table.add_column(name, overflow="fold", no_wrap=not is_free, justify=justify)
    for row in rows:
        table.add_row(*(Text(row[name]) for name in shown))  # names are the user's: brackets in them are no markup
    console.print(table)
    folder = "" if options.data == SessionsOptions().data else f" --data {shlex.quote(str(options.data))}"
    folder += "" if options.records is None else " --records ADDRESS"  # which may hold a password
    console.print(f"next: python -m guide report {found[-1].id}{folder}", markup=False, soft_wrap=True)


def _cells(session: StoredSession) -> dict[str, str]:
    facts = session.facts
    source = facts.source if "://" in facts.source else Path(facts.source).name
    return {
        "session": session.id,
        "length": f"{session.at:.0f} s",
        "verdict": session.verdict or STATE_WORDS[session.state],
        "source": source,
        "person": facts.person,
        "bundle": Path(facts.bundle).name,
        "alerts": str(session.alerts),
    }


def _delete(store: Store, options: SessionsOptions, console: Console) -> None:
    chosen = [store.find(name) for name in options.delete]
    if not options.yes:
        names = ", ".join(one.id for one in chosen)
        raise InputError(f"{names} would be deleted with pictures, labels and actions: add --yes to do it.")
    for one in chosen:
        store.delete(one.id)
        console.print(f"deleted {one.id}", markup=False)


def _export(store: Store, found: tuple[StoredSession, ...], folder: Path, console: Console) -> None:
    if not found:
        raise InputError("no session fits, there is nothing to export: leave out a filter.")
    for one in found:
        write_report(store, one, folder / one.id)
    try:
        with (folder / "sessions.csv").open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(plain(found[0])))
            table.writeheader()
            table.writerows({name: cell(value) for name, value in plain(one).items()} for one in found)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be written ({cause.strerror}): choose another folder.") from cause
    console.print(f"wrote {len(found)} sessions and sessions.csv to {folder}", markup=False, soft_wrap=True)
