"""Published results as rows beside ours, where the data set is one of theirs.

Figures that were not printed are NaN and show as dashes. Published figures are means over the tasks of a data set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Final

from offline import paper
from offline.metrics import Score, average
from offline.study.datasets.views import PAPER_VIEWS
from offline.study.published import (
    CLUSTERERS,
    EGOPROCEL,
    KEY_STEP_COUNTS,
    KEY_STEP_COUNTS_MORE,
    LOSSES,
    LOSSES_MORE,
    SUCCESSORS,
    THIRD_PERSON,
    VIEWS,
    PublishedTable,
)
from offline.study.tables import Row

THIRD_PERSON_SETS: Final = ("ProceL", "CrossTask")
SUBSETS: Final = ("CMU-MMAC", "EGTEA", "MECCANO", "EPIC-Tents", "PC Assembly", "PC Disassembly")
WHOLE: Final = "EgoProceL"
OVER_ALL: Final = f"mean over {len(SUBSETS)} sub-sets"
VIEWED: Final = "CMU-MMAC"
"""The data set whose cameras the paper compares."""
DATASETS: Final = (WHOLE, *SUBSETS, *THIRD_PERSON_SETS)
ALIASES: Final = {
    "egtea gaze+": "EGTEA",
    "cmu": "CMU-MMAC",
    "cmu_mmac": "CMU-MMAC",
    "egtea_gaze_p": "EGTEA",
    "epic-tent": "EPIC-Tents",
    "epic_tents": "EPIC-Tents",
    "tent": "EPIC-Tents",
    "pc_assembly": "PC Assembly",
    "pc_disassembly": "PC Disassembly",
}


def dataset_called(name: str) -> str | None:
    """What the published tables call a data set; None where they do not have it.

    >>> dataset_called("EGTEA Gaze+"), dataset_called("cooking at home")
    ('EGTEA', None)
    """
    known = {each.lower(): each for each in DATASETS} | ALIASES
    return known.get(name.lower())


def published_rows(dataset: str, k: int | None) -> list[Row]:
    """All rows there are for a data set, at `k` key-steps where a table has that, else at the paper's 7."""
    if dataset in THIRD_PERSON_SETS:
        scores = {name: _from(THIRD_PERSON, name, dataset, "F") for name, _ in THIRD_PERSON.rows}
        printed = {name: each for name, each in scores.items() if not all(map(math.isnan, astuple(each)))}
        return [Row(name, {"pooled": [each]}, f"paper, {dataset}") for name, each in printed.items()]
    sets, where = (SUBSETS, OVER_ALL) if dataset == WHOLE else ((dataset,), dataset)
    if k is not None and k != paper.KEY_STEPS and k in paper.KEY_STEPS_TRIED:
        tried = [_printed_by_count(one, k) for one in sets]
        means = {name: average([each[name] for each in tried]) for name in tried[0]}
        return [Row(name, {"A": [each]}, f"paper, {where}, K = {k}") for name, each in means.items()]
    if dataset == WHOLE:
        scores = {name: average([_from(EGOPROCEL, name, one) for one in SUBSETS]) for name, _ in EGOPROCEL.rows}
    else:
        tables = [table for table in (EGOPROCEL, CLUSTERERS, LOSSES, LOSSES_MORE) if f"{dataset} F1" in table.columns]
        names = dict.fromkeys(_usual(name) for table in tables for name, _ in table.rows)
        scores = {name: _fullest(tables, name, dataset) for name in names}
    rows = [Row(name, {"A": [each]}, f"paper, {where}, K = {paper.KEY_STEPS}") for name, each in scores.items()]
    return [*rows, *_successors()]


def comparable(row: Row, view: str, k: int | None) -> Row | None:
    """A row as it may stand in the column of a view and a number of key-steps; None for a published one of another.

    Where the number is not the same for all tasks (None) the row says which its own is.
    """
    if not row.note:
        return row
    source, _, of = row.note.partition(",")
    own = of.rpartition("K = ")[2]
    method = "CnC" if row.method == f"CnC, {PAPER_VIEWS.get(view)}" else row.method
    if method.startswith("CnC, ") or (k is not None and own not in ("", str(k))):
        return None
    return replace(row, method=method, note=source if k is not None or not own else f"{source}, K = {own}")


def view_rows() -> list[Row]:
    """The paper's comparison of cameras, one row each."""
    note = f"paper, {VIEWED}, K = {paper.KEY_STEPS}"
    values = {name: [VIEWS.value(name, figure) for figure in VIEWS.columns] for name, _ in VIEWS.rows}
    return [Row(f"CnC, {name}", {"A": [_score(*figures)]}, note) for name, figures in values.items()]


def _successors() -> list[Row]:
    """What later work prints for the six sub-sets together, all there is of it at hand."""
    rows = []
    for name in (name for name, _ in SUCCESSORS.rows if name not in dict(EGOPROCEL.rows)):
        scores = {protocol: [_from(SUCCESSORS, name, protocol)] for protocol in ("A", "B")}
        printed = {protocol: each for protocol, each in scores.items() if not math.isnan(each[0].f1)}
        rows.append(Row(name, printed, f"published, {OVER_ALL}, K = {paper.KEY_STEPS}"))
    return rows


def _printed_by_count(dataset: str, k: int) -> dict[str, Score]:
    column = f"{dataset} K = {k}"
    table = next(each for each in (KEY_STEP_COUNTS, KEY_STEP_COUNTS_MORE) if column in each.columns)
    return {name: _score(f1=table.value(name, column)) for name, _ in table.rows}


def _fullest(tables: Sequence[PublishedTable], name: str, dataset: str) -> Score:
    """A method's figures from the table that prints most of them."""
    scores = [
        _from(table, printed, dataset) for table in tables for printed, _ in table.rows if _usual(printed) == name
    ]
    return max(scores, key=lambda score: sum(not math.isnan(value) for value in (score.precision, score.recall)))


def _usual(name: str) -> str:
    return "CnC" if name == "TC3I + PCM" else name


def _from(table: PublishedTable, name: str, dataset: str, f1: str = "F1") -> Score:
    found = {
        heading: table.value(name, f"{dataset} {heading}")
        for heading in ("P", "R", f1, "IoU")
        if f"{dataset} {heading}" in table.columns
    }
    return _score(found.get("P"), found.get("R"), found.get(f1), found.get("IoU"))


def _score(
    precision: float | None = None, recall: float | None = None, f1: float | None = None, iou: float | None = None
) -> Score:
    return Score(*(math.nan if value is None else value / 100 for value in (precision, recall, f1, iou)))
