"""One drawn world learned in one way, and what is said of its unseen recordings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from guide.domain import Alert, Guidance, Question
from guide.task_model import Prior
from offline.config import resolve
from offline.demo.recording import Recording
from offline.demo.task import TASKS, TaskName
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, NONE, Way, teach
from offline.study.fault_trial import conditions
from offline.study.flags import Judged, Planted, delay_s, first_word, judge, total
from offline.study.following import Lesson, follow_sight, see
from offline.study.keep import Plain, source_hash
from offline.study.trial.worlds import Drawn, Entry, Worlds


@dataclass(frozen=True, slots=True)
class Trying:
    """A world learned with its first `labelled` demonstrations labelled; its unseen recordings are followed.

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
        what = [self.labelled, self.priors, drawn, len(self.train), source_hash(*conditions.SOURCES)]
        return hashlib.sha256(repr(what).encode()).hexdigest()[:24]

    def run(self) -> list[Plain]:
        """A row for each unseen recording."""
        worlds = Worlds(self.cache / "drawn")
        task = task_of(self.seed, [worlds.read(one) for one in self.train], self.train[0].recording.task)
        chosen = tuple(range(self.labelled)) if self.count not in (ALL, NONE) else ()
        lesson, names = learn(task, Way(self.count, chosen), self.cache)
        unseen = [worlds.read(one) for one in self.live]
        rows = [row_of(*followed, names) for followed in follow(unseen, lesson, names, self.priors)]
        return [{"seed": self.seed, "labelled": self.count, **row} for row in rows]


def demonstrations(worlds: Worlds, seed: int, count: int, task: TaskName = "box") -> list[Entry]:
    """The first ones of a world."""
    return worlds.entries([Recording(seed, "train", number + 1, task=task) for number in range(count)])


def task_of(seed: int, drawn: Sequence[Drawn], task: TaskName = "box") -> LabelledTask:
    """Drawn demonstrations with their true labels."""
    word, steps = f"drawn-{seed}", {step.number: step.name for step in TASKS[task].steps}
    return LabelledTask(word, word, steps, tuple(one.features for one in drawn), tuple(one.labels for one in drawn))


def learn(task: LabelledTask, way: Way, cache: Path) -> tuple[Lesson, Mapping[int, int]]:
    """The task learned in one way of labelling it, and the true step of each learned one."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    taught = teach(task, way, Search(resolve("default", None, {}), Embedders(cache / "trial", device)))
    return conditions.learn(task, way, taught), taught.names


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
        "late_s": delay_s(told, planted.at),
        "name_s": delay_s(told, planted.named_at),
        "word_s": delay_s(first, planted.at),
        "questions": sum(isinstance(word, Question) for word in said),
        **asdict(total([(planted, judged)])),
    }


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
