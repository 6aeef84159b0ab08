"""Recordings with mistakes: all clean ones teach with their true labels, and missed steps are looked for live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from guide.domain import BACKGROUND, Labels
from guide.procedure.replay import standing_alerts
from offline.features import RecordingFeatures
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, Way, teach
from offline.study.fault_trial.conditions import PRIOR_SETS, Conditions, learn
from offline.study.following import Followed, Lesson, follow_sight, see
from offline.study.keep import Plain, content_key


@dataclass(frozen=True, slots=True)
class Mistaken:
    """The clean recordings of a task teach, those with mistakes are followed."""

    task: LabelledTask
    """The clean recordings."""
    mistaken: LabelledTask
    conditions: Conditions

    @property
    def title(self) -> str:
        return f"{self.task.title}: {len(self.mistaken.recordings)} recordings with mistakes"

    @property
    def key(self) -> str:
        both = (*self.task.recordings, *self.mistaken.recordings)
        truth = [labels.tolist() for labels in (*self.task.truth, *self.mistaken.truth)]
        return content_key(both, ["mistakes", len(self.task.recordings)], truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        """One row for each recording, step and prior."""
        lesson = learn(self.task, Way(ALL), teach(self.task, Way(ALL), self.conditions.search))
        return [
            {**row, "task": self.task.title, "kind": "mistaken"}
            for one, truth in zip(self.mistaken.recordings, self.mistaken.truth, strict=True)
            for row in self._follow(one, truth, lesson)
        ]

    def _follow(self, one: RecordingFeatures, truth: Labels, lesson: Lesson) -> Iterator[Plain]:
        sight = see(lesson, one)
        for word in self.conditions.priors:
            followed = follow_sight(sight, lesson, PRIOR_SETS[word])
            flagged = {alert.step for alert in standing_alerts(followed.said) if alert.kind == "missed"}
            for step in lesson.learned.procedure.numbers:
                yield {
                    "recording": one.id,
                    "priors": word,
                    "step": step,
                    "is_missed": bool((truth != step).all()),
                    "is_flagged": step in flagged,
                    "certainty": _certainty(followed, step),
                    "unseen": float(sight.costs[:, sight.steps.index(step)].min()),
                }


def without_clean(everything: LabelledTask, clean: LabelledTask) -> LabelledTask:
    """The recordings with mistakes."""
    ids = {one.id for one in clean.recordings}
    kept = [number for number, one in enumerate(everything.recordings) if one.id not in ids]
    return replace(
        everything,
        recordings=tuple(everything.recordings[number] for number in kept),
        truth=tuple(everything.truth[number] for number in kept),
    )


def _certainty(followed: Followed, step: int) -> float:
    """How probably the step has not been done, at the last look back."""
    assert step > BACKGROUND, "only key-steps can be missed"
    return 1.0 if followed.belief is None else followed.belief.chance_lacking(step)
