"""The labelled clean recordings that faulty ones are made from: pictures or features, with the label of every frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Times
from guide.errors import InputError
from guide.teach.annotations import segments_to_labels
from offline.study.counterfactual.pieces import Index, Layout, retime
from offline.study.counterfactual.pixels import read_times, write_spliced
from offline.study.datasets.captaincook_annotations import ERRORS_FILE
from offline.study.evaluation.feature_tasks import read_feature_tasks
from offline.study.evaluation.recording_tasks import Checked, LabelRequest, check_tasks
from offline.videos import Recording, open_frames, read_feature_file


@dataclass(frozen=True, slots=True)
class Source:
    """One labelled recording: its frames' times (T,) and labels (T,), and its features where it holds no pictures.

    >>> Source("a", 1.0, np.arange(2.0), np.array([1, 2]), features=np.zeros((2, 3))).layout.steps
    (1, 2)
    """

    id: str
    rate: float
    times: Times
    labels: Labels
    pictures: Recording | None = None
    features: NDArray[Any] | None = None  # (T, D)

    @property
    def layout(self) -> Layout:
        return Layout.of(self.labels)

    @property
    def suffix(self) -> str:
        return ".mp4" if self.features is None else ".npz"

    def write(self, index: Index, path: Path) -> None:
        """Writes the frames `index` (M,) in this order, pictures as a video, features with their rate."""
        if self.features is not None:
            np.savez(path, features=np.asarray(self.features)[index], rate=np.float64(self.rate))
            return
        assert self.pictures is not None, "a source has pictures or features"
        write_spliced(open_frames(self.pictures), index, retime(index, self.times, self.rate), path)


@dataclass(frozen=True, slots=True)
class Task:
    """The sources of one task, the names of its steps, and what was said of the labels."""

    sources: tuple[Source, ...]
    names: Mapping[int, str]
    notes: tuple[str, ...] = ()


def read_task(folder: Path, word: str | None, rate: float | None, labels: LabelRequest) -> Task:
    """The clean recordings of a task; raises InputError where there are none, or several tasks and no word for one.

    A folder of CaptainCook4D gives the recordings of a recipe without a mistake, any other its labelled recordings.
    """
    if not folder.is_dir():
        raise InputError(f"a folder of labelled recordings was expected, {folder} is none: check the path.")
    task = _recipe(folder, word) if any(folder.glob(ERRORS_FILE)) else _recordings(folder, word, rate, labels)
    usable = tuple(source for source in task.sources if source.layout.pieces)
    if not usable:
        raise InputError(f"clean recordings with labelled steps were expected in {folder}, but none has: check labels.")
    return Task(usable, task.names, task.notes)


def _recipe(folder: Path, word: str | None) -> Task:
    tasks = read_feature_tasks(folder, [word] if word else [], False)
    _only([task.word for task in tasks], folder)
    sources = tuple(
        Source(one.id, one.rate, one.times, labels, features=one.pooled)
        for one, labels in zip(tasks[0].recordings, tasks[0].truth, strict=True)
    )
    return Task(sources, tasks[0].steps)


def _recordings(folder: Path, word: str | None, rate: float | None, labels: LabelRequest) -> Task:
    checked = check_tasks(folder, [word] if word else [], rate, labels)
    _only([task.word for task in checked], folder)
    return Task(_sources(checked[0]), checked[0].names, checked[0].notes)


def _sources(task: Checked) -> tuple[Source, ...]:
    sources = []
    for facts, segments in zip(task.facts, task.segments, strict=True):
        one, is_seen = facts.recording, facts.width is not None
        times = np.arange(facts.frames) / facts.rate if is_seen else read_times(open_frames(one))
        looks = (None, read_feature_file(one)[0]) if is_seen else (one, None)
        sources.append(Source(one.id, facts.rate, times, segments_to_labels(segments, times), *looks))
    return tuple(sources)


def _only(words: list[str], folder: Path) -> None:
    if len(words) != 1:
        raise InputError(f"{folder} holds {len(words)} tasks ({', '.join(words)}): choose one with --task.")
