"""One recording left out: the others teach, and what is made of it is followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from guide.domain import Question
from offline.study.counterfactual.agreement import NEAR_S, agreement
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import Way, teach, without
from offline.study.fault_trial.conditions import PRIOR_SETS, Bench, Eyes, learn
from offline.study.fault_trial.made import make_all, shuffle_all
from offline.study.flags import judge, total
from offline.study.following import follow_sight
from offline.study.keep import Plain, content_key

SMOOTHINGS = 3.0  # after so many the present holds nothing of what was seen before a splice


@dataclass(frozen=True, slots=True)
class LeavingOut:
    """Recording `number` of a task is left out, the others teach in one way."""

    task: LabelledTask
    number: int
    way: Way
    bench: Bench
    is_followed: bool = True
    is_shuffled: bool = True

    @property
    def title(self) -> str:
        kinds = "" if self.bench.recognisers == ("appearance",) else f" ({', '.join(self.bench.recognisers)})"
        id_ = self.task.recordings[self.number].id
        return f"{self.task.title}: {id_} left out, {self.way.count} labelled{kinds}"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        what = ["left out", self.number, self.way.count, self.way.chosen, self.is_followed, self.is_shuffled]
        return content_key(self.task.recordings, what, truth, self.bench.facts)

    def run(self) -> list[Plain]:
        """One row for each recording that was made, recogniser and prior; rows of kind `shuffled` hold agreements."""
        others = without(self.task, self.number)
        taught = teach(others, self.way, self.bench.search)
        head = self.bench.head(others)
        lesson = learn(others, self.way, taught, head)
        rows: list[Plain] = []
        for kind in self.bench.recognisers:
            eyes = Eyes(lesson, kind, head)
            found = [*self._follow(eyes, taught.names)] if self.is_followed else []
            found += [*self._shuffle(eyes)] if self.is_shuffled else []
            rows += [{**row, "recogniser": kind} for row in found]
        return [{**row, "task": self.task.title, "labelled": self.way.count} for row in rows]

    def _follow(self, eyes: Eyes, names: Mapping[int, int]) -> Iterator[Plain]:
        for made in make_all(self.task, self.number, self.bench.each, self.bench.seed):
            sight = eyes.see(made.features)
            for word in self.bench.priors:
                followed = follow_sight(sight, eyes.lesson, PRIOR_SETS[word])
                judged = judge(followed.said, made.planted, names)
                late = judged.hit.at - made.planted.at if judged.hit and made.planted.at is not None else None
                questions = sum(isinstance(said, Question) for said in followed.said)
                score = asdict(total([(made.planted, judged)]))
                yield {"kind": made.planted.kind, "priors": word, "late_s": late, "questions": questions, **score}

    def _shuffle(self, eyes: Eyes) -> Iterator[Plain]:
        after_s = max(NEAR_S, SMOOTHINGS * eyes.lesson.settings.smoothing_s)
        unshuffled = eyes.unaries(self.task.recordings[self.number])
        for made in shuffle_all(self.task, self.number, self.bench.shuffles, self.bench.seed):
            share = agreement(eyes.unaries(made.features), unshuffled[made.index], made.is_near_splice(after_s))
            yield {"kind": "shuffled", "agreement": share if np.isfinite(share) else None}
