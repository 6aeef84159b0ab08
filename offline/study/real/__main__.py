"""`python -m offline.study.real DATA_DIR`: every real set at hand on one page, from steps found to flags."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import tyro
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from offline.progress import open_console
from offline.study.evaluation.evaluation_report import write_files
from offline.study.evaluation.teaching import ALL, NONE, Way, read_numbers, ways
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.leaving import LeavingOut
from offline.study.fault_trial.mistakes import Mistaken
from offline.study.flag_tables import fault_table, missed_table
from offline.study.jobs import Job, ShiftOptions, do_all, require_from
from offline.study.keep import Kept, Plain
from offline.study.real.failures import worst
from offline.study.real.figures import as_json, line_table
from offline.study.real.finding import FLOOR, Finding
from offline.study.real.page import make_page
from offline.study.real.results import Result, result_of
from offline.study.real.sets import Reading, RealSet, read_sets

CARRIED: Final = 5
"""Choices of the labelled recordings that D is the mean of, at least: carrying is quick, and choices differ."""
FEWEST_TO_FIND: Final = 2
"""Recordings without labels that a finder can compare."""


@dataclass(frozen=True)
class RealOptions(ShiftOptions):
    """Find steps, label live and flag on every real set in a folder (captaincook4d, g1, lego_head), each recording
    left out in turn; print one page, and write it as HTML with confusions and failures, and its figures as JSON."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Holds the sets; one that is not there is left out with a sentence."""
    out: Path = Path(".cache/real")
    """Folder to write page.html and figures.json to."""
    task: str = ""
    """Which of them, with commas between: recipe numbers, g1, lego_head; all where none is named."""
    labelled: str = "0,2,all"
    """How many of the others come with their true labels."""
    choices: int = 1
    """Of the ways to choose the labelled ones, so many are tried for each recording left out."""
    each: int = 1
    """Faults of each kind (a step cut out, two exchanged, one repeated) made from a recording, at most."""
    seed: int = 1
    """Chooses the faults. From 0 up."""
    backbone_weights: Path | None = None
    """A file with the trunk's weights, where it cannot be downloaded."""


def main(options: RealOptions) -> None:
    """Runs the command."""
    console, shift = open_console(), options.shift()
    counts, conditions = _checked(options)
    words = tuple(word.strip() for word in options.task.split(",") if word.strip())
    reading = Reading(options.folder, words, options.cache, options.backbone_weights)
    sets, absent = read_sets(reading, console)
    jobs = [job for _, job in sorted(_jobs(sets, counts, options.choices, conditions), key=lambda pair: pair[0])]
    done = do_all(jobs, Kept(options.cache / "real" / "done"), shift, console)
    rows = [row for each in done for row in each]
    lacking = sum(not each for each in done)
    notes = [*absent, *(f"{lacking} of {len(jobs)} parts are not done." for _ in range(lacking > 0))]
    results = [result_of(one, rows) for one in sets]
    tables = _tables(results, rows)
    _print(results, tables, notes, console)
    command = shlex.join(["python", "-m", "offline.study.real", *sys.argv[1:]])
    files = {"page.html": make_page(results, tables, notes, command), "figures.json": as_json(results, notes, command)}
    write_files(options.out, files)
    console.print(f"wrote {' and '.join(files)} to {options.out}\nnext: open {options.out / 'page.html'} in a browser")


def _checked(options: RealOptions) -> tuple[list[str], Conditions]:
    """What the options ask for; raises InputError with one sentence on the first that makes no sense."""
    counts = read_numbers(options.labelled)
    require_from("choices", options.choices, 1)
    require_from("each", options.each, 1)
    require_from("seed", options.seed, 0)
    return counts, Conditions(options.cache.resolve(), ("on",), options.each, seed=options.seed)


def _jobs(
    sets: Sequence[RealSet], counts: Sequence[str], choices: int, conditions: Conditions
) -> list[tuple[int, Job]]:
    """All jobs with their turns: what tells most comes first, for a run that is cut off."""
    turns = {count: turn for turn, count in enumerate([FLOOR, ALL, "mistakes", *reversed(counts)])}
    jobs: list[tuple[int, Job]] = []
    for one in sets:
        task, recordings = one.task, len(one.task.recordings)
        jobs.append((turns[FLOOR], Finding(task, Way(FLOOR), conditions)))
        if one.mistaken is not None:
            jobs.append((turns["mistakes"], Mistaken(task, one.mistaken, conditions)))
        for way in ways(counts, recordings, max(choices, CARRIED), conditions.seed):
            if way.count != ALL:
                jobs.append((turns[way.count], Finding(task, way, conditions)))
        for number in range(recordings):
            for way in ways(counts, recordings - 1, choices, number):
                if way.count != NONE or recordings > FEWEST_TO_FIND:
                    job = LeavingOut(task, number, way, conditions, is_shuffled=False, is_labelled=True)
                    jobs.append((turns.get(way.count, turns[ALL]), job))
    return jobs


def _tables(results: Sequence[Result], rows: Sequence[Plain]) -> list[Table]:
    flags = [row for row in rows if row["kind"] not in ("found", "live", "mistaken")]
    tables = [
        line_table(results),
        fault_table(flags, "flags on faults made in recordings left out", ("labelled",)),
        missed_table(rows, "steps really missed, all clean recordings labelled", ()),
    ]
    return [table for table in tables if table.row_count]


def _print(results: Sequence[Result], tables: Sequence[Table], notes: Sequence[str], console: Console) -> None:
    for table in tables:
        console.print(table)
    for result in results:
        console.print(result.sentence(), soft_wrap=True)
    for result in results:
        console.print(f"{result.title}, the worst failures:", style="bold")
        for failure in worst(result):
            console.print(f"  {failure.title}\n    {failure.recording}: {'; '.join(failure.evidence)}", soft_wrap=True)
    for note in notes:
        console.print(note, soft_wrap=True)


if __name__ == "__main__":
    entry(RealOptions, main)
