"""Tasks of a data set that comes as features, or as labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from guide.errors import InputError
from offline import paper
from offline.features import RecordingFeatures
from offline.study.datasets import crosstask, egoprocel_json, procel
from offline.study.datasets.captaincook import CookingTask, list_recipes, read_recipe
from offline.study.datasets.captaincook_annotations import ERRORS_FILE
from offline.study.datasets.folder import choose, read_all
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import TaskSequences
from offline.study.datasets.views import choose_view, choose_views
from offline.study.evaluation.published_rows import dataset_called
from offline.study.evaluation.task import LabelledTask, require_steps

RATE: Final = 1.0
"""CaptainCook4D's features: rows a second."""


def read_feature_tasks(
    folder: Path, words: Sequence[str], include_errors: bool, options: ReadOptions | None = None, view: str = ""
) -> list[LabelledTask]:
    """The tasks called `words`, all of them where there are none; raises InputError naming those there are.

    Only CaptainCook4D comes with features; of other data sets there are labels, enough for what looks at nothing.
    Of tasks that were not named, those without the `view` are left out.
    """
    if folder.is_dir() and any(folder.glob(ERRORS_FILE)):
        if options is not None and options.steps is not None:
            raise InputError(f"--steps is for label files, but {folder} names its steps itself: leave --steps out.")
        if view:
            raise InputError(f"CaptainCook4D has one camera, on the head, and no view {view!r}: leave --view out.")
        recipes = {str(number): name for number, name in list_recipes(folder).items()}
        numbers = [int(word) for word, _ in choose(recipes, words, str)]
        return [require_steps(_recipe(read_recipe(folder, number), include_errors)) for number in numbers]
    chosen = choose(read_all(folder, options=options), words, lambda task: task.name)
    notes: list[str] = []
    if view:
        seen = (
            choose_views(dict(chosen), view) if not words else {word: choose_view(task, view) for word, task in chosen}
        )
        unseen = [task.name for word, task in chosen if word not in seen]
        notes = [f"{len(unseen)} tasks without the view {view} left out: {', '.join(unseen)}"] if unseen else []
        chosen = list(seen.items())
    tasks = [_sequences(word, task, _dataset(folder, word)) for word, task in chosen]
    return [replace(require_steps(task), notes=(*task.notes, *notes), view=view) for task in tasks]


def _recipe(task: CookingTask, include_errors: bool) -> LabelledTask:
    chosen = task.recordings if include_errors else task.clean
    overlaps = sum(recording.overlaps for recording in chosen)
    notes = [f"{overlaps} overlaps of steps resolved: the step listed later wins"]
    past = [recording.id for recording in chosen if recording.past_end]
    if past:
        notes.append(f"steps go on after the last row of features and are cut there in {', '.join(past)}")
    if len(chosen) < len(task.recordings):
        notes.append(
            f"{len(task.recordings) - len(chosen)} recordings with mistakes left out (--include-errors takes them)"
        )
    if task.missing:
        notes.append(f"{len(task.missing)} recordings without a feature file left out: {', '.join(task.missing)}")
    return LabelledTask(
        word=str(task.number),
        name=task.name,
        steps={step.number: step.name for step in task.steps},
        recordings=tuple(
            RecordingFeatures(each.id, RATE, np.arange(len(each.labels)) / RATE, each.features) for each in chosen
        ),
        truth=tuple(each.labels for each in chosen),
        notes=tuple(notes),
    )


def _dataset(folder: Path, word: str) -> str | None:
    """What the published tables call the data set of a task."""
    if crosstask.find_release(folder):
        return "CrossTask"
    if procel.find_tasks(folder):
        return "ProceL"
    return dataset_called(egoprocel_json.subset_of(word))


def _sequences(word: str, task: TaskSequences, subset: str | None) -> LabelledTask:
    """A task without pictures, at the rate the paper's tables agree with."""
    rate = paper.FRAMES_PER_SECOND
    truth = tuple(recording.labels(rate) for recording in task.recordings)
    nothing = [np.zeros((len(labels), 1), np.float32) for labels in truth]
    ids = [recording.id for recording in task.recordings]
    notes = ["labels only: what looks at frames cannot be scored here", *task.remarks()]
    unknown = sum(not recording.has_length for recording in task.recordings)
    if unknown:
        notes.append(
            f"the length of {unknown} of {len(ids)} recordings is not known: they are taken to end with their last "
            "step, and background after it is not scored"
        )
    return LabelledTask(
        word=word,
        name=task.name,
        steps={step.number: step.name for step in task.steps},
        recordings=tuple(
            RecordingFeatures(id_, rate, np.arange(len(rows)) / rate, rows)
            for id_, rows in zip(ids, nothing, strict=True)
        ),
        truth=truth,
        notes=tuple(notes),
        subset=subset,
        is_seen=False,
    )
