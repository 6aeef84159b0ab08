"""Results as tables, one a task, their mean, and the study of several numbers of key-steps; and these as files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from guide.errors import OutputError
from guide.whole_file import write_whole
from offline.metrics import average
from offline.study.evaluation.plan import Count, Plan
from offline.study.evaluation.published_rows import VIEWED, WHOLE, comparable, published_rows, view_rows
from offline.study.evaluation.run import MethodOutcome, TaskResult
from offline.study.evaluation.scoring import EXTRAS, FewLabels, Scores
from offline.study.evaluation.task import LabelledTask
from offline.study.tables import FIGURES, ResultTable, Row, mean_row

EXPECTED: Final = "random, expected"
STUDIED: Final[tuple[str, ...]] = ("A", "D")
MEAN: Final = "mean"
LEFT_OUT: Final = (
    "rows `n labelled`: true labels of n recordings are carried to the others, and only the others are scored: the "
    "labelled ones are left out, while all other rows are of all recordings; step numbers are the given ones, whatever "
    "--k says, nothing is matched; ± is the standard deviation over the choices of the labelled recordings"
)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table, and what it is of: a task's word or `mean`, the number of key-steps as asked for, and the view."""

    word: str
    count: str
    table: ResultTable
    notes: tuple[str, ...] = ()
    view: str = ""


def make_report_tables(results: Sequence[TaskResult], plan: Plan) -> list[ReportTable]:
    """For each view and number of key-steps the tasks' tables and their mean; then the study, if there are several."""
    sheets: list[ReportTable] = []
    means: dict[tuple[str, Count], ResultTable] = {}
    views = tuple(dict.fromkeys(result.task.view for result in results))
    for view in views:
        for count in plan.counts:
            chosen = [result for result in results if (result.task.view, result.count) == (view, count)]
            sheets += [_task_sheet(each, plan) for each in chosen]
            means[view, count] = mean_table(chosen, plan) if len(chosen) > 1 else sheets[-1].table
            if len(chosen) > 1:
                sheets.append(ReportTable(MEAN, str(count), means[view, count], mean_notes(chosen, plan), view))
    if len(means) > 1:
        sheets.append(ReportTable(MEAN, "all", _study(means, views, plan)))
    return sheets


def _task_sheet(result: TaskResult, plan: Plan) -> ReportTable:
    word, view = result.task.word, result.task.view
    return ReportTable(word, str(result.count), task_table(result, plan), task_notes(result, plan), view)


def _study(means: dict[tuple[str, Count], ResultTable], views: Sequence[str], plan: Plan) -> ResultTable:
    """What several numbers of key-steps, several views or both are worth."""
    has_views, has_counts = len(views) > 1, len(plan.counts) > 1
    tables = {}
    for (view, count), table in means.items():
        word = " ".join([view] * has_views + [f"K = {count}" if isinstance(count, int) else f"K {count}"] * has_counts)
        k = count if isinstance(count, int) else None
        rows = (comparable(row, view, k) for row in table.rows)
        tables[word] = replace(table, rows=tuple(row for row in rows if row is not None))
    what = " and ".join(["K"] * has_counts + ["views"] * has_views)
    return study_table(f"F1 for several {what}", tables, plan)


def task_table(result: TaskResult, plan: Plan) -> ResultTable:
    """Every method on one task, and published rows where its data set has some."""
    chosen = " (chosen)" if result.count == "auto" else ""
    title = f"{result.task.title}, K = {result.k}{chosen}"
    few = (_row(one.name, one.scores) for one in result.few)
    return _table(title, [*method_rows(result), *few, *_published([result.task], plan, result.k)], plan)


def mean_table(results: Sequence[TaskResult], plan: Plan) -> ResultTable:
    """The mean over tasks; of tasks in several published sub-sets, the mean over sub-sets of the means over tasks."""
    count = results[0].count
    title = f"mean over {len(results)} tasks, K {'= ' + str(count) if isinstance(count, int) else count}"
    if results[0].task.view:
        title += f", view {results[0].task.view}"
    shared = shared_numbers(results)
    groups: dict[str | None, list[list[Row]]] = {}
    for result in results:
        few = (_mean_over_choices(one) for one in result.few if one.labelled in shared)  # each task has its own
        groups.setdefault(result.task.subset, []).append([*method_rows(result), *few])
    rows = _mean([_mean(tasks) for tasks in groups.values()])
    if len(groups) > 1:
        title += f" in {len(groups)} sub-sets"
    tasks = [result.task for result in results]
    return _table(title, [*rows, *_published(tasks, plan, count if isinstance(count, int) else None)], plan)


def study_table(title: str, means: dict[str, ResultTable], plan: Plan) -> ResultTable:
    """F1 of every row for several numbers of key-steps or views, as in the paper's studies of them."""
    protocols = [protocol for protocol in STUDIED if protocol in plan.protocols] or [plan.protocols[0]]
    columns = {f"{word} {p}": (word, p) for word in means for p in protocols}
    methods = dict.fromkeys((row.method, row.note) for table in means.values() for row in table.rows)
    rows = []
    for method, note in methods:
        scores = {}
        for column, (word, protocol) in columns.items():
            row = next((row for row in means[word].rows if (row.method, row.note) == (method, note)), None)
            if row is not None and row.scores.get(protocol):
                scores[column] = row.scores[protocol]
        if scores:
            rows.append(Row(method, scores, note))
    return ResultTable(title, tuple(rows), tuple(columns), ("f1",))


