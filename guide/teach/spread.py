"""Carrying labels that people gave for a few recordings to the others, under what recordings of one task share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.teach.collection import Collection, Found
from guide.teach.consensus import Consensus
from guide.teach.lesson import Floats, Lesson, LessonSettings, Shown, teach
from guide.teach.reorder import levelled
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view

Given: TypeAlias = NDArray[np.intp] | None
# A place speaks against a step that is never done there, less for the one that usually is: idle time lies there too.
PLACE_MOST = 2.5
ENDS = 0.15  # of a recording: there it only speaks against, since people idle before they begin and after they end


class Task(NamedTuple):
    """What labels are carried over: rows (T, d) and times of each recording, and what a change of label costs."""

    rows: Sequence[Floats]
    shown: Sequence[Shown]  # the rows as they teach, before a levelled bench too
    times: Sequence[Times]
    numbers: Labels  # the step of each column
    change: float
    step_s: float


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

    settings: LessonSettings = field(default_factory=lambda: LessonSettings(place_most=PLACE_MOST))
    rounds: int = 4
    """Scores rise by ever less from round to round; on drawn and cooking recordings four get nearly all of it."""
    say: int = 4
    """How much more a recording labelled by a person counts than one labelled by us."""
    levelling: int = 3
    """How much more than as it is a recording teaches before the same bench throughout."""
    consensus: Consensus = field(default_factory=Consensus)
    """How the carried labels are read again as whole histories; recordings beyond those looked at stay as carried."""

    def spread(self, collection: Collection, given: Sequence[Labels | None]) -> Found:
        """Labels (T,) for every recording; at least one is given. 0 is background where people left gaps."""
        known = [number for number, labels in enumerate(given) if labels is not None]
        if not known or len(given) != len(collection.times):
            raise ValueError(f"labels for some of {len(collection.times)} recordings were expected, got {len(given)}")
        every = [labels for labels in given if labels is not None]
        if len(every) == len(given):
            return Found(tuple(every))
        numbers = np.unique(np.concatenate(every))
        few = fewer(collection, len(numbers), seed=0, keep=known)
        task, view = self.task_of(few, numbers)
        columns = columns_of(few, given, numbers)
        lesson, spread = self.carry(task, columns)
        carried = dict(zip(few.numbers, self._agreed(task, columns, spread), strict=True))
        for number in few.others:
            one = few.collection([number])
            row = view.rows((one.features or one.embeddings)[0], one.times[0])
            carried[number] = lesson.label(row, task.change, self.settings)
        everywhere = [few.all_frames(number, numbers[carried[number]]) for number in range(len(given))]
        return Found(tuple(own if own is not None else each for own, each in zip(given, everywhere, strict=True)))

    def task_of(self, few: Fewer, numbers: Labels) -> tuple[Task, View]:
        """What is carried over, whoever teaches; `numbers` are the steps there are."""
        some, step_s = few.collection(), _step_s(few.whole, numbers)
        view, rows = learn_view(some.features or some.embeddings, some.times, step_s, self.settings)
        shown = self._shown(some, view, rows)
        return Task(rows, shown, some.times, numbers, self.settings.change * step_s * some.rate, step_s), view

    def _shown(self, some: Collection, view: View, rows: Sequence[Floats]) -> list[Shown]:
        """The recordings as they teach: a step stays the same before another bench, and so does idle time.

        A view takes a recording's mean away, so all benches are the same to it that do not change.
        """
        span, found = view.memory.memory_s * some.rate, []
        for each, times, own in zip(some.features or some.embeddings, some.times, rows, strict=True):
            level = view.rows(levelled(each, span), times) if self.levelling else own
            found.append(Shown.of(own, [level] * self.levelling))
        return found

    def carry(self, task: Task, given: Sequence[Given]) -> tuple[Lesson, list[Labels]]:
        """What the labelled recordings teach, and the columns (T,) of all of them by it; no whole history is read."""
        rows, known = task.rows, _known(given)
        lesson = self._lesson(task, known, [_must(given[n]) for n in known])
        current: list[Labels] = []
        for _ in range(self.rounds):
            current = [
                lesson.label(row, task.change, self.settings) if labels is None else _must(labels)
                for row, labels in zip(rows, given, strict=True)
            ]
            teachers = [*range(len(rows)), *known * (self.say - 1)]
            lesson = self._lesson(task, teachers, [current[n] for n in teachers])
        return lesson, current

    def _lesson(self, task: Task, teachers: Sequence[int], labels: Sequence[Labels]) -> Lesson:
        """What some recordings teach with their columns (T,); idle time may lie anywhere."""
        lesson = teach([task.shown[n] for n in teachers], labels, len(task.numbers), self.settings)
        lesson = lesson.with_open_ends(ENDS)
        return lesson.anywhere(0) if task.numbers[0] == BACKGROUND else lesson

    def _agreed(self, task: Task, given: Sequence[Given], labels: Sequence[Labels]) -> list[Labels]:
        steps = [task.numbers[each] for each in labels]
        agreed = self.consensus.settle(task.rows, task.times, steps, _known(given), task.step_s, task.shown)
        return [np.searchsorted(task.numbers, each) for each in agreed]


def columns_of(few: Fewer, given: Sequence[Labels | None], numbers: Labels) -> list[Given]:
    """The labels that people gave for those recordings that stand for all, as columns of `numbers`."""
    return [None if (own := given[n]) is None else np.searchsorted(numbers, few.thin(own)) for n in few.numbers]


def _known(given: Sequence[Given]) -> list[int]:
    return [number for number, labels in enumerate(given) if labels is not None]


def _must(labels: NDArray[np.intp] | None) -> Labels:
    assert labels is not None
    return labels.astype(np.int64)


def _step_s(collection: Collection, numbers: Labels) -> float:
    """What an average step takes, in seconds."""
    steps = max(int((numbers > 0).sum()), 1)
    return float(np.median([times[-1] - times[0] for times in collection.times])) / steps
