"""How right live labels are on recordings that nobody learned from, with few labels, many or none.

`python -m offline.study.left_out --features DIR --task 1,3,12`: each recording is left out in turn; the others teach as
`offline.train` would have them teach, and the one left out is then labelled frame by frame as a session labels it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.domain import BACKGROUND, Labels
from guide.errors import InputError
from guide.label.membership import squared_distances
from offline.config import resolve
from offline.features import RecordingFeatures
from offline.metrics.live import StepFrames, step_frames
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.feature_tasks import read_feature_tasks
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, Taught, Way, read_numbers, require_enough, teach, ways, without
from offline.study.fault_trial.conditions import learn
from offline.study.following import Lesson, live_labels, see

NEAREST, ELAPSED = "nearest prototype", "elapsed time alone"
NEARBY_S = 5.0  # on either side: what others did about then

Scores: TypeAlias = dict[str, list[StepFrames]]  # by row of the table


@dataclass(frozen=True, slots=True)
class LeftOutOptions:
    """Leave each recording out in turn, learn from the others, and score its live labels on the frames of steps."""

    features: Path
    """Folder of a data set with features, such as CaptainCook4D."""
    task: str = ""
    """Tasks with commas between; all where none is named."""
    labelled: str = "0,1,2,4,all"
    """How many of the others come with their true labels."""
    lags: str = "2,5"
    """Seconds after which a label is released."""
    choices: int = 3
    """Of the ways to choose the labelled ones, so many are tried for each recording left out."""
    cache: Path = Path(".cache/cnc")
    """Where embeddings and found steps are kept between runs."""


def main(options: LeftOutOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False)
    lags = _lags(options.lags)
    counts = read_numbers(options.labelled)
    tasks = read_feature_tasks(options.features, [word for word in options.task.split(",") if word], False)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    search = Search(resolve("default", None, {}), Embedders(options.cache / "evaluate", device))
    results = {task.title: _task(task, counts, lags, search, options.choices, console) for task in tasks}
    console.print(_table(results))


def _lags(text: str) -> list[float]:
    try:
        lags = [float(part) for part in text.split(",")]
    except ValueError:
        lags = [-1.0]
    if not all(0 <= lag < np.inf for lag in lags):
        raise InputError(f"--lags takes seconds with commas between, such as 2,5, got {text!r}.")
    return lags


def _task(
    task: LabelledTask, counts: Sequence[str], lags: Sequence[float], search: Search, most: int, console: Console
) -> Scores:
    """The scores of every recording left out, by row."""
    require_enough(task)
    scores: Scores = {}
    for number, recording in enumerate(task.recordings):
        others, truth = without(task, number), task.truth[number]
        for way in ways(counts, len(others.recordings), most, number):
            taught = teach(others, way, search)
            for row, found in _followed(others, way, taught, recording, lags).items():
                scores.setdefault(row, []).append(step_frames(truth, taught.named(found)))
        console.print(f"{task.title}: {number + 1} of {len(task.recordings)} left out", style="dim")
    return scores


def _row(count: str, lag: float) -> str:
    return f"{count} labelled, {lag:g} s"


def _followed(
    others: LabelledTask, way: Way, taught: Taught, recording: RecordingFeatures, lags: Sequence[float]
) -> dict[str, Labels]:
    """Labels (T,) of a recording by row, as a session with what the others taught labels it."""
    lesson = learn(others, way, taught)
    sight = see(lesson, recording)
    rows: dict[str, Labels] = {}
    for lag in lags:
        rows[_row(way.count, lag)] = live_labels(lesson, sight, lag)
    rows[f"{NEAREST}, {way.count} labelled"] = _nearest(lesson, taught.labels, recording)
    if way.count == ALL:
        rows[ELAPSED] = elapsed_time(others, taught.labels, recording)
    return rows


def _nearest(lesson: Lesson, labels: Sequence[Labels], recording: RecordingFeatures) -> Labels:
    """The step whose mean embedding is nearest: what a plain prototype can do."""
    rows, numbers = np.concatenate(lesson.demonstrations.embeddings), np.concatenate(list(labels))
    steps = np.unique(numbers[numbers > BACKGROUND])
    centres = np.stack([rows[numbers == step].mean(0, dtype=np.float64) for step in steps])
    seen = lesson.demonstrations.embed(recording.pooled, recording.times)
    return np.asarray(steps[squared_distances(seen, centres).argmin(1)])


def elapsed_time(task: LabelledTask, labels: Sequence[Labels], recording: RecordingFeatures) -> Labels:
    """What most others did about as long after the beginning."""
    found, last = np.zeros(len(recording), np.int64), BACKGROUND
    for frame, at in enumerate(recording.times):
        near = [
            own[(np.abs(one.times - at) <= NEARBY_S) & (own > BACKGROUND)]
            for one, own in zip(task.recordings, labels, strict=True)
        ]
        counts = np.bincount(np.concatenate(near))
        last = int(counts.argmax()) if len(counts) else last
        found[frame] = last
    return found


def _table(results: Mapping[str, Scores]) -> Table:
    """Accuracy and macro F1 in percent, a column a task."""
    table = Table(title="live labels of recordings left out: accuracy / macro F1 on the frames of steps")
    table.add_column("row")
    for title in (*results, "mean"):
        table.add_column(title, justify="right")
    for row in sorted({row for scores in results.values() for row in scores}, key=_place):
        means = [np.nanmean(np.array(scores[row]), axis=0) if row in scores else None for scores in results.values()]
        there = [mean for mean in means if mean is not None]
        table.add_row(row, *map(_figure, means), _figure(np.mean(there, axis=0)))
    return table


def _place(row: str) -> tuple[bool, bool, str]:
    """Ours come first, by number of labels, then what they are compared with."""
    return row.startswith(ELAPSED), row.startswith(NEAREST), row


def _figure(mean: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None) -> str:
    return "" if mean is None else f"{100 * mean[0]:.1f} / {100 * mean[1]:.1f}"


if __name__ == "__main__":
    entry(LeftOutOptions, main)
