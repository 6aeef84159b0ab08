"""Published results as rows beside ours, where the data set is one of theirs.

Figures that were not printed are NaN and show as dashes. Published figures are means over the tasks of a data set.
"""

from __future__ import annotations

import math
from dataclasses import astuple, replace
from typing import Final

from offline import paper
from offline.metrics import Score
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
    is_tried = k is not None and k != paper.KEY_STEPS and k in paper.KEY_STEPS_TRIED
    if dataset == WHOLE:
        return _averages_by_count(k) if is_tried and k is not None else _averages()
    if is_tried and k is not None:
        return _by_count(dataset, k)
    tables = (EGOPROCEL, CLUSTERERS, LOSSES, LOSSES_MORE)
    names = dict.fromkeys(_usual(name) for table in tables if _has(table, dataset) for name, _ in table.rows)
    note = f"paper, {dataset}, K = {paper.KEY_STEPS}"
    rows = [Row(name, {"A": [_best(tables, name, dataset)]}, note) for name in names]
    return [*rows, *_successors(f"published, {OVER_ALL}, K = {paper.KEY_STEPS}")]


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


def _averages() -> list[Row]:
    """Means over EgoProceL's six sub-sets: of what the paper prints for each, and of what later work prints."""
    rows = [
        Row(name, {"A": [_average(name)]}, f"paper, {OVER_ALL}, K = {paper.KEY_STEPS}") for name, _ in EGOPROCEL.rows
    ]
    return [*rows, *_successors(f"published, {OVER_ALL}, K = {paper.KEY_STEPS}")]


def _successors(note: str) -> list[Row]:
    """What later work prints for the six sub-sets together, all there is of it at hand."""
    rows = []
    for name in (name for name, _ in SUCCESSORS.rows if name not in dict(EGOPROCEL.rows)):
        scores = {protocol: [_from(SUCCESSORS, name, protocol)] for protocol in ("A", "B")}
        printed = {protocol: each for protocol, each in scores.items() if not math.isnan(each[0].f1)}
        rows.append(Row(name, printed, note))
    return rows


def _average(name: str) -> Score:
    scores = [_from(EGOPROCEL, name, subset) for subset in SUBSETS]
    means = {figure: sum(getattr(score, figure) for score in scores) / len(scores) for figure in ("f1", "iou")}
    return Score(math.nan, math.nan, means["f1"], means["iou"])


def _by_count(dataset: str, k: int) -> list[Row]:
    found = _printed_by_count(dataset, k)
    return [Row(name, {"A": [_score(f1=f1)]}, f"paper, {dataset}, K = {k}") for name, f1 in found.items()]


def _averages_by_count(k: int) -> list[Row]:
    """Means over the six sub-sets of what the paper prints at another number of key-steps."""
    printed = [_printed_by_count(subset, k) for subset in SUBSETS]
    means = {name: sum(each[name] for each in printed) / len(printed) for name in printed[0]}
    return [Row(name, {"A": [_score(f1=f1)]}, f"paper, {OVER_ALL}, K = {k}") for name, f1 in means.items()]


def _printed_by_count(dataset: str, k: int) -> dict[str, float]:
    column = f"{dataset} K = {k}"
    table = next(each for each in (KEY_STEP_COUNTS, KEY_STEP_COUNTS_MORE) if column in each.columns)
    return {name: table.value(name, column) or math.nan for name, _ in table.rows}


def _best(tables: tuple[PublishedTable, ...], name: str, dataset: str) -> Score:
    """A method's figures from the table that prints most of them."""
    scores = [
        _from(table, printed, dataset)
        for table in tables
        for printed, _ in table.rows
        if _usual(printed) == name and _has(table, dataset)
    ]
    return max(scores, key=lambda score: sum(not math.isnan(value) for value in (score.precision, score.recall)))


def _usual(name: str) -> str:
    return "CnC" if name == "TC3I + PCM" else name


def _has(table: PublishedTable, dataset: str) -> bool:
    return f"{dataset} F1" in table.columns


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
