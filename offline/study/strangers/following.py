"""A recording left out and seen otherwise: what the others teach, with copies seen otherwise and without, is tried."""

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
Seen = Mapping[str, RecordingFeatures]  # a recording by how it was changed


@dataclass(frozen=True, slots=True)
class Stranger:
    """Recording `number` of a task is followed as it is and changed; all others teach, labelled."""

    task: LabelledTask
    number: int
    changed: Seen
    """The recording left out."""
    copies: tuple[Seen, ...]
    """Of each of the others what it teaches besides; empty where they teach as they are."""
    conditions: Conditions

    @property
    def title(self) -> str:
        how = ", taught with changes" if self.copies else ""
        return f"{self.task.title}: {self.task.recordings[self.number].id} left out{how}"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        copied = [one for each in self.copies for one in each.values()]
        what = ["stranger", self.number, [*self.changed], len(copied), source_hash(__name__)]
        recordings = [*self.task.recordings, *self.changed.values(), *copied]
        return content_key(recordings, what, truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        """Rows of live labels and of made faults for each change."""
        others = without(self.task, self.number)
        taught = Taught(others.truth, {step: step for step in others.steps})
        copies = tuple(tuple(np.asarray(one.pooled) for one in each.values()) for each in self.copies)
        lesson = learn(others, Way(ALL), taught, copies)
        rows: list[Plain] = []
        for change, seen in {UNCHANGED: self.task.recordings[self.number], **self.changed}.items():
            task = replace(self.task, recordings=_with(self.task.recordings, self.number, seen))
            own = [
                label_row(seen, lesson, taught),
                *follow_made(task, self.number, lesson, taught.names, self.conditions),
            ]
            rows += [{**row, "task": task.title, "change": change, "copies": bool(self.copies)} for row in own]
        return rows


def _with(
    recordings: tuple[RecordingFeatures, ...], number: int, seen: RecordingFeatures
) -> tuple[RecordingFeatures, ...]:
    return (*recordings[:number], seen, *recordings[number + 1 :])
