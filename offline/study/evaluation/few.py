"""Few labels: some recordings' true labels are given and carried to the others, which alone are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from guide.teach.collection import Found
from offline.metrics import same_numbers
from offline.study.evaluation.scoring import Scores, score
from offline.study.evaluation.task import LabelledTask

MOST_CHOICES: Final = 12
"""Of more choices of the labelled recordings so many are drawn, unless told otherwise: no long wait."""
ENDING: Final = " labelled"

Choice = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FewLabels:
    """Scores with so many recordings labelled, one for each choice of them; how many choices there would be.

    >>> FewLabels(2, (), 10).name
    '2 labelled'
    """

    labelled: int
    scores: tuple[Scores, ...]
    possible: int

    @property
    def name(self) -> str:
        return f"{self.labelled}{ENDING}"

    @property
    def note(self) -> str:
        """How the row came about."""
        many = f"{len(self.scores)} of {self.possible}" if self.is_drawn else f"all {self.possible}"
        return (
            f"{self.name}: mean over {many} choices of the labelled recordings{', drawn with seed 0' * self.is_drawn}"
        )

    @property
    def is_drawn(self) -> bool:
        return len(self.scores) < self.possible


def is_few(method: str) -> bool:
    """Whether a row of a table is one of these: it knows more than the others, and other recordings are scored."""
    return method.endswith(ENDING)


def choices(recordings: int, labelled: int, most: int = MOST_CHOICES, seed: int = 0) -> list[Choice]:
    """Which recordings are labelled: all choices, `most` that are drawn where there are more, none where none is left.

    >>> choices(3, 2), choices(3, 3)
    ([(0, 1), (0, 2), (1, 2)], [])
    """
    if not 0 < labelled < recordings:
        return []
    if comb(recordings, labelled) <= most:
        return list(combinations(range(recordings), labelled))
    rng = np.random.default_rng(seed)
    drawn: dict[Choice, None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(int(each) for each in rng.choice(recordings, labelled, replace=False)))] = None
    return sorted(drawn)


def score_others(task: LabelledTask, chosen: Choice, found: Found, protocols: Sequence[str]) -> Scores:
    """Figures of the recordings that were not labelled; numbers were given, so nothing is matched."""
    others = [number for number in range(len(task.recordings)) if number not in chosen]
    labels = [found.labels[number] for number in others]
    return score([task.truth[number] for number in others], labels, protocols, same_numbers(labels))
