"""The paper's ordering: key-steps by mean normalised time, and the orders ranked by how often they were followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from guide.domain import BACKGROUND, Ordering, Segment


def ordering_of_segments(segments: Iterable[Segment]) -> tuple[int, ...]:
    """Key-steps of one recording by the mean of T(n) = n / p over their frames, n = 1..p.

    The middles of segments weighted by their durations are that mean time at any frame rate.
    Dividing by the recording's length would not change the order. A step of no duration counts as a moment.

    >>> ordering_of_segments([Segment(2, 0.0, 2.0), Segment(1, 3.0, 5.0), Segment(2, 5.0, 6.0)])
    (2, 1)
    """
    weighted: dict[int, float] = {}
    weights: dict[int, float] = {}
    for segment in segments:
        if segment.step > BACKGROUND:
            weight = max(segment.duration, 1e-9)
            weighted[segment.step] = weighted.get(segment.step, 0.0) + weight * (segment.start + segment.end) / 2
            weights[segment.step] = weights.get(segment.step, 0.0) + weight
    return tuple(sorted(weights, key=lambda step: (weighted[step] / weights[step], step)))


def rank_orderings(orders: Iterable[tuple[int, ...]]) -> tuple[Ordering, ...]:
    """The distinct orders, the one followed most at the top; equal counts keep the order in which they were met.

    >>> rank_orderings([(1, 2), (2, 1), (2, 1)])
    (Ordering(steps=(2, 1), count=2), Ordering(steps=(1, 2), count=1))
    """
    counts = Counter(orders)
    return tuple(Ordering(steps, count) for steps, count in counts.most_common())
