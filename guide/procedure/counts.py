"""Counts over the demonstrations, and how likely the next clean recording goes against them.

A dozen demonstrations are few: "always" in 3 of 3 is weak evidence. Each risk below is a count shrunk towards what the
whole task shows (a Beta prior whose mean is pooled over all steps): a task in which nothing ever varies is trusted
after two demonstrations, one in which people come and go is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from guide.procedure.model import StepStatistics
from guide.procedure.visits import Visit

QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
PRIOR_RECORDINGS = 1.0  # weight of the pooled rate in a step's own presence and repeat rate


def step_statistics(demonstrations: Sequence[tuple[Visit, ...]], steps: Iterable[int]) -> tuple[StepStatistics, ...]:
    """Presence, repeats and durations of each step over the visits of each demonstration."""
    times: dict[int, list[int]] = {}
    busy: dict[int, list[float]] = {}
    for visits in demonstrations:
        for step, count in Counter(visit.step for visit in visits).items():
            times.setdefault(step, []).append(count)
        for visit in visits:
            busy.setdefault(visit.step, []).append(visit.busy_s)
    return tuple(_statistics(step, times.get(step, []), busy.get(step, [0.0])) for step in steps)


def _statistics(step: int, times: Sequence[int], busy: Sequence[float]) -> StepStatistics:
    low, tenth, half, ninetieth, high = (float(value) for value in np.quantile(busy, QUANTILES))
    return StepStatistics(
        step,
        present=len(times),
        repeated=sum(count > 1 for count in times),
        most_visits=max(times, default=0),
        durations_s=(low, tenth, half, ninetieth, high),
        visits=tuple(times.count(number + 1) for number in range(max(times))) if max(times, default=0) > 1 else (),
    )


def longest_pause_s(demonstrations: Sequence[tuple[Visit, ...]]) -> float:
    """The longest time between two steps in which nothing was done, in seconds."""
    pauses = [then.start - first.end for visits in demonstrations for first, then in pairwise(visits)]
    return max([0.0, *pauses])


def shrunk_rates(counts: Mapping[int, int], total: int) -> dict[int, float]:
    """The chance of each event in the next recording from its count in `total`, shrunk to the mean over all events.

    >>> shrunk_rates({1: 0, 2: 1}, total=3)
    {1: 0.041666666666666664, 2: 0.2916666666666667}
    """
    pooled = sum(counts.values()) / max(len(counts) * total, 1)
    weight = PRIOR_RECORDINGS
    return {event: (count + weight * pooled) / (total + weight) for event, count in counts.items()}
