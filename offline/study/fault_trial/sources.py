"""The tasks that are tried: clean recordings with true labels, and those with mistakes where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from guide.errors import OutputError
from guide.teach.annotations import labels_to_segments, write_labels
from offline.config import resolve
from offline.study.evaluation.feature_tasks import read_feature_tasks
from offline.study.evaluation.recording_tasks import LabelRequest, check_tasks, see_all
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import require_enough
from offline.study.fault_trial.mistakes import without_clean
from offline.study.fault_trial.options import FaultTrialOptions
from offline.study.jobs import DEMONSTRATIONS, read_seeds

if TYPE_CHECKING:
    from offline.fleet import Fleet


def read_clean(options: FaultTrialOptions, console: Console) -> list[LabelledTask]:
    """The clean recordings of each task; raises InputError where a task has too few to leave one out."""
    words = _words(options)
    if options.features is not None:
        tasks = read_feature_tasks(options.features, words, False)
    elif options.videos is None:
        tasks = draw_tasks(options.drawn, options.cache, console)
    else:
        checked = check_tasks(options.videos, words, options.rate, LabelRequest(options.labels))
        recipe, weights = resolve("default", None, {}), options.backbone_weights
        with _fleet(options) as fleet:
            tasks = see_all(checked, recipe, options.cache, console, weights, fleet=fleet)
    for task in tasks:
        require_enough(task)
    return tasks


def _fleet(options: FaultTrialOptions) -> AbstractContextManager[Fleet | None]:
    if options.ray is None:
        return nullcontext()
    from offline.fleet import open_fleet  # only a cluster, which looks at pictures, needs ONNX Runtime

    return open_fleet(options.ray, options.cache, "auto")


def read_mistaken(options: FaultTrialOptions, clean: Sequence[LabelledTask]) -> list[tuple[LabelledTask, LabelledTask]]:
    """Clean recordings and those with mistakes of each task that has any: videos of a folder all count as clean."""
    if options.features is None:
        return []
    everything = read_feature_tasks(options.features, _words(options), True)
    pairs = [(task, without_clean(whole, task)) for task, whole in zip(clean, everything, strict=True)]
    return [(task, mistaken) for task, mistaken in pairs if mistaken.recordings]


def write_features(tasks: Sequence[LabelledTask], folder: Path) -> None:
    """What is seen in each recording and its labels, one folder a task, as --videos reads them."""
    try:
        for task in tasks:
            place = folder / task.word
            place.mkdir(parents=True, exist_ok=True)
            for one, labels in zip(task.recordings, task.truth, strict=True):
                # Half the digits: what is seen of a frame says less than that, and files travel.
                np.savez(
                    place / f"{one.id}.npz",
                    features=np.asarray(one.pooled, np.float16),
                    rate=np.float64(one.rate),
                    means=np.int64(one.mean_width),
                )
                even = np.arange(len(one)) / one.rate
                write_labels(place / f"{one.id}.csv", labels_to_segments(labels, even, one.rate), task.steps)
    except OSError as error:
        raise OutputError(
            f"features cannot be written to {folder} ({error.strerror or error}): free space or name another folder."
        ) from error


def _words(options: FaultTrialOptions) -> list[str]:
    return [word.strip() for word in options.task.split(",") if word.strip()]


def draw_tasks(seeds: str, cache: Path, console: Console) -> list[LabelledTask]:
    """The demonstrations of drawn worlds, as the trunk sees the pictures before they become a video."""
    from offline.study.trial.trying import demonstrations, task_of  # with the painter, which others do without
    from offline.study.trial.worlds import Worlds

    worlds = Worlds(cache / "drawn")
    entries = {seed: demonstrations(worlds, seed, DEMONSTRATIONS) for seed in read_seeds(seeds, "--drawn")}
    worlds.draw([entry for own in entries.values() for entry in own], console)
    return [task_of(seed, [worlds.read(one) for one in own]) for seed, own in entries.items()]
