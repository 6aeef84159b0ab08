"""Every figure of one labelling against the truth; of few labels carried over, of the recordings without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final, Literal

import numpy as np

from guide.domain import Labels
from guide.teach.collection import Found
from offline.metrics import (
    PROTOCOLS,
    Match,
    Score,
    edit_score,
    expected_random,
    match_steps,
    mof,
    order_agreement,
    same_numbers,
    segment_f1,
)
from offline.study.evaluation.task import LabelledTask

OVERLAPS: Final = (10, 25, 50)
EXTRAS: Final = ("MoF", *(f"F1@{overlap}" for overlap in OVERLAPS), "edit", "order", "pairs")
"""Figures besides the protocols'. `order`: pairs of found steps in the true order; `pairs`: true pairs found at all."""
WORKED_OUT: Final[tuple[Literal["A", "B", "D", "pooled"], ...]] = ("A", "B", "D", "pooled")
MOST_CHOICES: Final = 12
"""Of more choices of the labelled recordings so many are drawn, unless told otherwise: no long wait."""
ENDING: Final = " labelled"

Choice = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """A labelling's score under each protocol, and its other figures, all as fractions.

    >>> score([np.array([1, 2])], [np.array([4, 3])], ("D",)).extras["MoF"]
    1.0
    """

    protocols: Mapping[str, Score]
    extras: Mapping[str, float]


def score(
    truth: Sequence[Labels], found: Sequence[Labels], protocols: Sequence[str], given: Match | None = None
) -> Scores:
    """All figures; those without a match of their own take D's: key-steps only, one match over all recordings.

    A `given` match stands in the place of all.
    """
    match = match_steps(truth, found) if given is None else given
    order = order_agreement(truth, found, match)
    extras = {f"F1@{overlap}": segment_f1(truth, found, overlap / 100, match) for overlap in OVERLAPS}
    extras |= {"MoF": mof(truth, found, match), "edit": edit_score(truth, found, match)}
    extras |= {"order": order.share, "pairs": order.coverage}
    return Scores({name: PROTOCOLS[name](truth, found, given) for name in protocols}, extras)


def expectation(truth: Sequence[Labels], k: int, protocols: Sequence[str]) -> Scores:
    """What random labels score in the limit of many frames, where that was worked out."""
    return Scores({name: expected_random(truth, k, name) for name in WORKED_OUT if name in protocols}, {})


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
