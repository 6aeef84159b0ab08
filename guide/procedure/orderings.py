"""The paper's ordering: key-steps by mean normalised time, and the orders ranked by how often they were followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from guide.domain import BACKGROUND, Labels, Ordering, Segment


def ordering_of_labels(labels: Labels) -> tuple[int, ...]:
    """Key-steps of one recording by the mean of T(n) = n / p over their frames, n = 1..p; labels (T,).

    >>> ordering_of_labels(np.array([2, 2, 0, 1, 1, 2]))
    (2, 1)
    """
    frames = np.arange(1, len(labels) + 1)
    found = [int(step) for step in np.unique(labels) if step > BACKGROUND]
    # the mean of n orders as the mean of n / p does, and whole numbers keep ties exact
    means = {step: int(frames[labels == step].sum()) / int((labels == step).sum()) for step in found}
    return tuple(sorted(found, key=lambda step: (means[step], step)))


def ordering_of_segments(segments: Iterable[Segment]) -> tuple[int, ...]:
    """The same order from segments: their middles weighted by duration are the mean time at any frame rate.

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
