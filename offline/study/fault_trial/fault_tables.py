"""The tables: what was flagged rightly and wrongly, and how far unaries depend on the order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from rich.table import Table

from offline.study.evaluation.teaching import ALL
from offline.study.fault_trial.made import FAULTS
from offline.study.fault_trial.mistakes import area_under_curve
from offline.study.flags import score_of
from offline.study.keep import Plain

FLAG_COLUMNS: Final = (
    "precision", "recall", *(kind.replace("_", " ") for kind in FAULTS), "false alarms a clean one", "delay s",
    "questions",
)  # fmt: skip
MISSED_COLUMNS: Final = (
    "steps", "missed", "flagged", "precision", "recall", "F1", "AUC, certainty", "AUC, evidence"
)  # fmt: skip
POOLED: Final = "all tasks"


def flag_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Flags on recordings left out, one row for each task and each value of the fields `names`."""
    table = _table(title, ("task", *names, *FLAG_COLUMNS))
    flags = [row for row in rows if row["kind"] not in ("shuffled", "mistaken")]
    for task, chosen in _by_task(flags):
        for values, some in _by(chosen, names):
            table.add_row(task, *values, *_flag_cells(some))
    return table


def agreement_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Share of frames with the same cheapest label in order and shuffled: mean and least over recordings."""
    table = _table(title, ("task", *names, "recordings", "mean", "least"))
    shuffled = [row for row in rows if row["kind"] == "shuffled"]
    for task, chosen in _by_task(shuffled):
        for values, some in _by(chosen, names):
            shares = [float(row["agreement"]) for row in some if row["agreement"] is not None]
            cells = [f"{np.mean(shares):.3f}", f"{min(shares):.3f}"] if shares else ["-", "-"]
            table.add_row(task, *values, str(len(shares)), *cells)
    return table


def missed_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Steps of recordings with mistakes: were those that were missed flagged?"""
    table = _table(title, ("task", *names, *MISSED_COLUMNS))
    steps = [row for row in rows if row["kind"] == "mistaken"]
    for task, chosen in _by_task(steps):
        for values, some in _by(chosen, names):
            table.add_row(task, *values, *_missed_cells(some))
    return table


def _flag_cells(rows: Sequence[Plain]) -> list[str]:
    score = score_of(rows)
    kinds = [score_of(row for row in rows if row["kind"] == kind) for kind in FAULTS]
    delays = [float(row["late_s"]) for row in rows if row["late_s"] is not None]
    return [
        _share(score.precision),
        _share(score.recall),
        *(f"{kind.found} of {kind.faults}" for kind in kinds),
        _share(score.clean_alarms / score.clean if score.clean else np.nan),
        f"{np.median(delays):.1f}" if delays else "-",
        f"{np.mean([float(row['questions'] or 0) for row in rows]):.1f}",
    ]


def _missed_cells(rows: Sequence[Plain]) -> list[str]:
    missed, flagged = ([bool(row[name]) for row in rows] for name in ("is_missed", "is_flagged"))
    hits = sum(both for both in (one and other for one, other in zip(missed, flagged, strict=True)))
    precision = hits / sum(flagged) if any(flagged) else np.nan
    recall = hits / sum(missed) if any(missed) else np.nan
    f1 = 2 * hits / (sum(flagged) + sum(missed)) if any(flagged) or any(missed) else np.nan
    areas = [area_under_curve([float(row[name] or 0) for row in rows], missed) for name in ("certainty", "unseen")]
    counts = [str(len(rows)), str(sum(missed)), str(sum(flagged))]
    return [*counts, *map(_share, (precision, recall, f1, *areas))]


def _by_task(rows: Sequence[Plain]) -> list[tuple[str, list[Plain]]]:
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    groups = [(task, [row for row in rows if row["task"] == task]) for task in tasks]
    return [*groups, (POOLED, list(rows))] if len(tasks) > 1 else groups


def _by(rows: Sequence[Plain], names: Sequence[str]) -> list[tuple[tuple[str, ...], list[Plain]]]:
    groups: dict[tuple[str, ...], list[Plain]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[name]) for name in names), []).append(row)
    return sorted(groups.items(), key=lambda group: [_place(value) for value in group[0]])


def _place(value: str) -> tuple[bool, int, str]:
    """Numbers in their order, then words, all of them last."""
    return value == ALL, int(value) if value.isdecimal() else 0, "" if value == "on" else value


def _share(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "-"


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="left" if column == "task" else "right")
    return table
