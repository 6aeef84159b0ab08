"""Tables for the console and as Markdown; of results, the random and the equal-split row stand in every one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
WIDTH: Final = 400
"""Columns a table may take."""


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
    extras: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Figures that belong to no protocol, such as MoF: one value a seed."""

    def summary(self, protocol: str, figure: str) -> Summary | None:
        """Mean and spread of `figure` under `protocol`; None where the method was not scored by it."""
        scores = self.scores.get(protocol, ())
        return Summary.of([getattr(score, figure) for score in scores]) if scores else None

    def extra(self, name: str) -> Summary | None:
        """Mean and spread of a figure without a protocol; None where the method has none."""
        values = self.extras.get(name, ())
        return Summary.of(values) if values else None

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
    extras: tuple[str, ...] = ()

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
        return [self.title, *(f"{protocol} {HEADINGS[figure]}" for protocol, figure in self.columns()), *self.extras]

    def summaries(self, row: Row) -> list[Summary | None]:
        """One row's figures, column by column."""
        return [row.summary(*column) for column in self.columns()] + [row.extra(name) for name in self.extras]

    def cells(self, row: Row) -> list[str]:
        """One row in words, percent, `-` where there is no figure."""
        return [row.title, *(UNPRINTED if summary is None else str(summary) for summary in self.summaries(row))]

    @property
    def width(self) -> int:
        """Columns of a terminal that the table takes, borders among them."""
        lines = [["method", *self.headings()[1:]], *(self.cells(row) for row in self.rows)]
        return 1 + sum(3 + max(map(len, column)) for column in zip(*lines, strict=True))

    def console(self, console: Console) -> None:
        """Print to a terminal; a narrow one wraps lines rather than lose digits."""
        table = grid("", ["method", *self.headings()[1:]], [], ("method",))
        for row in self.ordered:
            table.add_row(*map(escape, self.cells(row)), style="dim" if row.method in FLOORS else None)
        wide = Console(file=console.file, width=WIDTH, quiet=console.quiet, force_terminal=console.is_terminal)
        wide.print(escape(self.title), style="bold", highlight=False)
        wide.print(table)

    def markdown(self) -> str:
        """The table in Markdown, percent with one decimal, mean ± standard deviation over seeds."""
        headings = self.headings()
        lines = [_markdown_line(headings), "|" + "|".join(["---", *["---:"] * (len(headings) - 1)]) + "|"]
        return "\n".join([*lines, *(_markdown_line(self.cells(row)) for row in self.ordered)]) + "\n"


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ("task",)) -> Table:
    """A table for the console: figures to the right, the columns named in `left` to the left."""
    table = Table(title=title or None)
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def mean_row(method: str, tasks: Sequence[Row]) -> Row:
    """The mean over tasks, seed by seed: tasks need the same figures and the same number of seeds."""
    scores = {
        protocol: [average(each) for each in zip(*(task.scores[protocol] for task in tasks), strict=True)]
        for protocol in tasks[0].scores
    }
    extras = {
        name: [math.fsum(each) / len(each) for each in zip(*(task.extras[name] for task in tasks), strict=True)]
        for name in tasks[0].extras
    }
    return Row(method, scores, extras=extras)


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
