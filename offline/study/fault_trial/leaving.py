"""One recording left out: the others teach, and what is made of it is followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Question
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import Way, teach, without
from offline.study.fault_trial.conditions import PRIOR_SETS, Conditions, learn, unaries_of
from offline.study.fault_trial.made import make_all, shuffle_all
from offline.study.flags import delay_s, first_word, judge, total
from offline.study.following import Lesson, follow_sight, see
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

    @property
    def title(self) -> str:
        id_ = self.task.recordings[self.number].id
        return f"{self.task.title}: {id_} left out, {self.way.count} labelled"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        what = ["left out", self.number, self.way.count, self.way.chosen, self.is_followed, self.is_shuffled]
        return content_key(self.task.recordings, what, truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        """One row for each recording that was made and prior; rows of kind `shuffled` hold agreements."""
        others = without(self.task, self.number)
        taught = teach(others, self.way, self.conditions.search)
        lesson = learn(others, self.way, taught)
        rows = [*self._follow(lesson, taught.names)] if self.is_followed else []
        rows += [*self._shuffle(lesson)] if self.is_shuffled else []
        return [{**row, "task": self.task.title, "labelled": self.way.count} for row in rows]

    def _follow(self, lesson: Lesson, names: Mapping[int, int]) -> Iterator[Plain]:
        for made in make_all(self.task, self.number, self.conditions.each, self.conditions.seed):
            sight = see(lesson, made.features)
            for word in self.conditions.priors:
                followed = follow_sight(sight, lesson, PRIOR_SETS[word])
                judged = judge(followed.said, made.planted, names)
                told = judged.hit.at if judged.hit is not None else None
                first = first_word(followed.said, made.planted, names) if judged.hit is not None else None
                word_s = delay_s(first, made.planted.at)
                yield {
                    "kind": made.planted.kind,
                    "priors": word,
                    "late_s": delay_s(told, made.planted.at),
                    "word_s": word_s,
                    "word_steps": None if word_s is None else word_s / lesson.step_s,
                    "questions": sum(isinstance(said, Question) for said in followed.said),
                    **asdict(total([(made.planted, judged)])),
                }

    def _shuffle(self, lesson: Lesson) -> Iterator[Plain]:
        after_s = max(NEAR_S, SMOOTHINGS * lesson.smoothing_s)
        unshuffled = unaries_of(lesson, self.task.recordings[self.number])
        for made in shuffle_all(self.task, self.number, self.conditions.shuffles, self.conditions.seed):
            share = agreement(unaries_of(lesson, made.features), unshuffled[made.index], made.is_near_splice(after_s))
            yield {"kind": "shuffled", "agreement": share}


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
