"""`python -m offline.study.fault_trial`: right and wrong flags on recordings that nobody learned from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from offline.progress import open_console
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, ways
from offline.study.fault_trial.leaving import LeavingOut
from offline.study.fault_trial.mistakes import Mistaken
from offline.study.fault_trial.options import FaultTrialOptions, Plan, make_plan
from offline.study.fault_trial.sources import read_clean, read_mistaken, write_features
from offline.study.flag_tables import agreement_table, fault_table, missed_table
from offline.study.jobs import do_all
from offline.study.keep import Kept, Plain


def main(options: FaultTrialOptions) -> None:
    """Runs the command."""
    console = open_console()
    plan = make_plan(options)
    clean = read_clean(options, console)
    if options.keep_features is not None:
        write_features(clean, options.keep_features)
        console.print(f"wrote features and labels to {options.keep_features}: give it as --videos elsewhere")
        return
    for table in _tables(*_try(options, plan, clean, console)):
        if table.row_count:
            console.print(table)


def _try(
    options: FaultTrialOptions, plan: Plan, clean: Sequence[LabelledTask], console: Console
) -> tuple[list[Plain], list[Plain]]:
    """The rows of recordings with mistakes, and of recordings left out."""
    kept = Kept(options.cache / "fault_trial" / "done")
    pairs = read_mistaken(options, clean) if "errors" in plan.parts else []
    mistaken = [Mistaken(*pair, plan.conditions) for pair in pairs]
    leaving = _leaving(plan, clean, options.choices)
    done = do_all([*mistaken, *leaving], kept, plan.shift, console)
    parts = done[: len(mistaken)], done[len(mistaken) :]
    return [row for rows in parts[0] for row in rows], [row for rows in parts[1] for row in rows]


def _leaving(plan: Plan, tasks: Sequence[LabelledTask], choices: int) -> list[LeavingOut]:
    """Each recording left out in every way of labelling the others: numbers in the order they were asked for, and one
    choice of the labelled ones for all recordings before a second for any, so that a cut-off run has told something."""
    does = "counterfactual" in plan.parts, "agreement" in plan.parts
    places = {count: place for place, count in reversed([*enumerate((*plan.counts, ALL))])}
    jobs = [
        ((places[way.count], turn), LeavingOut(task, number, way, plan.conditions, *does))
        for task in tasks
        for number in range(len(task.recordings))
        for turn, way in enumerate(ways(plan.counts, len(task.recordings) - 1, choices, number))
        if any(does)
    ]
    return [job for _, job in sorted(jobs, key=lambda job: job[0])]


def _tables(mistaken: list[Plain], leaving: list[Plain]) -> list[Table]:
    return [
        fault_table(leaving, "flags on faults made in recordings left out of learning", ("labelled", "priors")),
        agreement_table(leaving, "agreement of unaries, shuffled and unshuffled", ("labelled",)),
        missed_table(mistaken, "missed steps in recordings with mistakes, live", ("priors",)),
    ]


if __name__ == "__main__":
    entry(FaultTrialOptions, main)
