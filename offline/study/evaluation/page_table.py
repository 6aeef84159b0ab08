"""A table of results as HTML, the best of our rows marked in every column."""

from __future__ import annotations

import math
from html import escape
from typing import Final

from offline.study.evaluation.evaluation_report import EXPECTED
from offline.study.evaluation.few import is_few
from offline.study.evaluation.methods import BLIND
from offline.study.tables import HEADINGS, UNPRINTED, ResultTable, Row, Summary

UNSEEING: Final = (*BLIND, EXPECTED)
UNRANKED: Final = ("pairs",)  # how many steps were found, not how well


def draw_table(table: ResultTable) -> str:
    """The table, its columns grouped by protocol; it scrolls where it is too wide."""
    best = _best(table)
    rows = "".join(_row(table, row, best) for row in table.ordered)
    return f'<div class="scroll"><table><thead>{_head(table)}</thead><tbody>{rows}</tbody></table></div>'


def _head(table: ResultTable) -> str:
    width = len(table.figures)
    groups = "".join(f'<th class="group first" colspan="{width}">{escape(each)}</th>' for each in table.protocols)
    if table.extras:
        groups += f'<th class="group first" colspan="{len(table.extras)}">after D\'s match</th>'
    names = [HEADINGS[figure] for _, figure in table.columns()] + list(table.extras)
    cells = "".join(f"<th{_first(table, place)}>{escape(name)}</th>" for place, name in enumerate(names))
    return f"<tr><th></th>{groups}</tr><tr><th>method</th>{cells}</tr>"


def _row(table: ResultTable, row: Row, best: list[float]) -> str:
    kind = "published" if row.note else "floor" if row.method in UNSEEING else ""
    cells = "".join(
        f"<td{_first(table, place, _is_best(row, summary, best[place]))}>{_figure(summary)}</td>"
        for place, summary in enumerate(table.summaries(row))
    )
    return f'<tr class="{kind}"><td>{escape(row.title)}</td>{cells}</tr>'


def _figure(summary: Summary | None) -> str:
    """The mean, and the spread small below it: side by side the table would not fit a screen."""
    if summary is None:
        return UNPRINTED
    mean, _, spread = str(summary).partition(" ± ")
    return f"{mean}<small>± {spread}</small>" if spread else mean


def _first(table: ResultTable, place: int, is_best: bool = False) -> str:
    """The classes of a column's cells: a rule before each group, and the mark of the best."""
    protocols = len(table.columns())
    is_first = place % len(table.figures) == 0 if place < protocols else place == protocols
    classes = " ".join(name for name, holds in (("first", is_first), ("best", is_best)) if holds)
    return f' class="{classes}"' if classes else ""


def _best(table: ResultTable) -> list[float]:
    """The largest of our means without labels in every column; NaN where a larger one is no better."""
    ours = [table.summaries(row) for row in table.rows if _is_ranked(row)]
    best = [
        max((each.mean for each in column if each is not None and not math.isnan(each.mean)), default=math.nan)
        for column in zip(*ours, strict=True)
    ]
    names = table.headings()[1:]
    return [math.nan if name in UNRANKED else value for name, value in zip(names, best, strict=True)]


def _is_best(row: Row, summary: Summary | None, best: float) -> bool:
    return _is_ranked(row) and summary is not None and summary.mean == best


def _is_ranked(row: Row) -> bool:
    return not row.note and not is_few(row.method)
