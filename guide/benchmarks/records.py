"""`python -m guide.benchmarks.records`: many sessions write to one PostgreSQL; does the spool keep up with them?

The sessions are real writers with a spool, and one shipper, in one process: what a machine with that many would run.
"""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console

from guide.benchmarks.figures import Figure, Part, machine, processor, tell
from guide.commands.entry import entry
from guide.domain import SettledLabel
from guide.errors import InputError
from guide.record.shipping import Shipper, find_address, open_for_writing
from guide.record.spool import spool_files
from guide.record.store import Store
from guide.record.values import SessionFacts
from guide.record.writer import SessionWriter

SAMPLE_S = 1.0
MOST_GROWTH = 1.5
PATIENCE_S = 60.0


@dataclass(frozen=True)
class RecordsBenchmarkOptions:
    """Let many sessions write to an empty PostgreSQL database, and see how far the spool falls behind."""

    records: str | None = field(default=None, repr=False)
    """The address of an empty database; without, what CNC_RECORDS says. What is written stays there."""
    sessions: int = 200
    """How many write at the same time."""
    rate: float = 5.0
    """Records a second of each."""
    seconds: float = 120.0
    """For how long."""


@dataclass(slots=True)
class Run:
    """What was measured: seconds of each write to the database, bytes that waited at each second, records a session."""

    writes_s: list[float] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    put: int = 0
    drain_s: float = 0.0


def measure(options: RecordsBenchmarkOptions, folder: Path) -> Part:
    """Runs the sessions, and counts what is stored afterwards."""
    address = find_address(options.records)
    if address is None:
        raise InputError("the address of an empty database was expected: give --records postgresql://USER@HOST/NAME.")
    with Store(folder, records=address) as store:
        if store.sessions():
            raise InputError("the database holds sessions already: give an empty one, what is written stays there.")
    run = Run()
    shipper = Shipper(folder, address, heard=run.writes_s.append)
    thread = threading.Thread(target=shipper.run, daemon=True)
    thread.start()
    names = [f"20300102-030405-{number:08x}" for number in range(options.sessions)]
    writers = [_writer(folder, name, address) for name in names]
    _write(writers, options, shipper, run)
    began = time.monotonic()
    for writer in writers:
        writer.close("finished")
    shipper.stop()
    thread.join(PATIENCE_S)
    run.drain_s = time.monotonic() - began
    with Store(folder, records=address) as store:
        stored = [tuple(label.at for label in store.contents(name).labels) for name in names]
    return _figures(options, run, stored, len(spool_files(folder)))


def _writer(folder: Path, name: str, address: str) -> SessionWriter:
    facts = SessionFacts(name, time.time())
    return SessionWriter(folder, facts, open_store=lambda data: open_for_writing(data, name, address))


def _write(writers: list[SessionWriter], options: RecordsBenchmarkOptions, shipper: Shipper, run: Run) -> None:
    """Gives every session its records, each at its time, and looks at the spool every second."""
    began = time.monotonic()
    for number in range(round(options.rate * options.seconds)):
        time.sleep(max(0.0, began + number / options.rate - time.monotonic()))
        for writer in writers:
            writer.put(SettledLabel(float(number), 1, 0.9), frames=number + 1, at=float(number))
        run.put += 1
        if number % max(1, round(SAMPLE_S * options.rate)) == 0:
            run.waiting.append(shipper.waiting())


def _figures(options: RecordsBenchmarkOptions, run: Run, stored: list[tuple[float, ...]], left: int) -> Part:
    given = [float(number) for number in range(run.put)]
    lost = sum(len(set(given) - set(one)) for one in stored)
    twice = sum(len(one) - len(set(one)) for one in stored)
    half = len(run.waiting) // 2
    first, second = median(run.waiting[:half]), median(run.waiting[half:])
    spread = quantiles(run.writes_s, n=100) if len(run.writes_s) > 1 else [0.0] * 99
    figures = (
        Figure("records given", run.put * options.sessions),
        Figure("lost", lost, most=0),
        Figure("stored twice", twice, most=0),
        Figure("spool files left", left, most=0),
        Figure("writes to the database", len(run.writes_s)),
        Figure("a write, median", 1000 * median(run.writes_s), "ms"),
        Figure("a write, p95", 1000 * spread[94], "ms"),
        Figure("waiting, first half, median", first / 1000, "kB"),
        Figure("waiting, second half, median", second / 1000, "kB"),
        Figure("waiting, most", max(run.waiting) / 1000, "kB"),
        Figure("second half to first", second / max(1.0, first), most=MOST_GROWTH),
        Figure("until the last was stored", run.drain_s, "s"),
    )
    title = f"{options.sessions} sessions, {options.rate:g} records a second each, {options.seconds:g} s"
    return Part(title, processor(), figures)


def main(options: RecordsBenchmarkOptions) -> None:
    """Runs the command."""
    with tempfile.TemporaryDirectory(prefix="records-") as folder:
        tell(machine(), [measure(options, Path(folder))], Console(highlight=False), None)


if __name__ == "__main__":
    entry(RecordsBenchmarkOptions, main)
