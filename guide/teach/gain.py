"""What labels of another recording would gain, by leaving out some that a person labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.spread import Spread

MOST_CHOICES = 6  # of each number of labelled recordings; every one costs seconds


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


def leave_one_out(collection: Collection, given: Sequence[Labels | None]) -> Gain:
    """How well each labelled recording is labelled from 1, 2, ... of the others; nothing with fewer than two."""
    known = [place for place, labels in enumerate(given) if labels is not None]
    right = []
    for count in range(1, len(known)):
        shares = [_share(collection, given, teachers, known) for teachers in _choices(known, count)]
        right.append((count, float(np.mean([share for share in shares if share is not None] or [0.0]))))
    return Gain(tuple(right))


def _choices(known: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Some sets of teachers, spread evenly over all there are."""
    every = list(combinations(known, count))
    picked = np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_CHOICES)).astype(int))
    return [every[place] for place in picked]


def _share(
    collection: Collection, given: Sequence[Labels | None], teachers: Sequence[int], known: Sequence[int]
) -> float | None:
    """The share of rightly labelled frames in the labelled recordings that did not teach."""
    told = [labels if place in teachers else None for place, labels in enumerate(given)]
    spread = Spread().spread(collection, told).labels
    pairs = [(spread[place], truth) for place in known if place not in teachers and (truth := given[place]) is not None]
    return float(np.mean([(guess == truth).mean() for guess, truth in pairs])) if pairs else None
