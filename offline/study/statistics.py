"""The paper's data set table from true step sequences: `python -m offline.study.statistics DIR`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Annotated, Final

import tyro
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from offline.study.datasets.folder import read_all
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import choose_views
from offline.study.published import STATISTICS
from offline.study.tables import grid

PAPER_NAMES: Final = {
    "pc_assembly": "PC Assembly",
    "pc_disassembly": "PC Disassembly",
    "meccano": "Toy Bike Assembly",
    "tent": "Tent Assembly",
    "BaconAndEggs.egtea": "Bacon and Eggs",
    "Cheeseburger.egtea": "Cheese Burger",
    "ContinentalBreakfast.egtea": "Continental Breakfast",
    "GreekSalad.egtea": "Greek Salad",
    "PastaSalad.egtea": "Pasta Salad",
    "Pizza.egtea": "Hot Dog Pizza",
    "TurkeySandwich.egtea": "Turkey Sandwich",
    "Brownie.cmu": "Brownie",
    "Eggs.cmu": "Eggs",
    "Pizza.cmu": "Pepperoni Pizza",
    "Salad.cmu": "Salad",
    "Sandwich.cmu": "Sandwich",
}
"""The paper's name of each task of the EgoProceL file."""
WIDTH: Final = 125
"""Columns the table needs; narrower terminals wrap it rather than lose digits."""
TOLERANCES: Final = {"foreground": 0.02, "missing": 0.02, "repeated": 0.03}
"""How near our ratios should come: the paper rounds, and the file merges some steps."""


@dataclass(frozen=True, slots=True)
class Config:
    """Print videos, key-steps, foreground ratio, missing and repeated key-steps of every task, beside the paper's."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Folder of a data set: EgoProceL, CaptainCook4D, CrossTask, ProceL, or label files (.csv, .eaf)."""
    view: str | None = None
    """Count one camera only: ego, back, top, rhs or lhs, or third for all but ego."""
    videos: Path | None = None
    """Where the videos lie that give label files their lengths; beside the labels if not given."""
    tier: str | None = None
    """The tier of ELAN files that holds the steps."""
    steps: Path | None = None
    """A file of lines `number name` with the steps of a task: others in label files are then unknown."""
    lenient: bool = False
    """Repair wrong labels and list what was changed, instead of refusing them."""


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """One line of the paper's table: counts, then the ratios F, M and R of its appendix."""

    videos: int
    key_steps: int
    foreground: float
    missing: float
    repeated: float


def task_statistics(sequences: Sequence[StepSequence], key_steps: int, videos: int) -> TaskStatistics:
    """The table's line for one task.

    With u_n distinct and g_n annotated key-steps in recording n: F is the mean share of time filled by key-steps,
    M = 1 - sum u_n / (K N), R = 1 - sum u_n / sum g_n.
    """
    unique = sum(len({segment.step for segment in sequence.segments}) for sequence in sequences)
    annotated = sum(len(sequence.segments) for sequence in sequences)
    shares = [_foreground(sequence) for sequence in sequences]
    return TaskStatistics(
        videos=videos,
        key_steps=key_steps,
        foreground=sum(shares) / len(shares) if shares else 0.0,
        missing=1 - unique / (key_steps * len(sequences)) if key_steps and sequences else 0.0,
        repeated=1 - unique / annotated if annotated else 0.0,
    )


def published(task: str) -> TaskStatistics | None:
    """The paper's line for a task of the EgoProceL file; None for a task it does not have."""
    if task not in PAPER_NAMES:
        return None
    videos, key_steps, foreground, missing, repeated = (
        float(STATISTICS.value(PAPER_NAMES[task], column) or 0.0) for column in STATISTICS.columns
    )
    return TaskStatistics(int(videos), int(key_steps), foreground, missing, repeated)


def measure(word: str, task: TaskSequences) -> TaskStatistics:
    """Our line for a task. The ratios count every camera's view, as the paper's do, or the one that was chosen.

    EgoProceL's file merges the names of some steps, so K in M is the paper's where the paper has the task.
    """
    paper = published(word)
    named = len(task.steps)
    ratios = task_statistics(task.sequences, paper.key_steps if paper else named, task.videos)
    return TaskStatistics(task.videos, named, ratios.foreground, ratios.missing, ratios.repeated)