def method_rows(result: TaskResult) -> list[Row]:
    """A row for every method, and one for what random labels score in the limit of many frames."""
    rows = [_row(outcome.method.name, outcome.scores) for outcome in result.outcomes]
    return [_row(EXPECTED, (result.expected,)), *rows]


def shared_numbers(results: Sequence[TaskResult]) -> list[int]:
    """The numbers of labelled recordings that every task has a row for."""
    numbers = [{few.labelled for few in result.few} for result in results]
    return sorted(set.intersection(*numbers))


def task_notes(result: TaskResult, plan: Plan) -> tuple[str, ...]:
    """What there is to know of a task and of its labellings."""
    said = [f"{outcome.method.name}: {note}" for outcome in result.outcomes for note in outcome.notes]
    count = len(result.task.recordings)
    few = [
        f"{labelled} labelled: left out, there are {count} recordings and none would be left to score"
        for labelled in plan.labelled
        if labelled not in {each.labelled for each in result.few}
    ]
    few = [*(each.note for each in result.few), *few, *([LEFT_OUT] if result.few else [])]
    return (*result.task.notes, *result.notes, *said, *few)


def mean_notes(results: Sequence[TaskResult], plan: Plan) -> tuple[str, ...]:
    """What there is to know of labelled recordings in a mean over tasks."""
    shared = shared_numbers(results)
    missing = [str(labelled) for labelled in plan.labelled if labelled not in shared]
    notes = [f"{', '.join(missing)} labelled: left out, some tasks have no recordings left to score"] if missing else []
    if shared:
        notes.append("rows `n labelled`: mean over tasks of the means over choices, each task with choices of its own")
    return tuple(notes)


def headline(outcome: MethodOutcome) -> float:
    """What methods are ranked by: F1 under D, or under the first protocol there is."""
    scores = [each.protocols.get("D") or next(iter(each.protocols.values())) for each in outcome.scores]
    return sum(score.f1 for score in scores) / len(scores)


def for_console(table: ResultTable, width: int | None = None) -> ResultTable:
    """The table with the columns that fit a terminal: of each protocol F1 and IoU, in a narrower one less and less."""
    wide = replace(table, figures=tuple(figure for figure in table.figures if figure in ("f1", "iou")))
    narrow = replace(table, figures=("f1",))
    forms = (wide, narrow, replace(narrow, extras=()))
    return next((form for form in forms if width is None or form.width <= width), forms[-1])


def _table(title: str, rows: Sequence[Row], plan: Plan) -> ResultTable:
    return ResultTable(title, tuple(rows), plan.protocols, FIGURES, EXTRAS)


def _row(name: str, scores: Sequence[Scores]) -> Row:
    protocols = {name: [each.protocols[name] for each in scores] for name in scores[0].protocols}
    return Row(name, protocols, extras={name: [each.extras[name] for each in scores] for name in scores[0].extras})


def _mean_over_choices(few: FewLabels) -> Row:
    row = _row(few.name, few.scores)
    scores = {protocol: [average(each)] for protocol, each in row.scores.items()}
    return Row(few.name, scores, extras={name: [sum(each) / len(each)] for name, each in row.extras.items()})


def _mean(tasks: Sequence[Sequence[Row]]) -> list[Row]:
    return [mean_row(rows[0].method, rows) for rows in zip(*tasks, strict=True)]


def _published(tasks: Sequence[LabelledTask], plan: Plan, k: int | None) -> list[Row]:
    """Published rows for these tasks; those of the whole of EgoProceL where they come from several sub-sets."""
    named = {task.subset or plan.dataset for task in tasks}
    dataset = named.pop() if len(named) == 1 else (None if None in named else WHOLE)
    rows = view_rows() if dataset == VIEWED and tasks[0].view else published_rows(dataset, k) if dataset else []
    return [row for row in rows if any(protocol in row.scores for protocol in plan.protocols)]


def make_csv(sheets: Sequence[ReportTable]) -> str:
    """One line for each table, row and figure: fractions with six digits, mean and spread over seeds.

    In rows `n labelled` choices of the labelled recordings stand in the place of seeds.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", "view", "k", "title", "method", "source", "figure", "seeds", "mean", "spread"])
    for sheet in sheets:
        for row in sheet.table.ordered:
            for figure, summary in zip(sheet.table.headings()[1:], sheet.table.summaries(row), strict=True):
                if summary is not None and not math.isnan(summary.mean):
                    spread = "" if math.isnan(summary.spread) else f"{summary.spread:.6f}"
                    place = [sheet.word, sheet.view, sheet.count, sheet.table.title, row.method, row.note or "ours"]
                    writer.writerow([*place, figure, summary.seeds, f"{summary.mean:.6f}", spread])
    return out.getvalue()


def make_markdown(sheets: Sequence[ReportTable], command: str) -> str:
    """All tables with their notes, and the command that made them."""
    parts = [
        f"Percent; mean ± standard deviation over seeds, over choices in rows `n labelled`.\n\n```\n{command}\n```\n"
    ]
    for sheet in sheets:
        notes = "".join(f"- {note}\n" for note in sheet.notes)
        parts.append(f"## {sheet.table.title}\n\n{notes + chr(10) if notes else ''}{sheet.table.markdown()}")
    return "\n".join(parts)


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Writes each file aside and renames it, so that none is ever half there; raises OutputError."""
    try:
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise OutputError(
            f"results cannot be written to {folder} ({error.strerror or error}): free space or choose another --out."
        ) from error
