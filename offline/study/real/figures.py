"""The figures of all tasks as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from offline.study.real.failures import worst
from offline.study.real.results import Line, Result, missed_rows
from offline.study.tables import UNPRINTED, grid

COLUMNS = ("task", "labels", "D", "live accuracy", "macro F1", "flags: precision", "recall", "false alarms a clean one")


def line_table(results: Sequence[Result]) -> Table:
    """A row for each task and way of labelling it."""
    rows = [(result.title, *_cells(line)) for result in results for line in result.lines]
    title = "steps found, live labels of recordings left out (frames of steps), flags on made faults"
    return grid(title, COLUMNS, rows, COLUMNS[:2])


def as_json(results: Sequence[Result], notes: Sequence[str], command: str) -> str:
    """Everything that the page says, for whoever compares runs; shares in [0, 1]."""
    return json.dumps(
        {"command": command, "notes": list(notes), "tasks": [_plain(result) for result in results]}, indent=1
    )


def _plain(result: Result) -> dict[str, object]:
    task, missed = result.of.task, missed_rows(result)
    return {
        "task": result.title,
        "recordings": len(task.recordings),
        "steps": {str(step): name for step, name in task.steps.items()},
        "notes": list(task.notes),
        "lines": [
            {**asdict(line), "false_alarms": line.false_alarms, "holds_budget": line.holds_budget}
            for line in result.lines
        ],
        "really_missed": {
            "missed": sum(bool(row["is_missed"]) for row in missed),
            "flagged": sum(bool(row["is_flagged"]) for row in missed),
            "right": sum(bool(row["is_missed"] and row["is_flagged"]) for row in missed),
        },
        "confusion": result.confusion.tolist(),
        "failures": [asdict(failure) for failure in worst(result)],
    }


def _cells(line: Line) -> list[str]:
    percent = [UNPRINTED if value is None else f"{100 * value:.1f}" for value in (line.d, line.accuracy, line.macro_f1)]
    flags = (None, None) if line.flags is None else (line.flags.precision, line.flags.recall)
    shares = [UNPRINTED if value is None or value != value else f"{value:.2f}" for value in (*flags, line.false_alarms)]
    return [line.name, *percent, *shares]
