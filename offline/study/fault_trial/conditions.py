"""What every part of the trial works with: recognisers, priors, how many faults are made, where results are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Features, KeyStep
from guide.perceive.appearance import appearance
from guide.settings import RecogniserKind
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
from offline.study.fault_trial.heads import CPU, Head, read_head
from offline.study.following import Lesson, Sight, costs_by, see, unaries_of
from offline.study.keep import Plain, content_key, source_hash

PRIOR_SETS: Final[dict[str, tuple[Prior, ...]]] = {"on": PRIORS, "off": ()} | {name: (name,) for name in PRIORS}
"""What a row of the table counts beside the evidence: all, nothing, or one of them alone."""
SOURCES: Final = tuple(
    dict.fromkeys(
        (
            *EMBEDDER_SOURCES,
            *FINDER_SOURCES,
            "guide.task_model",
            "guide.procedure",
            "guide.teach",
            "offline.config",
            "offline.study.counterfactual",
            "offline.study.evaluation.embedders",
            "offline.study.evaluation.few",
            "offline.study.evaluation.finding",
            "offline.study.evaluation.teaching",
            "offline.study.fault_trial.conditions",
            "offline.study.fault_trial.heads",
            "offline.study.fault_trial.leaving",
            "offline.study.fault_trial.made",
            "offline.study.fault_trial.mistakes",
            "offline.study.flags",
            "offline.study.following",
            "offline.metrics",
        )
    )
)
"""The code that decides the results that are kept; a test compares it with what is imported."""


@dataclass(frozen=True, slots=True)
class Bench:
    """How recordings are followed.

    >>> Bench(Path(".cache")).needs_head
    False
    """

    cache: Path
    recognisers: tuple[RecogniserKind, ...] = ("appearance",)
    priors: tuple[str, ...] = ("on", "off")
    each: int = 3
    """Faults of each kind made from one recording, at most."""
    shuffles: int = 2
    """Orders in which a recording is shown, to see whether unaries depend on it."""
    seed: int = 1

    @property
    def needs_head(self) -> bool:
        return any(kind != "appearance" for kind in self.recognisers)

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
        return [self.recognisers, self.priors, self.each, self.shuffles, self.seed, source_hash(*SOURCES)]

    def head(self, task: LabelledTask) -> Head | None:
        """The embedder of a task, where a recogniser asks for one."""
        if not self.needs_head:
            return None
        return read_head(task.recordings, replace(self.recipe, k=task.k), self.cache / "fault_trial")


@dataclass(frozen=True, slots=True)
class Training:
    """The embedder of a task is trained and kept."""

    task: LabelledTask
    bench: Bench

    @property
    def title(self) -> str:
        return f"{self.task.title}: an embedder trained on {len(self.task.recordings)} recordings"

    @property
    def key(self) -> str:
        return content_key(self.task.recordings, "embedder", self.task.k, source_hash(*SOURCES))

    def run(self) -> list[Plain]:
        """Nothing is told of it."""
        self.bench.head(self.task)
        return []


def learn(task: LabelledTask, way: Way, taught: Taught, head: Head | None) -> Lesson:
    """All that the recordings of a task teach the live side with these labels."""
    embeddings = None if head is None else [head.embed(one) for one in task.recordings]
    demonstrations = demonstrations_of(task, embeddings)
    steps = _steps(task, way, taught)
    learned = describe(demonstrations, taught.labels, steps, hold_slips=way.holds_slips, given=way.chosen)
    return Lesson(learned, demonstrations.settings, demonstrations.rate)


@dataclass(frozen=True, slots=True)
class Eyes:
    """A recogniser that was taught, with its embedder where it needs one."""

    lesson: Lesson
    recogniser: RecogniserKind
    head: Head | None

    def see(self, recording: RecordingFeatures) -> Sight:
        """What a live session makes of a recording."""
        return see(self.lesson, self.recogniser, *self._rows(recording), recording.times)

    def unaries(self, recording: RecordingFeatures) -> NDArray[np.float64]:
        """What each label costs in each frame, (T, C), by itself and without priors."""
        return costs_by(unaries_of(self.lesson, self.recogniser), *self._rows(recording))

    def _rows(self, recording: RecordingFeatures) -> tuple[Features, Features]:
        seen = appearance(np.asarray(recording.pooled, np.float32), recording.times, self.lesson.settings)
        if self.recogniser == "appearance" or self.head is None:
            return seen, np.zeros((len(recording), 1), np.float32)
        return seen, self.head.embed(recording)


def _steps(task: LabelledTask, way: Way, taught: Taught) -> Sequence[KeyStep]:
    numbers = np.unique(np.concatenate(list(taught.labels)))
    names = {} if way.count == NONE else task.steps
    return [KeyStep(int(one), names.get(int(one)) or f"step {one}") for one in numbers if one > BACKGROUND]
