"""Carrying labels that people gave for a few recordings to the others, under what recordings of one task share.

The labelled recordings show how steps look, which are always done, which but once, in which order, and how long they
take. So every other recording is read as a whole history (`guide/label/histories.py`): by frames alone a step that
looks like another would vanish, or break in two. Then each is read again in the light of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.label.discriminant import ClassSums
from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.history_model import TO_BACKGROUND
from guide.label.visit_counts import VisitCounts
from guide.perceive.appearance import SMOOTHED_STEPS
from guide.teach.collection import Collection, Found
from guide.teach.lesson import Floats, Lesson, LessonSettings, teach
from guide.teach.reorder import LEAD_IN, stretches, visited, visits_a_step, with_lead_in
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view

Given: TypeAlias = NDArray[np.int64] | None
LEAST_SPREAD = 0.3  # of the logarithm of a step's time
UNUSUAL = 1.2  # people vary more than the few stretches at hand
AGREED = 0.8  # of the recordings in which two steps come in the order that the labelled ones show
MOST_FOLLOWED = 0.95  # how often background follows a step at most, and another step at most
SURE = Expectations(order=2.0, repeat=6.0, lacking=6.0)  # demonstrations are right: more than live


class Task(NamedTuple):
    """What labels are carried over: rows (T, d) and times of each recording, and the average step."""

    rows: Sequence[Floats]
    times: Sequence[Times]
    steps: tuple[int, ...]  # among them background where people left gaps
    step_s: float
    rate: float

    @property
    def columns(self) -> Labels:
        """The label that each column of a lesson teaches: the lead-in, and the steps."""
        return np.array((LEAD_IN, *self.steps))


@dataclass(frozen=True, slots=True)
class Carrying:
    """Labels every recording from those that have labels; these keep theirs, and step numbers stay as given.

    >>> rows = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> given = [np.repeat([3, 5], 40), None]
    >>> Carrying().carry(Collection.at_rate([rows, rows], 2.0), given).labels[1][[0, -1]]
    array([3, 5])
    """

    rounds: int = 3
    """In the first those that people labelled teach, in the others all; more change little."""
    independent: float = 1.5
    """How many independent witnesses the features' smoothing holds: more than live, since these look both ways."""
    has_lead_in: bool = True
    """Whether background before the first step looks as it does by itself."""
    settings: LessonSettings = field(default_factory=LessonSettings)

    def carry(self, collection: Collection, given: Sequence[Given]) -> Found:
        """Labels (T,) for every recording; at least one is given. 0 is background where people left gaps."""
        known = [number for number, labels in enumerate(given) if labels is not None]
        if not known or len(given) != len(collection.times):
            raise ValueError(f"labels for some of {len(collection.times)} recordings were expected, got {len(given)}")
        every = [labels for labels in given if labels is not None]
        if len(every) == len(given):
            return Found(tuple(every))
        few = fewer(collection, len(np.unique(np.concatenate(every))), seed=0, keep=known)
        task, view = self.task_of(few, given)
        settled = self.settle(task, thinned(few, given))
        carried = dict(zip(few.numbers, settled, strict=True))
        if few.others:
            lesson = self.lesson(task, settled)
            for number in few.others:
                one = few.collection([number])
                row = view.rows((one.features or one.embeddings)[0], one.times[0])
                carried[number] = self.label(task, lesson, row)
        return Found(
            tuple(few.all_frames(number, carried[number]) if own is None else own for number, own in enumerate(given))
        )

    def task_of(self, few: Fewer, given: Sequence[Given]) -> tuple[Task, View]:
        """What is carried over, whoever of the labelled ones teaches."""
        some = few.collection()
        known = [own for own in thinned(few, given) if own is not None]
        steps = tuple(int(step) for step in np.unique(np.concatenate(known)))
        lasted = float(np.median([times[-1] - times[0] for times in few.whole.times]))
        step_s = lasted / max(sum(step > BACKGROUND for step in steps), 1) / visits_a_step(known)
        view, rows = learn_view(some.features or some.embeddings, some.times, step_s, self.settings)
        return Task(rows, some.times, steps, step_s, some.rate), view

    def lesson(self, task: Task, labels: Sequence[Given]) -> Lesson:
        """What the recordings that have labels (T,) teach."""
        return self._lesson(task, self._sums(task, labels), labels, range(len(labels)))

    def label(self, task: Task, lesson: Lesson, rows: Floats) -> Labels:
        """The labels (T,) of rows (T, d) frame by frame, not read as a history."""
        columns = lesson.label(rows, self.settings.change * task.step_s * task.rate, self.settings)
        return np.maximum(task.columns, BACKGROUND)[columns]

    def settle(self, task: Task, given: Sequence[Given]) -> list[Labels]:
        """Labels (T,) of all recordings from those of some, which keep theirs."""
        known = [number for number, labels in enumerate(given) if labels is not None]
        current = list(given)
        for _ in range(self.rounds):
            model = self.model(task, current, known)
            sums, before = self._sums(task, current), list(current)
            for number, own in enumerate(given):
                if own is None:
                    teachers = [other for other in range(len(given)) if other != number]
                    lesson = self._lesson(task, sums, before, teachers)
                    current[number] = self.read(task, number, lesson, model)
        return [_must(each) for each in current]

    def read(self, task: Task, number: int, lesson: Lesson, model: HistoryModel) -> Labels:
        """The labels (T,) of one recording by what others teach."""
        times, plan = task.times[number], lesson.plan(task.rows[number], self.settings)
        if BACKGROUND in task.steps:  # the lead-in is background
            plan[:, 1 + task.steps.index(BACKGROUND)] += plan[:, 0]
        histories = Histories(model, _tick_s(times))
        for chances, at in zip(plan[:, 1:], times, strict=True):
            histories.push(1.0 - chances, float(at))
        histories.end()
        found = np.zeros(len(times), np.int64)
        for step, start, _ in histories.likeliest(is_over=True):
            found[times >= start] = step
        return found

    def model(self, task: Task, labels: Sequence[Given], known: Sequence[int]) -> HistoryModel:
        """How histories usually go by the labels (T,) there are, above all of those that people gave."""
        order = [*known, *(n for n, each in enumerate(labels) if each is not None and n not in known)]
        every, times = [_must(labels[number]) for number in order], [task.times[number] for number in order]
        visits, steps = [visited(each) for each in every], task.steps
        given = [Counter(each) for each in visits[: len(known)]]
        usual, spread = _durations(every, times, steps)
        before = np.zeros((len(steps), len(steps)), bool)
        for (row, one), (column, then) in permutations(enumerate(steps), 2):
            before[row, column] = min(one, then) > BACKGROUND and _is_agreed(one, then, visits, len(known))
        return HistoryModel(
            steps,
            usual,
            spread,
            before,
            np.array([step > BACKGROUND and all(one[step] > 0 for one in given) for step in steps]),
            VisitCounts.learn([[one[step] if step > BACKGROUND else 0 for step in steps] for one in given]),
            self.independent / (SMOOTHED_STEPS * task.step_s),
            SURE,
            _to_background(every[: len(known)]),
        )

    def _sums(self, task: Task, labels: Sequence[Given]) -> list[ClassSums | None]:
        every = np.arange(len(task.columns))
        return [
            None if own is None else ClassSums.of(rows, self._columns(task, own), every)
            for rows, own in zip(task.rows, labels, strict=True)
        ]

    def _columns(self, task: Task, labels: Labels) -> Labels:
        """The column (T,) of each label."""
        return np.searchsorted(task.columns, with_lead_in(labels) if self.has_lead_in else labels)

    def _lesson(
        self, task: Task, sums: Sequence[ClassSums | None], labels: Sequence[Given], teachers: Sequence[int]
    ) -> Lesson:
        """What those of the `teachers` teach that have labels; background may lie anywhere."""
        taught = [(one, own) for one, own in ((sums[n], labels[n]) for n in teachers) if one is not None]
        columns = [self._columns(task, _must(own)) for _, own in taught]
        lesson = teach([one for one, _ in taught], columns, self.settings)
        return lesson.anywhere(1 + task.steps.index(BACKGROUND)) if BACKGROUND in task.steps else lesson


