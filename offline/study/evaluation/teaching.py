"""What the other recordings teach when one is left out: with few labels, many or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from guide.errors import InputError
from guide.perceive.appearance import AppearanceSettings
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.reorder import visits_a_step
from offline.metrics import match_steps
from offline.study.evaluation.finding import Search
from offline.study.evaluation.methods import Method
from offline.study.evaluation.scoring import Choice, choices
from offline.study.evaluation.task import LabelledTask

ALL: Final = "all"
NONE: Final = "0"
FEWEST: Final = 3  # recordings: one to leave out and two to learn from


@dataclass(frozen=True, slots=True)
class Way:
    """How many of the others come with their true labels, and which, where it is some of them."""

    count: str
    chosen: Choice = ()


@dataclass(frozen=True, slots=True)
class Taught:
    """Labels that recordings teach with, and the true step of each number in them."""

    labels: tuple[Labels, ...]
    names: Mapping[int, int]

    def named(self, found: Labels) -> Labels:
        """Found numbers as true steps; what matches none is no step.

        >>> Taught((), {4: 1}).named(np.array([4, 3, 0])).tolist()
        [1, 0, 0]
        """
        return np.array([self.names.get(int(step), BACKGROUND) for step in found], np.int64)


def read_numbers(text: str) -> list[str]:
    """How many are labelled, as the command line says it; raises InputError for anything but numbers and all.

    >>> read_numbers("0, all")
    ['0', 'all']
    """
    counts = [part.strip() for part in text.split(",")]
    if not all(part == ALL or (part.isascii() and part.isdecimal() and len(part) < 10) for part in counts):
        raise InputError(f"--labelled takes numbers or all with commas between, such as 0,1,all, got {text!r}.")
    return counts


def require_enough(task: LabelledTask) -> None:
    """Raises InputError where there is too little to leave one out."""
    if len(task.recordings) < FEWEST or not task.is_seen:
        raise InputError(
            f"{task.title} needs at least {FEWEST} recordings with features, one to leave out and two to learn from, "
            f"got {len(task.recordings) if task.is_seen else 0}: choose another task."
        )


def without(task: LabelledTask, number: int) -> LabelledTask:
    """The task less one recording."""
    return replace(
        task,
        recordings=(*task.recordings[:number], *task.recordings[number + 1 :]),
        truth=(*task.truth[:number], *task.truth[number + 1 :]),
    )


def ways(counts: Sequence[str], recordings: int, most: int, seed: int) -> Iterator[Way]:
    """Every way to label some of so many recordings; as many as there are, or more, is all.

    >>> [way.chosen for way in ways(["0", "1", "5"], 3, most=3, seed=0)]
    [(), (0,), (1,), (2,), ()]
    """
    wanted = [count if count != ALL and int(count) < recordings else ALL for count in counts]
    for count in dict.fromkeys(wanted):
        if count in (ALL, NONE):
            yield Way(count)
        else:
            yield from (Way(count, chosen) for chosen in choices(recordings, int(count), most, seed))


def teach(others: LabelledTask, way: Way, search: Search) -> Taught:
    """The labels that the others teach with."""
    same = {step: step for step in others.steps}
    if way.count == ALL:
        return Taught(others.truth, same)
    if way.count == NONE:
        found = search.find(
            others, Method(search.recipe.clusterer, search.recipe.loss), others.k, 0, lambda iteration, words: None
        )
        return Taught(found.labels, match_steps(others.truth, found.labels))
    return Taught(search.carry(others, way.chosen).labels, same)


def demonstrations_of(
    task: LabelledTask, way: Way, copies: tuple[tuple[NDArray[Any], ...], ...] = ()
) -> Demonstrations:
    """The recordings as teaching sees them, with copies of each in other light or another view where there are any."""
    known = task.truth if way.count == ALL else [task.truth[number] for number in way.chosen]
    step_s = float(np.median([one.duration_s for one in task.recordings])) / task.k / visits_a_step(known)
    return demonstrate(
        [one.id for one in task.recordings],
        [one.times for one in task.recordings],
        [one.pooled for one in task.recordings],
        task.recordings[0].rate,
        AppearanceSettings.for_step(step_s),
        copies,
    )
