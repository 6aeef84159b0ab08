"""Result tables for the console, as CSV and as Markdown; the random and the equal-split row stand in every one."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from offline.metrics import Score, average

FLOORS: Final = {"random": "random", "equal": "equal time split"}
"""The rows without vision that every table carries: what a figure must beat to mean anything."""
FIGURES: Final = ("precision", "recall", "f1", "iou")
HEADINGS: Final = {"precision": "P", "recall": "R", "f1": "F1", "iou": "IoU"}
UNPRINTED: Final = "-"


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean and spread of one figure over seeds, as fractions; the spread is the sample standard deviation.

    >>> print(Summary.of([0.50, 0.52, 0.54])), print(Summary.of([0.5]))
    52.0 ± 2.0
    50.0
    (None, None)
    """

    mean: float
    spread: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """Summarise one value a seed; one seed has no spread (NaN)."""
        mean = math.fsum(values) / len(values)
        deviations = math.fsum((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(deviations / (len(values) - 1)) if len(values) > 1 else math.nan, len(values))

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return UNPRINTED
        mean = f"{100 * self.mean:.1f}"
        return f"{mean} ± {100 * self.spread:.1f}" if self.seeds > 1 else mean


@dataclass(frozen=True, slots=True)
class Row:
    """One method's scores: for each protocol, one score a seed.

    >>> Row("pcm", {"D": [Score.of(0.5, 0.5, 0.3)]}).summary("D", "f1").mean
    0.5
    """

    method: str
    scores: Mapping[str, Sequence[Score]]
    note: str = ""
    """Where the figures come from if not from us, such as the paper's name; marks the row as published."""

    def summary(self, protocol: str, figure: str) -> Summary | None:
        """Mean and spread of `figure` under `protocol`; None where the method was not scored by it."""
        scores = self.scores.get(protocol, ())
        return Summary.of([getattr(score, figure) for score in scores]) if scores else None

    @property
    def title(self) -> str:
        name = FLOORS.get(self.method, self.method)
        return f"{name} ({self.note})" if self.note else name


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Methods against protocols. Raises ValueError where the random or the equal-split row is missing.

    >>> half = {"D": [Score.of(0.5, 0.5, 0.3)]}
    >>> table = ResultTable("drawn world", (Row("pcm", half), Row("random", half), Row("equal", half)), ("D",))
    >>> print(table.markdown(), end="")
    | drawn world | D F1 | D IoU |
    |---|---:|---:|
    | random | 50.0 | 30.0 |
    | equal time split | 50.0 | 30.0 |
    | pcm | 50.0 | 30.0 |
    """

    title: str
    rows: tuple[Row, ...]
    protocols: tuple[str, ...] = ("A", "D")
    figures: tuple[str, ...] = ("f1", "iou")

    def __post_init__(self) -> None:
        missing = [name for name in FLOORS if name not in {row.method for row in self.rows}]
        if missing:
            raise ValueError(f"every table carries the rows {list(FLOORS)}, missing {missing}: score them too")

    @property
    def ordered(self) -> tuple[Row, ...]:
        """The rows, random and equal split first, the others as they came."""
        floors = [row for name in FLOORS for row in self.rows if row.method == name]
        return (*floors, *(row for row in self.rows if row.method not in FLOORS))

    def columns(self) -> list[tuple[str, str]]:
        """Protocol and figure of each column."""
        return [(protocol, figure) for protocol in self.protocols for figure in self.figures]

    def headings(self) -> list[str]:
        """One heading a column, the title first."""
        return [self.title, *(f"{protocol} {HEADINGS[figure]}" for protocol, figure in self.columns())]

    def cells(self, row: Row) -> list[str]:
        """One row in words, percent, `-` where there is no figure."""
        summaries = [row.summary(protocol, figure) for protocol, figure in self.columns()]
        return [row.title, *(UNPRINTED if summary is None else str(summary) for summary in summaries)]

    def console(self, console: Console) -> None:
        """Print to a terminal."""
        table = Table(escape(self.title))
        for heading in self.headings()[1:]:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self.ordered:
            table.add_row(*map(escape, self.cells(row)), style="dim" if row.method in FLOORS else None)
        console.print(table)

    def markdown(self) -> str:
        """The table in Markdown, percent with one decimal, mean ± standard deviation over seeds."""
        head = [self.headings(), ["---", *["---:"] * len(self.columns())]]
        lines = ["| " + " | ".join(head[0]) + " |", "|" + "|".join(head[1]) + "|"]
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in self.cells(row)) + " |" for row in self.ordered
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """One line for each method and protocol: fractions with six digits, mean and spread of all four figures."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            ["method", "protocol", "seeds", *(f"{f}_{kind}" for f in FIGURES for kind in ("mean", "spread"))]
        )
        for row in self.ordered:
            for protocol in self.protocols:
                if row.scores.get(protocol):
                    writer.writerow(_csv_line(row, protocol))
        return out.getvalue()


def mean_row(method: str, tasks: Sequence[Row], note: str = "") -> Row:
    """The mean over tasks, seed by seed: tasks need the same protocols and the same number of seeds."""
    protocols = tasks[0].scores
    seeds = {protocol: list(zip(*(task.scores[protocol] for task in tasks), strict=True)) for protocol in protocols}
    return Row(method, {protocol: [average(scores) for scores in rows] for protocol, rows in seeds.items()}, note)


def _csv_line(row: Row, protocol: str) -> list[str]:
    summaries = [row.summary(protocol, figure) for figure in FIGURES]
    pairs = [(s.mean, s.spread) for s in summaries if s is not None]
    values = ["" if math.isnan(value) else f"{value:.6f}" for pair in pairs for value in pair]
    return [row.method, protocol, str(len(row.scores[protocol])), *values]
