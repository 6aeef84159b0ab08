"""Steps found in a whole task, without labels and with those of a few, beside what sees nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from guide.domain import Labels
from offline.metrics import PROTOCOLS, match_steps, relabel
from offline.metrics.live import StepFrames, step_frames
from offline.study.evaluation.methods import Method
from offline.study.evaluation.scoring import score_others
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import NONE, Way, without
from offline.study.fault_trial.conditions import Conditions
from offline.study.keep import Plain, content_key, source_hash
from offline.study.left_out import ELAPSED, elapsed_time
from offline.study.tables import FLOORS

SEED: Final = 0
FLOOR: Final = "floors"
SOURCES: Final = ("offline.study.left_out", "offline.study.real.finding")
"""The code that decides what is found besides what decides flags."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Rows of kind `found`: D, and of floors what their labels would be worth live, knowing how long it will take."""

    task: LabelledTask
    way: Way
    """Way(FLOOR) is what sees nothing."""
    conditions: Conditions

    @property
    def title(self) -> str:
        return f"{self.task.title}: {self.way.count if self.way.count == FLOOR else f'{self.way.count} labelled'}"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        what = ["found", SEED, self.way.count, self.way.chosen, source_hash(*SOURCES)]
        return content_key(self.task.recordings, what, truth, self.conditions.facts)

    def run(self) -> list[Plain]:
        rows = self._floors() if self.way.count == FLOOR else iter([self._found()])
        return [{"kind": "found", "task": self.task.title, **row} for row in rows]

    def _found(self) -> Plain:
        search = self.conditions.search
        if self.way.count == NONE:
            method = Method(search.recipe.clusterer, search.recipe.loss)
            found = search.find(self.task, method, self.task.k, SEED, lambda *_: None)
            return {"labelled": NONE, "d": PROTOCOLS["D"](self.task.truth, found.labels).f1}
        carried = search.carry(self.task, self.way.chosen)
        scores = score_others(self.task, self.way.chosen, carried, ["D"])
        return {"labelled": self.way.count, "d": scores.protocols["D"].f1}

    def _floors(self) -> Iterator[Plain]:
        truth, search = self.task.truth, self.conditions.search
        for name in FLOORS:
            for seed in Method(name).seeds(1):
                found = search.find(self.task, Method(name), self.task.k, seed, lambda *_: None).labels
                named = relabel(found, match_steps(truth, found), truth)
                yield {"labelled": name, "d": PROTOCOLS["D"](truth, found).f1, **figures_of(truth, named)}
        others = [without(self.task, number) for number in range(len(self.task.recordings))]
        told = [elapsed_time(each, each.truth, one) for each, one in zip(others, self.task.recordings, strict=True)]
        yield {"labelled": ELAPSED, "d": None, **figures_of(truth, told)}


def figures_of(truth: Sequence[Labels], found: Sequence[Labels]) -> dict[str, float]:
    """Accuracy and macro F1 on frames of steps, means over recordings."""
    each = np.array([step_frames(*pair) for pair in zip(truth, found, strict=True)])
    return dict(zip(StepFrames._fields, map(float, np.nanmean(each, axis=0)), strict=True))
