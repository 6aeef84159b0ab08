"""What every part of the trial works with: priors, how many faults are made, where results are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from guide.domain import BACKGROUND, KeyStep
from guide.task_model import PRIORS, Prior
from guide.teach.describe import describe
from offline.config import Recipe, resolve
from offline.features import RecordingFeatures
from offline.study.evaluation.embedders import SOURCES as EMBEDDER_SOURCES
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import SOURCES as FINDER_SOURCES
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import NONE, Taught, Way, demonstrations_of
from offline.study.following import Lesson
from offline.study.keep import source_hash

CPU: Final = torch.device("cpu")  # heads are small, and many processes work at once
PRIOR_SETS: Final[dict[str, tuple[Prior, ...]]] = {"on": PRIORS, "off": ()} | {name: (name,) for name in PRIORS}
"""What a row of the table counts beside the evidence: all, nothing, or one of them alone."""
SOURCES: Final = (
    *EMBEDDER_SOURCES, *FINDER_SOURCES, "guide.task_model", "guide.procedure", "guide.settings", "guide.teach",
    "offline.config", "offline.metrics", "offline.study.counterfactual", "offline.study.evaluation",
    "offline.study.fault_trial", "offline.study.flags", "offline.study.following", "offline.study.trial",
)  # fmt: skip
"""The code that decides the results that both trials keep; a test compares it with what is imported."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How recordings are followed."""

    cache: Path
    priors: tuple[str, ...] = ("on", "off")
    each: int = 3
    """Faults of each kind made from one recording, at most."""
    shuffles: int = 2
    """Orders in which a recording is shown, to see whether unaries depend on it."""
    seed: int = 1

    @property
    def recipe(self) -> Recipe:
        return resolve("default", None, {})

    @property
    def search(self) -> Search:
        """Shares what it finds with `offline.study.left_out`."""
        return Search(self.recipe, Embedders(self.cache / "evaluate", CPU))

    @property
    def facts(self) -> list[object]:
        """What decides results, as plain values."""
        return [self.priors, self.each, self.shuffles, self.seed, source_hash(*SOURCES)]


def learn(task: LabelledTask, way: Way, taught: Taught, copies: tuple[tuple[NDArray[Any], ...], ...] = ()) -> Lesson:
    """All that the recordings of a task, with copies of each where there are any, teach the live side."""
    demonstrations = demonstrations_of(task, way, copies)
    steps = steps_of(task, way, taught)
    learned = describe(demonstrations, taught.labels, steps)
    return Lesson(learned, demonstrations)


def unaries_of(lesson: Lesson, recording: RecordingFeatures) -> NDArray[np.float64]:
    """What each label costs in each frame, (T, C), by itself and without priors."""
    embedding = lesson.demonstrations.embed(recording.pooled, recording.times)
    return np.asarray(1.0 - lesson.learned.prototypes.memberships(embedding))


def steps_of(task: LabelledTask, way: Way, taught: Taught) -> Sequence[KeyStep]:
    """The steps that labels teach; found ones have no names."""
    numbers = np.unique(np.concatenate(list(taught.labels)))
    names = {} if way.count == NONE else task.steps
    return [KeyStep(int(one), names.get(int(one)) or f"step {one}") for one in numbers if one > BACKGROUND]
