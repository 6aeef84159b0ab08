"""What labels of another recording would gain, by leaving out some that a person labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from guide.domain import Labels
from guide.teach.carrying import Carrying, Given, Task, thinned
from guide.teach.collection import Collection
from guide.teach.progress import Tell, say_nothing
from guide.teach.subsample import fewer

MOST_CHOICES = 4  # of each number of labelled recordings; every one costs a second
MOST_FRAMES = 4_000


@dataclass(frozen=True, slots=True)
class Gain:
    """The share of frames labelled rightly in a recording left out, by how many others were labelled.

    >>> Gain(((1, 0.60), (2, 0.75))).words
    'With 1 labelled, 60 % of the frames of another are right, with 2 labelled 75 %: one more may gain some 8 points.'
    """

    right: tuple[tuple[int, float], ...]

    @property
    def expected(self) -> float | None:
        """The share that one more may gain, none where too few are labelled to say: every step halves the gain."""
        if len(self.right) < 2:
            return None
        return max(self.right[-1][1] - self.right[-2][1], 0.0) / 2

    @property
    def words(self) -> str:
        """What is known, in a sentence."""
        if not self.right:
            return "Label a second recording, and it can be said how well labels are carried over."
        first, *more = self.right
        seen = f"With {first[0]} labelled, {100 * first[1]:.0f} % of the frames of another are right"
        seen += "".join(f", with {count} labelled {100 * share:.0f} %" for count, share in more)
        if self.expected is None:
            return f"{seen}: label one more to see what that gains."
        if self.expected < 0.01:
            return f"{seen}: one more would hardly gain anything."
        return f"{seen}: one more may gain some {100 * self.expected:.0f} points."


def leave_one_out(collection: Collection, given: Sequence[Labels | None], tell: Tell = say_nothing) -> Gain:
    """How well each labelled recording is labelled from 1, 2, ... of the others; nothing with fewer than two.

    `tell` hears which share of the work is done. Of long recordings one frame stands for several, and whole histories
    are not read again as they are when labels are carried over for good: the question is what more labels change.
    """
    known = [place for place, labels in enumerate(given) if labels is not None]
    if len(known) < 2:
        return Gain(())
    numbers = np.unique(np.concatenate([labels for labels in given if labels is not None]))
    few = fewer(collection, len(numbers), seed=0, keep=known, most=MOST_FRAMES)
    task, _ = Carrying().task_of(few, given)
    labels = dict(zip(few.numbers, thinned(few, given), strict=True))
    choices = [(count, teachers) for count in range(1, len(known)) for teachers in _choices(known, count)]
    shares: dict[int, list[float]] = {count: [] for count, _ in choices}
    for place, (count, teachers) in enumerate(choices):
        tell((place + 1) / (len(choices) + 1))  # to look at all frames first takes about as long as one of them
        shares[count].append(_share(task, labels, teachers))
    return Gain(tuple((count, float(np.mean(found))) for count, found in shares.items()))


def _choices(known: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Some sets of teachers, spread evenly over all there are."""
    every = list(combinations(known, count))
    picked = np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_CHOICES)).astype(int))
    return [every[place] for place in picked]


def _share(task: Task, labels: Mapping[int, Given], teachers: Sequence[int]) -> float:
    """The share of rightly labelled frames in the labelled recordings that did not teach."""
    lesson = Carrying().lesson(task, [each if place in teachers else None for place, each in labels.items()])
    right = [
        float((Carrying().label(task, lesson, rows) == own).mean())
        for rows, (place, own) in zip(task.rows, labels.items(), strict=True)
        if own is not None and place not in teachers
    ]
    return float(np.mean(right))