def thinned(few: Fewer, given: Sequence[Given]) -> list[Given]:
    """The labels that people gave for those recordings that stand for all, in fewer frames."""
    return [None if (own := given[number]) is None else few.thin(own) for number in few.numbers]


def _is_agreed(first: int, then: int, visits: Sequence[Sequence[int]], known: int) -> bool:
    """Whether `first` comes before `then` in each of the `known` first recordings that has both, and in most of all."""
    kept = [each.index(first) < each.index(then) if first in each and then in each else None for each in visits]
    given = [one for one in kept[:known] if one is not None]
    every = [one for one in kept if one is not None]
    return bool(given) and all(given) and sum(every) >= AGREED * len(every)


def _to_background(labels: Sequence[Labels]) -> float:
    """How often the stretch after a step is background, drawn towards what is so live by one stretch's worth.

    >>> round(_to_background([np.array([1, 1, 0, 2, 3])]), 2)
    0.57
    """
    followed = [
        each[part[-1] + 1] == BACKGROUND for each in labels for part in stretches(each)[:-1] if each[part[0]] > 0
    ]
    return float(np.clip((sum(followed) + TO_BACKGROUND) / (len(followed) + 1), 1 - MOST_FOLLOWED, MOST_FOLLOWED))


def _durations(labels: Sequence[Labels], times: Sequence[Times], steps: Sequence[int]) -> tuple[Floats, float]:
    """The usual time of each step (mean for background), and the spread of its logarithm over all steps."""
    lasted: dict[int, list[float]] = {step: [] for step in steps}
    for each, at in zip(labels, times, strict=True):
        for part in stretches(each):
            lasted[int(each[part[0]])].append(len(part) * _tick_s(at))
    usual = {step: float(np.median(found) if step > BACKGROUND else np.mean(found)) for step, found in lasted.items()}
    logs = [np.log(value / usual[step]) for step, found in lasted.items() if step > BACKGROUND for value in found]
    return np.array([usual[step] for step in steps]), max(LEAST_SPREAD, UNUSUAL * float(np.std(logs)) if logs else 0.0)


def _tick_s(times: Times) -> float:
    return float(np.median(np.diff(times))) if len(times) > 1 else 1.0


def _must(labels: Given) -> Labels:
    assert labels is not None
    return labels.astype(np.int64)
