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
from guide.teach.refine import Floats, Lesson, RefineSettings, products_of, teach
from guide.teach.thin import Fewer, fewer
from guide.teach.view import View, learn_view

Given: TypeAlias = NDArray[np.intp] | None
# A place speaks against a step that is never done there, less for the one that usually is: idle time lies there too.
PLACE_MOST = 2.5
MOST_FOLDS = 3  # labelled recordings left out to see whether consensus pays


class Task(NamedTuple):
    """What labels are carried over: rows (T, d) and times of each recording, and what a change of label costs."""

    rows: Sequence[Floats]
    products: Sequence[Floats]  # (d, d) of the rows
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

    settings: RefineSettings = field(default_factory=lambda: RefineSettings(place_most=PLACE_MOST))
    rounds: int = 4
    """Scores rise by ever less from round to round; on drawn and cooking recordings four get nearly all of it."""
    say: int = 4
    """How much more a recording labelled by a person counts than one labelled by us."""
    consensus: Consensus = field(default_factory=Consensus)
    """How the carried labels are read again as whole courses, where that pays."""

    def spread(self, collection: Collection, given: Sequence[Labels | None]) -> Found:
        """Labels (T,) for every recording; at least one is given. 0 is background where people left gaps."""
        known = [number for number, labels in enumerate(given) if labels is not None]
        if not known or len(given) != len(collection.times):
            raise ValueError(f"labels for some of {len(collection.times)} recordings were expected, got {len(given)}")
        numbers = np.unique(np.concatenate([labels for labels in given if labels is not None]))
        few = fewer(collection, len(numbers), seed=0, keep=known)
        task, view = self.task_of(few, numbers)
        columns = columns_of(few, given, numbers)
        lesson, spread = self.carry(task, columns)
        if self._does_consensus_pay(task, columns):
            spread = self._agreed(task, columns, spread)
        carried = dict(zip(few.numbers, spread, strict=True))
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
        change = self.settings.change * step_s * some.rate
        return Task(rows, products_of(rows), some.times, numbers, change, step_s), view

    def carry(self, task: Task, given: Sequence[Given]) -> tuple[Lesson, list[Labels]]:
        """What the labelled recordings teach, and the columns (T,) of all of them by it; whole courses are not read."""
        rows, columns, products = task.rows, len(task.numbers), task.products
        known = _known(given)
        taught = [rows[n] for n in known], [_must(given[n]) for n in known]
        lesson = teach(*taught, columns, self.settings, [products[n] for n in known])
        current: list[Labels] = []
        for _ in range(self.rounds):
            current = [
                lesson.label(row, task.change, self.settings) if labels is None else _must(labels)
                for row, labels in zip(rows, given, strict=True)
            ]
            teachers = [*range(len(rows)), *known * (self.say - 1)]
            taught = [rows[n] for n in teachers], [current[n] for n in teachers]
            lesson = teach(*taught, columns, self.settings, [products[n] for n in teachers])
        return lesson, current

    def _agreed(
        self, task: Task, given: Sequence[Given], labels: Sequence[Labels], only: int | None = None
    ) -> list[Labels]:
        steps = [task.numbers[each] for each in labels]
        agreed = self.consensus.settle(task.rows, task.times, steps, _known(given), task.step_s, only)
        return [np.searchsorted(task.numbers, each) for each in agreed]

    def _does_consensus_pay(self, task: Task, given: Sequence[Given]) -> bool:
        """Whether reading whole courses comes nearer to labels that people gave, each left out in turn.

        It does where steps look different and come in many orders, and does harm where only their place tells them
        apart. With a single labelled recording nobody can know.
        """
        known = _known(given)
        if len(known) < 2 or len(known) == len(given):
            return False
        gain = 0.0
        for number in known[:MOST_FOLDS]:
            others: list[Given] = [None if other == number else labels for other, labels in enumerate(given)]
            _, carried = self.carry(task, others)
            truth, agreed = _must(given[number]), self._agreed(task, others, carried, number)
            is_step = task.numbers[truth] > BACKGROUND  # where background lies is a matter of taste
            gain += float((agreed[number] == truth)[is_step].sum() - (carried[number] == truth)[is_step].sum())
        return gain > 0


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
