"""How unlike its demonstrations a step may look and be done: from demonstrations left out and followed as if live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from guide.domain import BACKGROUND, Labels
from guide.label.limits import Judgement
from guide.procedure.events import Confirmed, Ended, Event
from guide.teach.calibrate import LeftOut

Limits: TypeAlias = tuple[tuple[int, float], ...]

FEWEST = 3  # demonstrations: two say nothing of how alike people are
RISK = 0.03  # chance that a recording with nothing unusual in it holds a step beyond its limit
SPREAD = 0.2  # of the logarithm of how far people's most unusual steps lie, believed before any was seen
BELIEF = 3  # demonstrations' worth of that belief: a few that happen to be alike prove little
_TINY = 1e-9


class Visit(NamedTuple):
    """A step that was followed: how far from its demonstrations it looked, and how far it was done; None if unknown."""

    step: int
    look: float | None
    manner: float | None


def with_likeness(
    judgement: Judgement, left: Sequence[LeftOut], rehearsals: Sequence[Sequence[Event]], numbers: Labels
) -> Judgement:
    """The judgement with limits on the look and the manner of steps, the columns of distances being the `numbers`."""
    visits = [list(visits_of(one, events, numbers)) for one, events in zip(left, rehearsals, strict=True)]
    looks = [[(one.step, one.look) for one in each if one.look is not None] for each in visits]
    manners = [[(one.step, one.manner) for one in each if one.manner is not None] for each in visits]
    return replace(judgement, own=limits(looks), manner_limits=limits(manners))


def limits(recordings: Sequence[Sequence[tuple[int, float]]]) -> Limits:
    """For each step the distance that is too far, from the steps and distances of each left-out demonstration.

    Each step has its own usual distance; how many times as far is too far is the same for all, since every step is seen
    a few times only. None where demonstrations are too few to tell.

    >>> [(step, round(limit, 1)) for step, limit in limits([[(1, 4.0), (2, 8.0)]] * 6)]
    [(1, 5.3), (2, 10.7)]
    """
    seen: dict[int, list[float]] = {}
    for visits in recordings:
        for step, distance in visits:
            seen.setdefault(step, []).append(distance)
    usual = {step: max(float(np.median(values)), _TINY) for step, values in seen.items()}
    farthest = [max(distance / usual[step] for step, distance in visits) for visits in recordings if visits]
    if len(farthest) < FEWEST:
        return ()
    factor = next_at_most(farthest)
    return tuple((step, usual[step] * factor) for step in sorted(usual))


def next_at_most(farthest: Sequence[float]) -> float:
    """What the next of such numbers above 0 exceeds with a chance of `RISK`: a prediction interval on logarithms.

    >>> round(next_at_most([1.0] * 12), 2), round(next_at_most([1.0] * 4), 2)
    (1.22, 1.44)
    """
    logs = np.log(np.maximum(farthest, _TINY))
    freedom = len(logs) - 1 + BELIEF
    variance = (np.square(logs - logs.mean()).sum() + BELIEF * SPREAD**2) / freedom
    return float(np.exp(logs.mean() + stdtrit(freedom, 1 - RISK) * np.sqrt(variance * (1 + 1 / len(logs)))))


def visits_of(one: LeftOut, events: Sequence[Event], numbers: Labels) -> Iterator[Visit]:
    """The steps that were followed in a rehearsal, each with its mean distance to its own centre and its manner."""
    column = {int(number): place for place, number in enumerate(numbers)}
    running: Confirmed | None = None
    for event in events:
        if isinstance(event, Confirmed):
            running = event
        if isinstance(event, Ended) and running is not None and event.step == running.step in column:
            start, end = running.start, event.end
            running = None
            if event.step <= BACKGROUND or start is None or end is None:
                continue
            chosen = (one.times >= start) & (one.times <= end)
            if chosen.any():
                look = float(one.distances[chosen, column[event.step]].mean())
                manner = None if one.manners is None else one.manners.distance(event.step, one.manner[chosen])
                yield Visit(event.step, look if np.isfinite(look) else None, manner)
