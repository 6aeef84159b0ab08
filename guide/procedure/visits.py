"""What a recording did, step by step: segments become visits.

A visit is one uninterrupted turn at a key-step. A pause (background) or unknown activity inside a turn does not end it:
people stop to look at the plan, and that is neither a repeat nor a new step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from guide.domain import BACKGROUND, Segment


@dataclass(frozen=True, slots=True)
class Visit:
    """One turn at a key-step: from `start` to `end`, of which `busy_s` seconds were spent on it.

    >>> visits_of([Segment(1, 0.0, 2.0), Segment(0, 2.0, 5.0), Segment(1, 5.0, 6.0)])
    (Visit(step=1, start=0.0, end=6.0, busy_s=3.0),)
    """

    step: int
    start: float
    end: float
    busy_s: float


def visits_of(segments: Iterable[Segment]) -> tuple[Visit, ...]:
    """The visits of one recording in order of their start; background and unknown activity are left out."""
    visits: list[Visit] = []
    for segment in without_overlap([part for part in segments if part.step > BACKGROUND]):
        if visits and visits[-1].step == segment.step:
            last = visits[-1]
            visits[-1] = Visit(last.step, last.start, segment.end, last.busy_s + segment.duration)
        else:
            visits.append(Visit(segment.step, segment.start, segment.end, segment.duration))
    return tuple(visits)


def without_overlap(segments: Sequence[Segment]) -> list[Segment]:
    """The segments by start time, each cut off where the next one starts: hands do one thing at a time."""
    ordered = sorted(segments, key=lambda segment: segment.start)
    ends = [*(segment.start for segment in ordered[1:]), float("inf")][: len(ordered)]
    pairs = zip(ordered, ends, strict=True)
    return [segment if segment.end <= end else replace(segment, end=end) for segment, end in pairs]


def first_order(visits: Iterable[Visit]) -> tuple[int, ...]:
    """The steps in the order in which each was first done."""
    return tuple(dict.fromkeys(visit.step for visit in visits))
