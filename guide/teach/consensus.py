"""Labels that were carried from a few recordings to the others, made to agree with what people showed of the history.

Carried labels go by frames: a step that looks like another vanishes, or breaks in two. The labelled recordings also
show which steps are always done, which but once, and how long they take. So every other recording is read anew as a
whole history (`guide/label/histories.py`), by look, place and share of the time, in the light of the others, and again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from guide.domain import BACKGROUND, Labels, Times
from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.history_model import TO_BACKGROUND
from guide.perceive.appearance import SMOOTHED_STEPS
from guide.teach.lesson import Floats, Lesson, LessonSettings, Shown, teach
from guide.teach.reorder import stretches

LEAST_SPREAD = 0.3  # of the logarithm of a step's time
UNUSUAL = 1.2  # people vary more than the few stretches at hand
AGREED = 0.8  # of the recordings in which two steps come in the order that the labelled ones show
MOST_FOLLOWED = 0.95  # how often background follows a step at most, and another step at most
SURE = Expectations(order=2.0, repeat=6.0, again=1.5, lacking=6.0)  # demonstrations are right: more than live


@dataclass(frozen=True, slots=True)
class Consensus:
    """Reads the recordings without given labels again, each in the light of the others.

    >>> rows = [np.repeat([[0.0], [4.0]], 40, axis=0) for _ in range(2)]
    >>> first = [np.repeat([1, 2], 40), np.repeat([1, 2], [70, 10])]
    >>> Consensus().settle(rows, [np.arange(80) / 2] * 2, first, known=[0], step_s=20.0)[1][[30, 50]]
    array([1, 2])
    """

    rounds: int = 3
    """More change little."""
    say: int = 4
    """How much more a recording labelled by a person counts than one labelled by us."""
    independent: float = 1.5
    """How many independent witnesses the features' smoothing holds: more than live, since these look both ways."""
    settings: LessonSettings = field(default_factory=lambda: LessonSettings(place_most=1.0))
    """A place only speaks against a step: or idle time at the beginning would be the first one."""

    def settle(
        self,
        rows: Sequence[Floats],
        times: Sequence[Times],
        labels: Sequence[Labels],
        known: Sequence[int],
        step_s: float,
        shown: Sequence[Shown] | None = None,
    ) -> list[Labels]:
        """Labels (T,) for rows (T, d), from first labels; the recordings in `known` keep theirs.

        They teach as they are, or in all the ways in which they are `shown`.
        """
        current, seen = list(labels), shown or [Shown.of(each) for each in rows]
        for _ in range(self.rounds):
            model = self._model(current, times, known, step_s)
            lessons = self._lessons(seen, current, known, model)
            current = [
                each if lesson is None else self._read(rows[number], times[number], lesson, model)
                for number, (each, lesson) in enumerate(zip(current, lessons, strict=True))
            ]
        return current

    def _lessons(
        self, shown: Sequence[Shown], labels: Sequence[Labels], known: Sequence[int], model: HistoryModel
    ) -> Iterator[Lesson | None]:
        """For each recording what the others teach, those in `known` with more weight; nothing for these."""
        columns = [np.searchsorted(model.steps, each) for each in labels]
        for number in range(len(shown)):
            teachers = [other for other in range(len(shown)) if other != number]
            teachers += [other for other in known for _ in range(self.say - 1)]
            seen, taught = [shown[other] for other in teachers], [columns[other] for other in teachers]
            yield None if number in known else teach(seen, taught, len(model.steps), self.settings)

    def _read(self, rows: Floats, times: Times, lesson: Lesson, model: HistoryModel) -> Labels:
        """The labels (T,) of the rows (T, d) of one recording by what the others teach."""
        if BACKGROUND in model.steps:  # which may lie anywhere, also where the labelled ones begin with a step at once
            lesson = lesson.anywhere(model.steps.index(BACKGROUND))
        histories = Histories(model, _tick_s(times))
        for chances, at in zip(lesson.plan(rows, self.settings), times, strict=True):
            histories.push(1.0 - chances, float(at))
        found = np.zeros(len(times), np.int64)
        for step, start, _ in histories.likeliest(is_over=True):
            found[times >= start] = step
        return found

    def _model(
        self, labels: Sequence[Labels], times: Sequence[Times], known: Sequence[int], step_s: float
    ) -> HistoryModel:
        steps = tuple(int(step) for step in np.unique(np.concatenate(list(labels))))
        visits = [visited(each) for each in labels]
        given = [Counter(visits[number]) for number in known]
        usual, spread = _durations(labels, times, steps)
        before = np.zeros((len(steps), len(steps)), bool)
        for (row, first), (column, then) in permutations(enumerate(steps), 2):
            before[row, column] = min(first, then) > BACKGROUND and _is_agreed(first, then, visits, known)
        return HistoryModel(
            steps,
            usual,
            spread,
            before,
            np.array([step > BACKGROUND and all(one[step] > 0 for one in given) for step in steps]),
            np.array([step > BACKGROUND and all(one[step] <= 1 for one in given) for step in steps]),
            self.independent / (SMOOTHED_STEPS * step_s),
            SURE,
            _to_background([labels[number] for number in known]),
        )


def visited(labels: Labels) -> list[int]:
    """The steps in the order of their visits.

    >>> visited(np.array([1, 1, 0, 1, 2]))
    [1, 2]
    """
    steps = [int(step) for step in labels[labels > BACKGROUND]]
    return [step for place, step in enumerate(steps) if place == 0 or step != steps[place - 1]]


def _is_agreed(first: int, then: int, visits: Sequence[Sequence[int]], known: Sequence[int]) -> bool:
    """Whether `first` comes before `then` in every labelled recording that has both, and in most of all."""
    have_both = [number for number, each in enumerate(visits) if first in each and then in each]
    kept = {number: visits[number].index(first) < visits[number].index(then) for number in have_both}
    given = [kept[number] for number in known if number in kept]
    return bool(given) and all(given) and sum(kept.values()) >= AGREED * len(kept)


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
