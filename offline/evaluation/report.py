"""Results as tables: one a task, their mean, and the study of several numbers of key-steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from offline.evaluation.plan import Count, Plan
from offline.evaluation.published_rows import WHOLE, published_rows
from offline.evaluation.run import Outcome, Result
from offline.evaluation.scoring import EXTRAS, Scores
from offline.evaluation.task import LabelledTask
from offline.tables import FIGURES, ResultTable, Row, mean_row

EXPECTED: Final = "random, expected"
STUDIED: Final[tuple[str, ...]] = ("A", "D")
MEAN: Final = "mean"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table, and what it is of: a task's word or `mean`, and the number of key-steps as asked for."""

    word: str
    count: str
    table: ResultTable
    notes: tuple[str, ...] = ()


def make_sheets(results: Sequence[Result], plan: Plan) -> list[Sheet]:
    """For each number of key-steps the tasks' tables and their mean; then the study, where there are several."""
    sheets: list[Sheet] = []
    means: dict[Count, ResultTable] = {}
    for count in plan.counts:
        chosen = [result for result in results if result.count == count]
        sheets += [Sheet(each.task.word, str(count), task_table(each, plan), task_notes(each)) for each in chosen]
        means[count] = mean_table(chosen, plan) if len(chosen) > 1 else sheets[-1].table
        if len(chosen) > 1:
            sheets.append(Sheet(MEAN, str(count), means[count]))
    if len(plan.counts) > 1:
        sheets.append(Sheet(MEAN, "all", study_table(means, plan)))
    return sheets


def task_table(result: Result, plan: Plan) -> ResultTable:
    """Every method on one task, and published rows where its data set has some."""
    chosen = " (chosen)" if result.count == "auto" else ""
    title = f"{result.task.title}, K = {result.k}{chosen}"
    rows = [*our_rows(result), *_published([result.task], plan, result.k)]
    return _table(title, rows, plan)


def mean_table(results: Sequence[Result], plan: Plan) -> ResultTable:
    """The mean over tasks; of tasks in several published sub-sets, the mean over sub-sets of the means over tasks."""
    count = results[0].count
    title = f"mean over {len(results)} tasks, K {'= ' + str(count) if isinstance(count, int) else count}"
    groups: dict[str | None, list[list[Row]]] = {}
    for result in results:
        groups.setdefault(result.task.subset, []).append(our_rows(result))
    rows = _mean([_mean(tasks) for tasks in groups.values()])
    if len(groups) > 1:
        title += f" in {len(groups)} sub-sets"
    tasks = [result.task for result in results]
    return _table(title, [*rows, *_published(tasks, plan, count if isinstance(count, int) else None)], plan)


def study_table(means: dict[Count, ResultTable], plan: Plan) -> ResultTable:
    """F1 of every row for several numbers of key-steps, as in the paper's study of K."""
    protocols = [protocol for protocol in STUDIED if protocol in plan.protocols] or [plan.protocols[0]]
    columns = {f"K {_word(count)} {p}": (count, p) for count in means for p in protocols}
    methods = dict.fromkeys((row.method, row.note.partition(",")[0]) for t in means.values() for row in t.rows)
    rows = []
    for method, source in methods:
        scores = {}
        for column, (count, protocol) in columns.items():
            row = next((r for r in means[count].rows if (r.method, r.note.partition(",")[0]) == (method, source)), None)
            if row is not None and row.scores.get(protocol):
                scores[column] = row.scores[protocol]
        rows.append(Row(method, scores, source))
    return ResultTable("F1 for several K", tuple(rows), tuple(columns), ("f1",))


def our_rows(result: Result) -> list[Row]:
    """A row for every method, and one for what random labels score in the limit of many frames."""
    rows = [_row(outcome.method.name, outcome.scores) for outcome in result.outcomes]
    return [_row(EXPECTED, (result.expected,)), *rows]


def task_notes(result: Result) -> tuple[str, ...]:
    """What there is to know of a task and of its labellings."""
    said = [f"{outcome.method.name}: {note}" for outcome in result.outcomes for note in outcome.notes]
    return (*result.task.notes, *result.notes, *said)


def headline(outcome: Outcome) -> float:
    """What methods are ranked by: F1 under D, or under the first protocol there is."""
    scores = [each.protocols.get("D") or next(iter(each.protocols.values())) for each in outcome.scores]
    return sum(score.f1 for score in scores) / len(scores)


def for_console(table: ResultTable) -> ResultTable:
    """The table with the columns that fit a terminal: of each protocol F1 and IoU."""
    return replace(table, figures=tuple(figure for figure in table.figures if figure in ("f1", "iou")))


def _table(title: str, rows: Sequence[Row], plan: Plan) -> ResultTable:
    return ResultTable(title, tuple(rows), plan.protocols, FIGURES, EXTRAS)


def _row(name: str, scores: Sequence[Scores]) -> Row:
    protocols = {name: [each.protocols[name] for each in scores] for name in scores[0].protocols}
    return Row(name, protocols, extras={name: [each.extras[name] for each in scores] for name in scores[0].extras})


def _mean(tasks: Sequence[Sequence[Row]]) -> list[Row]:
    return [mean_row(rows[0].method, rows) for rows in zip(*tasks, strict=True)]


def _published(tasks: Sequence[LabelledTask], plan: Plan, k: int | None) -> list[Row]:
    """Published rows for these tasks; those of the whole of EgoProceL where they come from several sub-sets."""
    named = {task.subset or plan.dataset for task in tasks}
    dataset = named.pop() if len(named) == 1 else (None if None in named else WHOLE)
    rows = published_rows(dataset, k) if dataset else []
    return [row for row in rows if any(protocol in row.scores for protocol in plan.protocols)]


def _word(count: Count) -> str:
    return f"= {count}" if isinstance(count, int) else count
