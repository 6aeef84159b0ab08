"""`python -m offline.study.evaluate`: score key-step finders against true steps, beside what no vision scores."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Sequence

import torch
from rich.console import Console

from guide.commands.entry import entry
from guide.words import count_of
from offline.fleet import Fleet, open_fleet
from offline.progress import progress
from offline.study.datasets.label_folder import ReadOptions
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.evaluation_report import (
    LEFT_OUT,
    ReportTable,
    for_console,
    make_csv,
    make_markdown,
    make_report_tables,
    write_files,
)
from offline.study.evaluation.feature_tasks import read_feature_tasks
from offline.study.evaluation.finding import Search
from offline.study.evaluation.page import make_page
from offline.study.evaluation.plan import EvaluateOptions, Plan, fitted, make_plan, require_fit
from offline.study.evaluation.recording_tasks import LabelRequest, check_tasks, see_all
from offline.study.evaluation.run import Runner, find_elsewhere, total_effort
from offline.study.evaluation.task import LabelledTask


def main(options: EvaluateOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    evaluate(options, console, shlex.join(["python", "-m", "offline.study.evaluate", *sys.argv[1:]]))


def evaluate(options: EvaluateOptions, console: Console, command: str = "") -> list[ReportTable]:
    """Reads, runs, scores, prints and writes."""
    plan = make_plan(options)
    with open_fleet(options.ray, options.cache, options.device) as fleet:
        views = plan.views or ("",)
        tasks = [task for view in views for task in read_tasks(options, plan, console, view, fleet)]
        plan = fitted(plan, tasks, bool(options.cluster or options.losses))
        require_fit(plan, tasks)
        _tell_tasks(tasks, console)
        device = plan.device if fleet is None else torch.device(fleet.device)
        search = Search(plan.recipe, Embedders((options.cache / "evaluation").resolve(), device))
        if fleet is not None:
            find_elsewhere(plan, search, tasks, fleet.executor, console)
    with progress(console, "scoring", total_effort(plan, tasks)) as advance:
        results = Runner(plan, search, advance).run(tasks)
    sheets = make_report_tables(results, plan)
    _print(sheets, {note for task in tasks for note in task.notes}, console)
    files = {
        "results.csv": make_csv(sheets),
        "results.md": make_markdown(sheets, command),
        "results.html": make_page(results, sheets, command),
    }
    write_files(options.out, files)
    console.print(f"wrote {', '.join(files)} to {options.out}\nnext: open {options.out / 'results.html'} in a browser")
    return sheets


def read_tasks(
    options: EvaluateOptions, plan: Plan, console: Console, view: str = "", fleet: Fleet | None = None
) -> list[LabelledTask]:
    """The tasks with their true labels, of one camera where one is named; labels are checked before any looking."""
    words = [word.strip() for word in options.task.split(",") if word.strip()]
    if options.features is not None:
        how = ReadOptions(options.lenient, tier=options.tier, steps=options.steps)
        return read_feature_tasks(options.features, words, options.include_errors, how, view)
    assert options.videos is not None, "the plan has seen to it"
    request = LabelRequest(options.labels, options.steps, options.lenient, view, options.tier, options.skip_bad)
    checked = check_tasks(options.videos, words, options.rate, request)
    return see_all(checked, plan.recipe, options.cache, console, options.backbone_weights, options.device, fleet)


def _tell_tasks(tasks: Sequence[LabelledTask], console: Console) -> None:
    for task in tasks:
        seconds = sum(len(recording) / recording.rate for recording in task.recordings)
        recordings, steps = count_of(len(task.recordings), "recording"), count_of(task.k, "step")
        console.print(f"{task.title}: {recordings}, {seconds / 60:.1f} minutes, {steps}")
        for note in task.notes:
            console.print(f"  {note}")


def _print(sheets: Sequence[ReportTable], told: Collection[str], console: Console) -> None:
    said = set(told)
    width = console.width if console.is_terminal else None
    shown = [for_console(sheet.table, width) for sheet in sheets]
    for sheet, table in zip(sheets, shown, strict=True):
        table.console(console)
        for note in sheet.notes:
            if note not in said:
                console.print(f"note: {note}")
        said |= {note for note in sheet.notes if note == LEFT_OUT}
    if any(table != for_console(sheet.table) for sheet, table in zip(sheets, shown, strict=True)):
        console.print("The terminal is too narrow for all columns: the files have them.")


if __name__ == "__main__":
    entry(EvaluateOptions, main)
