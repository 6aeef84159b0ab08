"""A recording left out and seen otherwise: what the others teach, with copies and without, is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from offline.features import RecordingFeatures
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, Taught, Way, without
from offline.study.fault_trial.conditions import Conditions, learn
from offline.study.fault_trial.leaving import follow_made, label_row
from offline.study.keep import Plain, content_key, source_hash

UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Stranger:
    """Recording `number` of a task is followed as it is and changed; all others teach, labelled."""

    task: LabelledTask
    number: int
    changed: Mapping[str, RecordingFeatures]
    """The recording left out, by how it was changed."""
    taught: str
    """How the others teach, in the table's words,"""
    copies: tuple[tuple[RecordingFeatures, ...], ...]
    """and of each of them the copies that it teaches with besides; empty where there are none."""
    conditions: Conditions

    @property
    def title(self) -> str:
        return f"{self.task.title}: {self.task.recordings[self.number].id} left out, taught {self.taught}"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        copied = [one for each in self.copies for one in each]
        what = ["stranger", self.number, [*self.changed], self.taught, len(copied), source_hash(__name__)]
        recordings = [*self.task.recordings, *self.changed.values(), *copied]
        return content_key(recordings, what, truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        """Rows of live labels and of made faults for each change."""
        others = without(self.task, self.number)
        taught = Taught(others.truth, {step: step for step in others.steps})
        copies = tuple(tuple(np.asarray(one.pooled) for one in each) for each in self.copies)
        lesson = learn(others, Way(ALL), taught, copies)
        rows: list[Plain] = []
        for change, seen in {UNCHANGED: self.task.recordings[self.number], **self.changed}.items():
            task = replace(self.task, recordings=_with(self.task.recordings, self.number, seen))
            own = [
                label_row(seen, lesson, taught),
                *follow_made(task, self.number, lesson, taught.names, self.conditions),
            ]
            rows += [{**row, "task": task.title, "change": change, "taught": self.taught} for row in own]
        return rows


def _with(
    recordings: tuple[RecordingFeatures, ...], number: int, seen: RecordingFeatures
) -> tuple[RecordingFeatures, ...]:
    return (*recordings[:number], seen, *recordings[number + 1 :])
