"""Counts over the demonstrations, and how likely the next clean recording goes against them.

A dozen demonstrations are few: "always" in 3 of 3 is weak evidence. Each risk below is a count shrunk towards what the
whole task shows (a Beta prior whose mean is pooled over all steps or pairs): a task in which nothing ever varies is
trusted after two demonstrations, one in which people wander is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.procedure.model import StepStatistics
from guide.procedure.precedence import Edge
from guide.procedure.visits import Visit, first_order

Gaps: TypeAlias = NDArray[np.float64]  # (n,), places

QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
PRIOR_RECORDINGS = 1.0  # weight of the pooled rate in a step's own presence and repeat rate
PRIOR_PAIRS = 2.0  # weight of the reversal expected from the gap in a pair's own count
PRIOR_SPREAD = 0.5  # places by which a gap is taken to vary before two demonstrations have shown how much it does


def step_statistics(demonstrations: Sequence[tuple[Visit, ...]], step: int) -> StepStatistics:
    """Presence, repeats and durations of one step over the visits of each demonstration."""
    times = [sum(visit.step == step for visit in visits) for visits in demonstrations]
    busy = [visit.busy_s for visits in demonstrations for visit in visits if visit.step == step]
    low, tenth, half, ninetieth, high = (float(value) for value in np.quantile(busy or [0.0], QUANTILES))
    return StepStatistics(
        step,
        present=sum(count > 0 for count in times),
        repeated=sum(count > 1 for count in times),
        most_visits=max(times, default=0),
        durations_s=(low, tenth, half, ninetieth, high),
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


def reversal_risks(demonstrations: Sequence[tuple[Visit, ...]]) -> dict[Edge, float]:
    """For each pair, in its usual direction, the chance that the next recording reverses it.

    The gap between two steps, in places, varies over recordings; its variance is shrunk to what the two steps show
    elsewhere. So neighbours never seen exchanged are riskier than steps far apart, the more so where one wanders.
    """
    gaps = _gaps([first_order(visits) for visits in demonstrations])
    wander = _wander(gaps)
    count = max(len(demonstrations) - 1, 0)
    return {
        (first, then): _reversal(found, (count * (wander[first] + wander[then]) + PRIOR_SPREAD**2) / (count + 1))
        for (first, then), found in gaps.items()
    }


def _gaps(orders: Sequence[tuple[int, ...]]) -> dict[Edge, Gaps]:
    """Signed distance in places from the first to the second step of each pair, over the recordings that hold both."""
    found: dict[Edge, list[int]] = {}
    for order in orders:
        for (one, first), (other, then) in combinations(enumerate(order), 2):
            pair = (first, then) if first < then else (then, first)
            found.setdefault(pair, []).append(other - one if first < then else one - other)
    usual = {pair: 2 * sum(value > 0 for value in values) >= len(values) for pair, values in found.items()}
    return {
        (pair if usual[pair] else pair[::-1]): np.array(values, dtype=np.float64) * (1 if usual[pair] else -1)
        for pair, values in found.items()
    }


def _wander(gaps: Mapping[Edge, Gaps]) -> dict[int, float]:
    """How much each step moves: the median variance of its gaps. A median, for a wandering partner is not its doing."""
    variances: dict[int, list[float]] = {}
    for pair, found in gaps.items():
        for step in pair:
            variances.setdefault(step, []).append(float(found.var(ddof=1)) if len(found) > 1 else 0.0)
    return {step: median(found) for step, found in variances.items()}


def _reversal(gaps: Gaps, expected_variance: float) -> float:
    count = len(gaps)
    squares = float(((gaps - gaps.mean()) ** 2).sum())
    variance = (squares + 2 * expected_variance) / (count + 1) * (1 + 1 / count)
    mean = max(float(gaps.mean()), 0.0)
    expected = min(variance / (variance + mean**2), 0.5)  # Cantelli's bound: no shape of the distribution is assumed
    return (int((gaps < 0).sum()) + PRIOR_PAIRS * expected) / (count + PRIOR_PAIRS)
