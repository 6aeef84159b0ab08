"""`python -m guide report`: a stored session as a page, a table, JSON, subtitles and ELAN tiers."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from guide.errors import BundleError, OutputError
from guide.procedure.reading import from_plain
from guide.record.elan import write_elan
from guide.record.page import to_html
from guide.record.retention import REPORT
from guide.record.session_report import SessionReport, StepFacts, make_report, to_plain
from guide.record.shipping import find_address, opened
from guide.record.store import Store
from guide.record.tables import to_csv, to_tiers, to_vtt
from guide.record.values import StoredSession
from guide.whole_file import write_whole

log = logging.getLogger(__name__)

LARGEST_STILL_BYTES = 4 * 2**20


@dataclass(frozen=True)
class ReportOptions:
    """Write the report of a recorded session as HTML, CSV, JSON, WebVTT and ELAN."""

    session: Annotated[str, tyro.conf.Positional]
    """The session's name, the beginning of it, or last."""
    out: Path | None = None
    """The folder to write to; without it, the folder `report` within the session's."""
    data: Path = Path("sessions")
    """The folder of the sessions."""
    records: str | None = field(default=None, repr=False)  # it may hold a password
    """Where the records are, if not in that folder: postgresql://USER@HOST/DATABASE, by default CNC_RECORDS."""


def main(options: ReportOptions) -> None:
    """Runs the command."""
    with opened(options.data, find_address(options.records)) as store:
        stored = store.find(options.session)
        written = write_report(store, stored, options.out or store.place(stored.id) / REPORT)
    console = Console(highlight=False, markup=False)
    for path in written:
        console.print(f"wrote {path}", soft_wrap=True)
    console.print(f"open {written[0]} in a browser", soft_wrap=True)


def write_report(store: Store, stored: StoredSession, folder: Path) -> tuple[Path, ...]:
    """Writes all files of the report; the page comes first."""
    report = read_report(store, stored)
    if lacking := store.fetch_pictures(stored.id):
        log.warning("%s The report is written without pictures.", lacking)
    texts = {
        "report.html": to_html(report, read_stills(report, store.place(stored.id))),
        "session.csv": to_csv(report),
        "session.json": json.dumps(to_plain(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        "session.vtt": to_vtt(report),
    }
    try:
        for name, text in texts.items():
            write_whole(folder / name, text, newline="")
    except OSError as cause:
        raise OutputError(f"{folder} cannot be written ({cause.strerror}): choose another with --out.") from cause
    write_elan(folder / "session.eaf", to_tiers(report), report.clips[0].file if report.clips else None)
    return tuple(folder / name for name in (*texts, "session.eaf"))


def read_report(store: Store, stored: StoredSession) -> SessionReport:
    """The report of a stored session, with the names and durations it knew when it ran."""
    return make_report(stored, store.contents(stored.id), _step_facts(stored.facts.procedure))


def read_stills(report: SessionReport, folder: Path) -> dict[str, bytes]:
    """The stills that the report mentions, as far as they can still be read."""
    stills = {}
    for file in [*(visit.still for visit in report.visits), *(story.still for story in report.alerts)]:
        if file is None or Path(file).name != file:
            continue
        try:
            if (folder / file).stat().st_size <= LARGEST_STILL_BYTES:
                stills[file] = (folder / file).read_bytes()
        except OSError:  # its days were over, or somebody deleted it: the page says that there is none
            continue
    return stills


def _step_facts(procedure: str) -> list[StepFacts]:
    plain: Any = {}
    try:
        plain = json.loads(procedure)
        learned = from_plain(plain)
    except (ValueError, BundleError):  # stored by another version: the report tells names without durations
        return _names(plain)
    found = {step.number: learned.statistics_of(step.number) for step in learned.steps}
    return [
        StepFacts(step.number, step.name, seen.durations_s if (seen := found[step.number]) else ())
        for step in learned.steps
    ]


def _names(plain: Any) -> list[StepFacts]:
    """The names of the steps in a procedure that this version cannot read otherwise."""
    try:
        return [StepFacts(int(one["number"]), str(one["name"]), ()) for one in plain["steps"]]
    except (KeyError, TypeError, ValueError):
        return []
