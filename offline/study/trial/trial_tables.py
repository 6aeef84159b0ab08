"""The tables: right and wrong flags of each world and of all together, and what was not found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from rich.table import Table

from offline.study.flags import score_of
from offline.study.keep import Plain

PLANTED: Final = ("missed", "out_of_order")
COLUMNS: Final = (
    "labelled", "world", "precision", "recall", *(kind.replace("_", " ") for kind in PLANTED),
    "false alarms a clean one", "delay s", "first word s", "named s", "questions",
)  # fmt: skip
TOGETHER: Final = "together"


def flag_table(rows: Sequence[Plain], title: str) -> Table:
    """One row for each number of labelled demonstrations and world, and one for all worlds together."""
    table = Table(title=title)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for labelled, world, some in groups(rows):
        table.add_row(labelled, world, *cells(some))
    return table


def told_table(rows: Sequence[Plain]) -> Table:
    """Faults that were not found and flags that were wrong, in true steps."""
    table = Table(title="not found, and flagged wrongly (steps by their true numbers, 0 where none corresponds)")
    for column in ("labelled", "world", "not found", "wrong"):
        table.add_column(column, justify="right" if column in COLUMNS else "left")
    for labelled, world, some in groups(rows):
        if world != TOGETHER:
            lost = _counted(str(row["planted"]) for row in some if int(row["faults"] or 0) > int(row["found"] or 0))
            wrong = _counted(word for row in some for word in str(row["wrong"]).split(", ") if word)
            table.add_row(labelled, world, lost, wrong)
    return table


def groups(rows: Sequence[Plain]) -> list[tuple[str, str, list[Plain]]]:
    """Rows by number of labelled demonstrations and world, in the order in which they come; all worlds last."""
    found: list[tuple[str, str, list[Plain]]] = []
    for labelled in dict.fromkeys(str(row["labelled"]) for row in rows):
        own = [row for row in rows if row["labelled"] == labelled]
        worlds = list(dict.fromkeys(str(row["seed"]) for row in own))
        found += [(labelled, world, [row for row in own if str(row["seed"]) == world]) for world in worlds]
        found += [(labelled, TOGETHER, own)] if len(worlds) > 1 else []
    return found


def cells(rows: Sequence[Plain]) -> list[str]:
    """The figures of some recordings, from precision on."""
    score = score_of(rows)
    kinds = [score_of(row for row in rows if row["kind"] == kind) for kind in PLANTED]
    return [
        f"{score.precision:.2f}" if score.flags else "-",
        f"{score.recall:.2f}" if score.faults else "-",
        *(f"{kind.found} of {kind.faults}" for kind in kinds),
        f"{score.clean_alarms / max(score.clean, 1):.2f}",
        *(_median(row[name] for row in rows) for name in ("late_s", "word_s", "name_s")),
        f"{np.mean([float(row['questions'] or 0) for row in rows]):.1f}",
    ]


def _median(values: Iterable[str | int | float | None]) -> str:
    told = [float(value) for value in values if value is not None]
    return f"{np.median(told):.1f}" if told else "-"


def _counted(words: Iterable[str]) -> str:
    """What came, with how often where it was more than once.

    >>> _counted(["missed 1", "9 before 1", "missed 1"])
    'missed 1 (2), 9 before 1'
    """
    return ", ".join(word if count == 1 else f"{word} ({count})" for word, count in Counter(words).items())
