"""What the rows of all jobs amount to for one task: a line for each way of labelling, confusion, missed steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from offline.study.evaluation.teaching import ALL, NONE
from offline.study.fault_trial.leaving import read_labels
from offline.study.fault_trial.made import FAULTS
from offline.study.flags import FlagScore, score_of
from offline.study.keep import Plain
from offline.study.left_out import ELAPSED
from offline.study.real.finding import figures_of
from offline.study.real.sets import RealSet
from offline.study.tables import FLOORS

BUDGET: Final = 0.2
"""False alarms a clean recording that are promised at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """One way of labelling a task; None where there is no such figure, as flags of what sees nothing."""

    name: str
    d: float | None
    accuracy: float | None
    macro_f1: float | None
    flags: FlagScore | None

    @property
    def false_alarms(self) -> float | None:
        """A clean recording."""
        return self.flags.clean_alarms / self.flags.clean if self.flags is not None and self.flags.clean else None

    @property
    def holds_budget(self) -> bool | None:
        return None if self.false_alarms is None else self.false_alarms <= BUDGET


@dataclass(frozen=True, slots=True)
class Result:
    """All of one task: its lines, the live labels of its recordings left out (all others labelled), its rows."""

    of: RealSet
    lines: tuple[Line, ...]
    live: Mapping[str, Labels]
    rows: tuple[Plain, ...]

    @property
    def title(self) -> str:
        return self.of.task.title

    @property
    def truth(self) -> dict[str, Labels]:
        """Of the recordings with live labels."""
        task = self.of.task
        both = zip(task.recordings, task.truth, strict=True)
        return {one.id: labels for one, labels in both if one.id in self.live}

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Frames (S + 1, S + 1): of each true label, a row, those with each live label, background first."""
        numbers = np.array([BACKGROUND, *sorted(self.of.task.steps)])
        counts = np.zeros((len(numbers), len(numbers)), np.int64)
        for id_, truth in self.truth.items():
            np.add.at(counts, (np.searchsorted(numbers, truth), np.searchsorted(numbers, self.live[id_])), 1)
        return counts

    def sentence(self) -> str:
        """Whether the budget of false alarms held."""
        told = [line for line in self.lines if line.false_alarms is not None]
        if not told:
            return f"{self.title}: no clean recording was followed, so nothing can be said of false alarms."
        words = "; ".join(f"{line.name} {line.false_alarms:.2f}, {_held(line)}" for line in told)
        return f"{self.title}: at most {BUDGET:g} false alarms a clean recording are promised: {words}."


def result_of(real: RealSet, rows: Sequence[Plain]) -> Result:
    """The task's own rows, put together."""
    own = tuple(row for row in rows if row["task"] == real.task.title)
    live = {str(row["recording"]): read_labels(row) for row in own if row["kind"] == "live" and row["labelled"] == ALL}
    named = (*FLOORS, ELAPSED, *dict.fromkeys(str(row["labelled"]) for row in own if "labelled" in row))
    lines = [_line(name, real, own) for name in dict.fromkeys(sorted(named, key=_place))]
    return Result(real, tuple(line for line in lines if line is not None), live, own)


def missed_rows(result: Result) -> list[Plain]:
    """A row for each step of recordings with real mistakes."""
    return [row for row in result.rows if row["kind"] == "mistaken"]


def _line(labelled: str, real: RealSet, rows: Sequence[Plain]) -> Line | None:
    own = [row for row in rows if row.get("labelled") == labelled]
    if not own:
        return None
    found = [row for row in own if row["kind"] == "found"]
    figures = {name: _mean([row.get(name) for row in found]) for name in ("d", "accuracy", "macro_f1")}
    figures |= _live_figures(real, [row for row in own if row["kind"] == "live"])
    flags = [row for row in own if row["kind"] in ("none", *FAULTS)]
    return Line(_name(labelled), **figures, flags=score_of(flags) if flags else None)


def _live_figures(real: RealSet, rows: Sequence[Plain]) -> dict[str, float]:
    truth = {one.id: labels for one, labels in zip(real.task.recordings, real.task.truth, strict=True)}
    pairs = [(truth[str(row["recording"])], read_labels(row)) for row in rows]
    return figures_of(*map(list, zip(*pairs, strict=True))) if pairs else {}


def _mean(values: Sequence[str | int | float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _name(labelled: str) -> str:
    return FLOORS.get(labelled) or {NONE: "no labels", ELAPSED: ELAPSED}.get(labelled, f"{labelled} labelled")


def _place(labelled: str) -> tuple[int, int]:
    """Floors first, then by number of labels, all of them last."""
    if labelled in (*FLOORS, ELAPSED):
        return 0, (*FLOORS, ELAPSED).index(labelled)
    return (2, 0) if labelled == ALL else (1, int(labelled))


def _held(line: Line) -> str:
    return "held" if line.holds_budget else "not held"