def run(config: Config) -> None:
    """Print the table and how much of the paper's it reproduces."""
    options = ReadOptions(config.lenient, config.videos, config.tier, config.steps)
    tasks = choose_views(read_all(config.folder, options=options), config.view)
    order = [word for word in PAPER_NAMES if word in tasks] + [word for word in tasks if word not in PAPER_NAMES]
    lines = {word: (measure(word, tasks[word]), published(word)) for word in order}
    console = Console(width=max(Console().width, WIDTH))
    console.print(_table(lines, {word: task.name for word, task in tasks.items()}))
    console.print(_visits_in_words(tasks.values()))
    _tell_remarks(console, [(PAPER_NAMES.get(word, tasks[word].name), tasks[word]) for word in order])
    if any(paper for _, paper in lines.values()):
        absent = [PAPER_NAMES[word] for word in PAPER_NAMES if word not in lines]
        if absent:
            place = "here" if config.view is None else f"here in the view {config.view}"
            console.print(f"{len(absent)} of the paper's {len(PAPER_NAMES)} tasks are not {place}: {', '.join(absent)}")
        console.print("Each cell: here / paper (difference). Missing key-steps use the paper's number of key-steps.")
        for figure, tolerance in TOLERANCES.items():
            near, count = agreement(list(lines.values()), figure)
            console.print(f"{figure}: within {tolerance:.2f} of the paper in {near} of {count} tasks")


def more_visits(tasks: Iterable[TaskSequences], most: int = 4) -> list[float]:
    """Of the steps that come 1 to `most` times in a recording the share that comes once more; NaN where none does."""
    counts = [
        count
        for task in tasks
        for recording in task.recordings
        for count in Counter(step for step, _ in groupby(segment.step for segment in recording.segments)).values()
    ]
    reached = [sum(count > number for count in counts) for number in range(most + 1)]
    return [more / once if once else float("nan") for once, more in pairwise(reached)]


def _visits_in_words(tasks: Iterable[TaskSequences]) -> str:
    shares = ", ".join(f"{share:.3f}" for share in more_visits(tasks))
    return f"Of the steps that come 1, 2, 3, 4 times in a recording, so many come once more: {shares}"


def agreement(lines: Sequence[tuple[TaskStatistics, TaskStatistics | None]], figure: str) -> tuple[int, int]:
    """In how many tasks a ratio is as near the paper's as it should be, of how many the paper has."""
    gaps = [abs(getattr(ours, figure) - getattr(paper, figure)) for ours, paper in lines if paper is not None]
    return sum(gap <= TOLERANCES[figure] for gap in gaps), len(gaps)


def _tell_remarks(console: Console, tasks: Sequence[tuple[str, TaskSequences]]) -> None:
    """Print what each task lacks and what was changed or guessed, and how much is missing in all."""
    for name, task in tasks:
        for remark in task.remarks():
            console.print(f"{name}: {remark}", markup=False, highlight=False)
    missing = sum(len(task.missing) for _, task in tasks)
    if missing:
        console.print(f"{missing} missing in all")
    sequences = [sequence for _, task in tasks for sequence in task.sequences]
    unknown = sum(not sequence.has_length for sequence in sequences)
    if unknown:
        console.print(
            f"The length of {unknown} of {len(sequences)} videos is not known: they are taken to end with their last "
            "step, so the foreground ratio comes out too high. --videos DIR gives lengths to label files."
        )


def _table(lines: dict[str, tuple[TaskStatistics, TaskStatistics | None]], names: dict[str, str]) -> Table:
    rows = [
        (PAPER_NAMES.get(word, names[word]), *(_cell(*pair, figure) for figure in ("videos", "key_steps", *TOLERANCES)))
        for word, pair in lines.items()
    ]
    return grid("", ("task", "videos", "key-steps", "foreground", "missing", "repeated"), rows)


def _cell(ours: TaskStatistics, paper: TaskStatistics | None, figure: str) -> str:
    value = getattr(ours, figure)
    digits = 0 if isinstance(value, int) else 2
    if paper is None:
        return f"{value:.{digits}f}"
    printed = getattr(paper, figure)
    gap = round(value - printed, digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{value:.{digits}f} / {printed:.{digits}f} ({gap:+.{digits}f})"


def _foreground(sequence: StepSequence) -> float:
    """The share of the recording filled by key-steps; time in which two overlap counts once."""
    filled, reached = 0.0, 0.0
    for segment in sorted(sequence.segments, key=lambda segment: segment.start):
        filled += max(0.0, segment.end - max(segment.start, reached))
        reached = max(reached, segment.end)
    return min(1.0, filled / sequence.duration_s) if sequence.duration_s > 0 else 0.0


if __name__ == "__main__":
    entry(Config, run)
