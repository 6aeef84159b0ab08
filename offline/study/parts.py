"""`python -m offline.study.parts finder`: what each part of a stage brings, with it and without, over several seeds.

The stages are the finder (D, K given), carrying the labels of two recordings to the others (D of these), recognition
by memberships alone in a recording left out whose stretches are shuffled, live labels of one left out, all others
labelled (both: frames of steps that are right), and flags in recordings left out, as they are and with faults made in
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.domain import Labels
from guide.teach.carrying import Carrying
from guide.teach.collection import Collection, Found
from guide.teach.prototypes import WAYS, learn_prototypes
from guide.teach.reorder import shuffled
from guide.teach.subsample import Fewer
from guide.words import count_of
from offline.config import resolve
from offline.features import RecordingFeatures
from offline.keysteps.correspond import CorrespondAndCut, CorrespondSettings
from offline.metrics import PROTOCOLS
from offline.metrics.live import step_frames
from offline.study.evaluate import read_tasks
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.plan import EvaluateOptions, make_plan
from offline.study.evaluation.scoring import choices, score_others
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import (
    ALL,
    Taught,
    Way,
    demonstrations_of,
    read_numbers,
    require_enough,
    without,
)
from offline.study.fault_trial.conditions import learn
from offline.study.fault_trial.sources import draw_tasks
from offline.study.flag_parts import jobs_of, part_table
from offline.study.following import live_labels, see
from offline.study.jobs import Shift, ShiftOptions, do_all, require_from
from offline.study.keep import Kept
from offline.study.mechanisms import LABELS, WHOLE, Instead, switched_off
from offline.study.tables import Summary

Stage = Literal["finder", "carrying", "recognition", "live", "flags"]
Scores = dict[str, float]

ONE_LENGTH: Final = CorrespondSettings(shorter=(1.0,))
FINDERS: Final[Mapping[str, CorrespondSettings]] = {
    WHOLE: CorrespondSettings(),
    "one length of steps": ONE_LENGTH,
    "paired off once": replace(ONE_LENGTH, rounds=0),
    "paired off three times": replace(ONE_LENGTH, rounds=2),
    "two cuttings": replace(ONE_LENGTH, lengths=(0.5, 0.7)),
    "hardly a group to spare": replace(ONE_LENGTH, spare=0.0),
    "no lead-in": replace(ONE_LENGTH, lead_in=0.0),
}
VIEWS: Final[Mapping[str, Callable[[Collection], Collection]]] = {
    "features in both views: no TC3I": lambda made: replace(
        made, embeddings=tuple(np.asarray(each, np.float32) for each in made.features)
    ),
    "embedding in both views": lambda made: replace(made, features=made.embeddings),
}
ONE_HEAD: Final = "one head"

CARRYING: Final = Carrying()
CARRIERS: Final[Mapping[str, Carrying]] = {
    WHOLE: CARRYING,
    "no place": replace(CARRYING, settings=replace(CARRYING.settings, place_weight=0.0)),
    "no share of the time": replace(CARRYING, settings=replace(CARRYING.settings, share_weight=1e-6)),
    "one round": replace(CARRYING, rounds=1),
    "no lead-in": replace(CARRYING, has_lead_in=False),
}
FRAME_BY_FRAME: Final = "frame by frame"
LABELLED: Final = 2

COPIES: Final[Mapping[str, int]] = {WHOLE: WAYS, "no copies in other orders": 0, "copies in other orders only": 2}
SHUFFLES: Final = 3


@dataclass(frozen=True)
class Options(ShiftOptions):
    """Print a figure of a stage on labelled tasks with all its parts, and without each; workers and minutes are for
    flags."""

    stage: Annotated[Stage, tyro.conf.Positional]
    """Which stage."""
    features: Path | None = None
    """A folder of CaptainCook4D: features and annotations."""
    videos: Path | None = None
    """Or a folder of recordings of one task, or of such folders, with label files beside them."""
    drawn: str = ""
    """Or seeds of drawn worlds, such as 1021-1025,1031: their demonstrations, as `offline.study.trial` draws them."""
    task: str = ""
    """Which tasks, with commas between; all where none is named."""
    seeds: int = 5
    """How many seeds, choices of labelled recordings, or recordings left out; the spread is over these."""
    labelled: str = "all"
    """Flags: how many of the others come with their true labels, with commas between; a table each."""
    recordings: int = 1
    """Flags: recordings left out of each task by a seed."""
    each: int = 2
    """Flags: faults of each kind made from one of them, at most."""
    backbone_weights: Path | None = None
    """A file with the trunk's weights: where it cannot be downloaded, or a fine-tuned one."""


def main(options: Options) -> None:
    """Runs the command."""
    for name in ("recordings", "each"):
        require_from(name, getattr(options, name), 1)
    shift = options.shift()
    console = Console(highlight=False, markup=False, width=200)
    tasks = _read(options, console)
    if options.stage == "flags":
        _flags(options, tasks, shift, console)
        return
    search = Search(resolve("default", None, {}), Embedders(options.cache / "evaluation", torch.device("cpu")))
    found = [[scores_of(options.stage, task, search, seed) for seed in range(options.seeds)] for task in tasks]
    table = Table(title=f"{options.stage}, {options.seeds} seeds")
    for heading in ("", *(task.title for task in tasks), "mean"):
        table.add_column(heading, justify="left" if not heading else "right")
    for part in found[0][0]:
        each = [Summary.of([scores[part] for scores in seeds]) for seeds in found]
        table.add_row(part, *map(str, each), f"{100 * sum(one.mean for one in each) / len(each):.1f}")
    console.print(table)


