"""One recording left out: the others teach, and what is made of it is followed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Alert, Labels, Question
from guide.procedure.model import Procedure
from offline.features import RecordingFeatures
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import Taught, Way, teach, without
from offline.study.fault_trial.conditions import PRIOR_SETS, Conditions, learn, unaries_of
from offline.study.fault_trial.made import Made, make_all, shuffle_all
from offline.study.flags import Planted, delay_s, first_word, judge, total
from offline.study.following import Lesson, follow_sight, live_labels, see
from offline.study.keep import Plain, content_key

NEAR_S = 2.0  # after a splice: recognition looks back over a gesture, and so does its memory of a moment ago
SMOOTHINGS = 3.0  # after so many the present holds nothing of what was seen before a splice


@dataclass(frozen=True, slots=True)
class LeavingOut:
    """Recording `number` of a task is left out, the others teach in one way."""

    task: LabelledTask
    number: int
    way: Way
    conditions: Conditions
    is_followed: bool = True
    is_shuffled: bool = True
    is_labelled: bool = False

    @property
    def title(self) -> str:
        id_ = self.task.recordings[self.number].id
        return f"{self.task.title}: {id_} left out, {self.way.count} labelled"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        parts = self.is_followed, self.is_shuffled, self.is_labelled
        what = ["left out", self.number, self.way.count, self.way.chosen, *parts]
        return content_key(self.task.recordings, what, truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        """One row for each recording that was made and prior; of kind `shuffled` agreements, of kind `live` labels."""
        others = without(self.task, self.number)
        taught = teach(others, self.way, self.conditions.search)
        lesson = learn(others, self.way, taught)
        rows = [*follow_made(self.task, self.number, lesson, taught.names, self.conditions)] if self.is_followed else []
        rows += [*self._shuffle(lesson)] if self.is_shuffled else []
        rows += [label_row(self.task.recordings[self.number], lesson, taught)] if self.is_labelled else []
        return [{**row, "task": self.task.title, "labelled": self.way.count} for row in rows]

    def _shuffle(self, lesson: Lesson) -> Iterator[Plain]:
        after_s = max(NEAR_S, SMOOTHINGS * lesson.smoothing_s)
        unshuffled = unaries_of(lesson, self.task.recordings[self.number])
        for made in shuffle_all(self.task, self.number, self.conditions.shuffles, self.conditions.seed):
            share = agreement(unaries_of(lesson, made.features), unshuffled[made.index], made.is_near_splice(after_s))
            yield {"kind": "shuffled", "agreement": share}


def label_row(recording: RecordingFeatures, lesson: Lesson, taught: Taught) -> Plain:
    """The live labels of a recording in true steps, frame by frame."""
    labels = taught.named(live_labels(lesson, see(lesson, recording)))
    return {"kind": "live", "recording": recording.id, "labels": " ".join(map(str, labels.tolist()))}


def read_labels(row: Plain) -> Labels:
    """The labels (T,) of such a row."""
    return np.array(str(row["labels"]).split(), np.int64)


def follow_made(
    task: LabelledTask, number: int, lesson: Lesson, names: Mapping[int, int], conditions: Conditions
) -> Iterator[Plain]:
    """A row for each prior and recording made from one that had no part in the lesson: the fault, and what was said.

    `names` gives the true step of each learned one. Moments ending in `source_s` are those of the recording left out.
    """
    for made in make_all(task, number, conditions.each, conditions.seed):
        sight, planted = see(lesson, made.features), made.planted
        for word in conditions.priors:
            followed = follow_sight(sight, lesson, PRIOR_SETS[word])
            judged = judge(followed.said, planted, names)
            told = judged.hit.at if judged.hit is not None else None
            first = first_word(followed.said, planted, names) if judged.hit is not None else None
            word_s = delay_s(first, planted.at)
            yield {
                "kind": planted.kind,
                "priors": word,
                "recording": task.recordings[number].id,
                "step": planted.step,
                "before": planted.before,
                "source_s": None if planted.at is None else made.in_source(planted.at),
                "rule": _rule(lesson.learned.procedure, planted, names),
                "wrong": json.dumps([_wrong(alert, made, names) for alert in judged.false_alarms]),
                "late_s": delay_s(told, planted.at),
                "word_s": word_s,
                "word_steps": None if word_s is None else word_s / lesson.step_s,
                "questions": sum(isinstance(said, Question) for said in followed.said),
                **asdict(total([(planted, judged)])),
            }


def _rule(procedure: Procedure, planted: Planted, names: Mapping[int, int]) -> str:
    """Whether the rule that a fault breaks alarms, and why; empty where there is none."""
    for one in procedure.rules.decisions:
        step, before = names.get(one.rule.step), None if one.rule.before is None else names.get(one.rule.before)
        if (one.rule.kind, step, before) == (planted.kind, planted.step, planted.before):
            return f"{one.verdict}: {one.reason}"
    return ""


def _wrong(alert: Alert, made: Made, names: Mapping[int, int]) -> Plain:
    """A wrong alert in true steps, 0 where none corresponds."""
    return {
        "kind": alert.kind,
        "step": names.get(alert.step, BACKGROUND),
        "before": None if alert.before is None else names.get(alert.before, BACKGROUND),
        "source_s": made.in_source(alert.at),
        "evidence": alert.evidence,
    }


def agreement(
    shuffled: NDArray[np.float64], unshuffled: NDArray[np.float64], is_near_splice: NDArray[np.bool_]
) -> float | None:
    """Share of frames whose cheapest label is the same in both: do prototypes go by what they see, or by when?

    Row n of `shuffled` and of `unshuffled` (N, C) are the unaries (costs, no priors) of the same frame; frames near a
    splice do not count, None if all are.

    >>> costs = np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    >>> agreement(costs, costs[[0, 2, 2]], np.array([False, False, True]))
    0.5
    """
    same = (shuffled.argmin(axis=1) == unshuffled.argmin(axis=1))[~is_near_splice]
    return float(same.mean()) if len(same) else None
