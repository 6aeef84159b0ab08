"""Carrying labels that people gave for a few recordings to the others, under what recordings of one task share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.teach.collection import Collection, Found
from guide.teach.refine import Floats, Lesson, RefineSettings, teach
from guide.teach.thin import fewer
from guide.teach.view import learn_view


@dataclass(frozen=True, slots=True)
class Spread:
    """Labels every recording from those that have labels; these keep theirs, and step numbers stay as given.

    The labelled ones teach a discriminant, the usual places and shares of the steps; that labels the others, which then
    teach too. What people gave counts several times as much as what was carried over.

    >>> rows = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> given = [np.repeat([3, 5], 40), None]
    >>> Spread().spread(Collection.at_rate([rows, rows], 2.0), given).labels[1][[0, -1]]
    array([3, 5])
    """

    settings: RefineSettings = field(default_factory=RefineSettings)
    rounds: int = 4
    """Scores rise by ever less from round to round; on drawn and cooking recordings four get nearly all of it."""
    say: int = 4
    """How much more a recording labelled by a person counts than one labelled by us."""

    def spread(self, collection: Collection, given: Sequence[Labels | None]) -> Found:
        """Labels (T,) for every recording; at least one is given. 0 is background where people left gaps."""
        known = [number for number, labels in enumerate(given) if labels is not None]
        if not known or len(given) != len(collection.times):
            raise ValueError(f"labels for some of {len(collection.times)} recordings were expected, got {len(given)}")
        numbers = np.unique(np.concatenate([labels for labels in given if labels is not None]))
        step_s = _step_s(collection, numbers)
        few = fewer(collection, len(numbers), seed=0, keep=known)
        some = few.collection()
        view, rows = learn_view(some.features or some.embeddings, some.times, step_s, self.settings)
        columns = [None if (own := given[n]) is None else np.searchsorted(numbers, few.thin(own)) for n in few.numbers]
        change = self.settings.change * step_s * some.rate
        lesson, spread = self._rounds(rows, columns, len(numbers), change)
        carried = dict(zip(few.numbers, spread, strict=True))
        for number in few.others:
            one = few.collection([number])
            row = view.rows((one.features or one.embeddings)[0], one.times[0])
            carried[number] = lesson.label(row, change, self.settings)
        everywhere = [few.all_frames(number, numbers[carried[number]]) for number in range(len(given))]
        return Found(tuple(own if own is not None else each for own, each in zip(given, everywhere, strict=True)))

    def _rounds(
        self, rows: Sequence[Floats], given: Sequence[NDArray[np.intp] | None], columns: int, change: float
    ) -> tuple[Lesson, list[Labels]]:
        known = [number for number, labels in enumerate(given) if labels is not None]
        lesson = teach([rows[n] for n in known], [_must(given[n]) for n in known], columns, self.settings)
        current: list[Labels] = []
        for _ in range(self.rounds):
            current = [
                lesson.label(row, change, self.settings) if labels is None else _must(labels)
                for row, labels in zip(rows, given, strict=True)
            ]
            teachers = [*range(len(rows)), *known * (self.say - 1)]
            lesson = teach([rows[n] for n in teachers], [current[n] for n in teachers], columns, self.settings)
        return lesson, current


def _must(labels: NDArray[np.intp] | None) -> Labels:
    assert labels is not None
    return labels.astype(np.int64)


def _step_s(collection: Collection, numbers: Labels) -> float:
    """What an average step takes, in seconds."""
    steps = max(int((numbers > 0).sum()), 1)
    return float(np.median([times[-1] - times[0] for times in collection.times])) / steps
