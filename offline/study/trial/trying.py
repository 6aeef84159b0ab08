"""One drawn world learned in one way, and what is said of its unseen recordings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from guide.domain import Alert, Guidance, KeyStep, Question
from guide.perceive.appearance import AppearanceSettings
from guide.task_model import Prior
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.describe import describe
from guide.teach.spread import Spread
from offline.config import Recipe, resolve
from offline.demo.task import TASK
from offline.features import collection_of
from offline.keysteps.registry import finder
from offline.metrics import match_steps
from offline.study.evaluation.embedders import SOURCES as EMBEDDER_SOURCES
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import SOURCES as FINDER_SOURCES
from offline.study.evaluation.teaching import ALL
from offline.study.flags import Judged, Planted, first_word, judge, total
from offline.study.following import Lesson, follow_sight, see
from offline.study.keep import Plain, source_hash
from offline.study.trial.worlds import RATE, Drawn, Entry, Worlds

SOURCES: Final = tuple(
    dict.fromkeys(
        (
            *EMBEDDER_SOURCES,
            *FINDER_SOURCES,
            "guide.task_model",
            "guide.procedure",
            "guide.settings",
            "guide.teach",
            "offline.config",
            "offline.study.evaluation.embedders",
            "offline.study.flags",
            "offline.study.following",
            "offline.metrics",
            "offline.study.trial.trying",
        )
    )
)
"""The code that decides the results that are kept; a test compares it with what is imported."""


@dataclass(frozen=True, slots=True)
class Trying:
    """A world learned with its first `labelled` demonstrations labelled; its unseen recordings are followed.

    >>> from offline.demo.recording import Recording
    >>> Trying(1021, (Entry(Recording(1021, "train", 1), "key"),), (), 1, (), Path(".cache")).title
    'world 1021, all labelled'
    """

    seed: int
    train: tuple[Entry, ...]
    live: tuple[Entry, ...]
    labelled: int
    priors: tuple[Prior, ...]
    cache: Path

    @property
    def count(self) -> str:
        """How many are labelled, in a word."""
        return ALL if self.labelled == len(self.train) else str(self.labelled)

    @property
    def title(self) -> str:
        return f"world {self.seed}, {self.count} labelled"

    @property
    def key(self) -> str:
        drawn = [one.key for one in (*self.train, *self.live)]
        what = [self.labelled, self.priors, drawn, len(self.train), source_hash(*SOURCES)]
        return hashlib.sha256(repr(what).encode()).hexdigest()[:24]

    def run(self) -> list[Plain]:
        """A row for each unseen recording."""
        worlds = Worlds(self.cache / "drawn")
        task = [worlds.read(one) for one in self.train]
        lesson, names = learn(task, self.labelled, self.cache)
        unseen = [worlds.read(one) for one in self.live]
        rows = [row_of(*followed, names) for followed in follow(unseen, lesson, names, self.priors)]
        return [{"seed": self.seed, "labelled": self.count, **row} for row in rows]


def learn(task: Sequence[Drawn], labelled: int, cache: Path) -> tuple[Lesson, dict[int, int]]:
    """The task learned with so many labelled demonstrations, and the true step of each learned one."""
    recipe = resolve("default", None, {"k": len(TASK.steps)})
    truth, demonstrations = [one.labels for one in task], _demonstrations(task)
    if labelled:
        given = [labels if number < labelled else None for number, labels in enumerate(truth)]
        labels = Spread().spread(demonstrations.collection(), given).labels
        steps = [KeyStep(step.number, step.name) for step in TASK.steps]
        learned = describe(demonstrations, labels, steps, is_carried=labelled < len(task))
        return Lesson(learned, demonstrations), {step.number: step.number for step in TASK.steps}
    collection = collection_of([one.features for one in task], _embeddings(task, recipe, cache))
    labels = finder(recipe.clusterer).find(collection, len(TASK.steps), 0).labels
    steps = [KeyStep(number, f"step {number}") for number in range(1, len(TASK.steps) + 1)]
    learned = describe(demonstrations, labels, steps, is_carried=True)
    return Lesson(learned, demonstrations), match_steps(truth, list(labels))


def settings_of(task: Sequence[Drawn]) -> AppearanceSettings:
    """What is looked at of a recording: by the length of the task's steps."""
    return AppearanceSettings.for_step(float(np.median([one.features.duration_s for one in task])) / len(TASK.steps))


def follow(
    unseen: Sequence[Drawn], lesson: Lesson, names: Mapping[int, int], priors: tuple[Prior, ...]
) -> Iterator[tuple[Planted, Judged, list[Guidance]]]:
    """What is said of each unseen recording, through cut, histories and tracker as live, and whether it is right."""
    for one in unseen:
        said = list(follow_sight(see(lesson, one.features), lesson, priors).said)
        yield one.planted, judge(said, one.planted, names), said


def row_of(planted: Planted, judged: Judged, said: Sequence[Guidance], names: Mapping[int, int]) -> Plain:
    """What was planted in a recording, whether and when it was told, and what was told wrongly, in true steps."""
    told = judged.hit.at if judged.hit is not None else None
    first = first_word(said, planted, names) if judged.hit is not None else None
    return {
        "kind": planted.kind,
        "planted": _in_words(planted.kind, planted.step, planted.before),
        "wrong": ", ".join(_alert_in_words(alert, names) for alert in judged.false_alarms),
        "late_s": _after(told, planted.at),
        "name_s": _after(told, planted.named_at),
        "word_s": _after(first, planted.at),
        "questions": sum(isinstance(word, Question) for word in said),
        **asdict(total([(planted, judged)])),
    }


def _after(moment: float | None, since: float | None) -> float | None:
    return None if moment is None or since is None else moment - since


def _alert_in_words(alert: Alert, names: Mapping[int, int]) -> str:
    step, before = (None if one is None else names.get(one, 0) for one in (alert.step, alert.before))
    return _in_words(alert.kind, step, before)


def _in_words(kind: str, step: int | None, before: int | None) -> str:
    """A fault in few words; 0 stands for a step that nothing true corresponds to.

    >>> _in_words("out_of_order", 9, 1), _in_words("missed", 3, None), _in_words("none", None, None)
    ('9 before 1', 'missed 3', '')
    """
    if kind == "none":
        return ""
    if kind == "out_of_order" and before is not None:
        return f"{step} before {before}"
    return f"{kind} {step}" if step is not None else kind


def _embeddings(task: Sequence[Drawn], recipe: Recipe, cache: Path) -> tuple[NDArray[np.float32], ...]:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recordings = [one.features for one in task]
    return Embedders(cache / "trial", device).embeddings(recordings, recipe, 0, lambda iteration, words: None)


def _demonstrations(task: Sequence[Drawn]) -> Demonstrations:
    recordings = [one.features for one in task]
    parts = [one.id for one in recordings], [one.times for one in recordings], [one.pooled for one in recordings]
    return demonstrate(*parts, RATE, settings_of(task))