def _read(options: Options, console: Console) -> list[LabelledTask]:
    """The labelled tasks."""
    if options.drawn:
        return draw_tasks(options.drawn, options.cache, console)
    asked = EvaluateOptions(options.features, options.videos, task=options.task, seeds=options.seeds)
    asked = replace(asked, backbone_weights=options.backbone_weights, cache=options.cache)
    return read_tasks(asked, make_plan(asked), console)


def _flags(options: Options, tasks: Sequence[LabelledTask], shift: Shift, console: Console) -> None:
    for task in tasks:
        require_enough(task)
    seeds = count_of(options.seeds, "seed")
    counts, cache = read_numbers(options.labelled), options.cache.resolve()
    jobs = jobs_of(tasks, counts, options.seeds, options.recordings, options.each, cache)
    rows = [row for done in do_all(jobs, Kept(cache / "parts" / "done"), shift, console) for row in done]
    for count in dict.fromkeys(str(row["labelled"]) for row in rows):
        own = [row for row in rows if row["labelled"] == count]
        console.print(part_table(own, f"flags, {count} labelled, {seeds}"))


def scores_of(stage: Stage, task: LabelledTask, search: Search, seed: int) -> Scores:
    """The stage's figure with all parts and without each."""
    if stage == "finder":
        return _finder(task, search, seed)
    require_enough(task)
    return {"carrying": _carrying, "recognition": _recognition, "live": _live}[stage](task, seed)


def _finder(task: LabelledTask, search: Search, seed: int) -> Scores:
    made = _embedded(task, search, seed)
    tries = {part: (made, settings) for part, settings in FINDERS.items()}
    tries |= {part: (change(made), ONE_LENGTH) for part, change in VIEWS.items()}
    tries[ONE_HEAD] = _embedded(task, replace(search, recipe=replace(search.recipe, heads=1)), seed), ONE_LENGTH
    return {
        part: PROTOCOLS["D"](task.truth, CorrespondAndCut(settings).find(one, task.k, seed).labels).f1
        for part, (one, settings) in tries.items()
    }


def _carrying(task: LabelledTask, seed: int) -> Scores:
    [chosen] = choices(len(task.recordings), LABELLED, most=1, seed=seed)
    given = [labels if number in chosen else None for number, labels in enumerate(task.truth)]
    labels = {part: carrying.carry(task.seen(), given) for part, carrying in CARRIERS.items()}
    labels[FRAME_BY_FRAME] = _frame_by_frame(task, given)
    return {part: score_others(task, chosen, found, ["D"]).protocols["D"].f1 for part, found in labels.items()}


def _frame_by_frame(task: LabelledTask, given: Sequence[Labels | None]) -> Found:
    """Labels by what the labelled ones teach of single frames; nothing is read as a history."""
    few = Fewer(task.seen(), 1, tuple(range(len(given))))
    carried, _ = CARRYING.task_of(few, given)
    lesson = CARRYING.lesson(carried, given)
    return Found(tuple(CARRYING.label(carried, lesson, rows) for rows in carried.rows))


def _recognition(task: LabelledTask, seed: int) -> Scores:
    others, recording, truth = _leave_out(task, seed)
    demonstrations, rng = demonstrations_of(others, Way(ALL)), np.random.default_rng(seed)
    orders = [shuffled(truth, rng) for _ in range(SHUFFLES)]
    seen = [demonstrations.embed(recording.pooled[order], recording.times) for order in orders]

    def accuracy(ways: int) -> float:
        prototypes = learn_prototypes(demonstrations, others.truth, ways=ways).prototypes
        steps = np.array(prototypes.steps)
        named = [steps[prototypes.memberships(each).argmax(1)] for each in seen]
        return float(np.mean([step_frames(truth[o], own).accuracy for o, own in zip(orders, named, strict=True)]))

    return {part: accuracy(ways) for part, ways in COPIES.items()}


def _leave_out(task: LabelledTask, seed: int) -> tuple[LabelledTask, RecordingFeatures, Labels]:
    """The others, and a recording with its labels; five seeds leave out recordings from the first to the last."""
    number = seed * len(task.recordings) // 5 % len(task.recordings)
    return without(task, number), task.recordings[number], task.truth[number]


def _live(task: LabelledTask, seed: int) -> Scores:
    others, recording, truth = _leave_out(task, seed)
    lesson = learn(others, Way(ALL), Taught(others.truth, {step: step for step in others.steps}))
    sight = see(lesson, recording)

    def accuracy(instead: Instead) -> float:
        with switched_off(instead):
            return step_frames(truth, live_labels(lesson, sight)).accuracy

    return {part: accuracy(instead) for part, instead in {WHOLE: {}, **LABELS}.items()}


def _embedded(task: LabelledTask, search: Search, seed: int) -> Collection:
    return search.collection(task, search.recipe.loss, task.k, seed, lambda *_: None)


if __name__ == "__main__":
    entry(Options, main)
