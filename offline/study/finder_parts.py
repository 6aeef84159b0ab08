"""`python -m offline.study.finder_parts`: what each part of the finder brings, with it and without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.domain import Features
from guide.teach.collection import Collection
from offline.keysteps.correspond import CorrespondAndCut, CorrespondSettings
from offline.metrics import PROTOCOLS
from offline.study.evaluate import read_tasks
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.plan import EvaluateOptions, make_plan
from offline.study.evaluation.task import LabelledTask
from offline.study.tables import Summary

ALL: Final = CorrespondSettings()
SETTINGS: Final[Mapping[str, CorrespondSettings]] = {
    "all parts": ALL,
    "paired off once": replace(ALL, rounds=0),
    "paired off three times": replace(ALL, rounds=2),
    "two cuttings": replace(ALL, lengths=(0.5, 0.7)),
    "hardly a group to spare": replace(ALL, spare=0.0),
}
VIEWS: Final[Mapping[str, Callable[[Collection], Collection]]] = {
    "features in both views: no TC3I": lambda made: replace(made, embeddings=_single(made.features)),
    "embedding in both views": lambda made: replace(made, features=made.embeddings),
}
ONE_HEAD: Final = "one head"


@dataclass(frozen=True)
class Options:
    """Find key-steps of labelled tasks by the default finder, and by it without one of its parts; print D, K given."""

    features: Path | None = None
    """A folder of CaptainCook4D: features and annotations."""
    videos: Path | None = None
    """Or a folder of recordings of one task, or of such folders, with label files beside them."""
    task: str = ""
    """Which tasks, with commas between; all where none is named."""
    seeds: int = 5
    """How many seeds; figures are means and standard deviations over them."""
    cache: Path = Path(".cache/cnc")
    """Where features and embeddings are kept between runs."""


def main(options: Options) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, width=200)
    asked = EvaluateOptions(options.features, options.videos, task=options.task, seeds=options.seeds)
    plan = make_plan(replace(asked, cache=options.cache))
    tasks = read_tasks(replace(asked, cache=options.cache), plan, console)
    search = Search(plan.recipe, Embedders(options.cache / "evaluation", torch.device("cpu")))
    found = [[scores_of(task, search, seed) for seed in range(options.seeds)] for task in tasks]
    table = Table(title=f"D of key-steps, K given, {options.seeds} seeds")
    for heading in ("", *(task.title for task in tasks), "mean"):
        table.add_column(heading, justify="left" if not heading else "right")
    for part in found[0][0]:
        each = [Summary.of([scores[part] for scores in seeds]) for seeds in found]
        table.add_row(part, *map(str, each), f"{100 * sum(one.mean for one in each) / len(each):.1f}")
    console.print(table)


def scores_of(task: LabelledTask, search: Search, seed: int) -> dict[str, float]:
    """D with all parts and without each."""
    made = _embedded(task, search, seed)
    tries = {part: (made, settings) for part, settings in SETTINGS.items()}
    tries |= {part: (change(made), ALL) for part, change in VIEWS.items()}
    tries[ONE_HEAD] = _embedded(task, replace(search, recipe=replace(search.recipe, heads=1)), seed), ALL
    return {
        part: PROTOCOLS["D"](task.truth, CorrespondAndCut(settings).find(one, task.k, seed).labels).f1
        for part, (one, settings) in tries.items()
    }


def _single(features: Sequence[NDArray[Any]]) -> tuple[Features, ...]:
    return tuple(np.asarray(each, np.float32) for each in features)


def _embedded(task: LabelledTask, search: Search, seed: int) -> Collection:
    return search.collection(task, search.recipe.loss, task.k, seed, lambda *_: None)


if __name__ == "__main__":
    entry(Options, main)
