"""What was done to a recording, as truth.json tells it: the drawn world's fields, and where every frame came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from guide.domain import KeyStep, Labels, Segment, Times
from guide.teach.annotations import labels_to_segments
from offline.study.counterfactual.faults import Variant
from offline.study.counterfactual.pieces import Layout, lasting, retime, splices

Truth: TypeAlias = dict[str, object]


def segments_of(variant: Variant, labels: Labels, times: Times, rate: float) -> list[Segment]:
    """The true segments of the new recording, from the source's frame labels (T,) and times (T,)."""
    index = Layout.of(labels).index(variant.order)
    last_s = float(lasting(times, rate)[index[-1]])
    return labels_to_segments(labels[index], retime(index, times, rate), 1.0 / last_s)


def tell(variant: Variant, source: str, labels: Labels, times: Times, rate: float, names: Mapping[int, str]) -> Truth:
    """Fault, step, the step it should have waited for, when it can be known, the true segments, and what was spliced.

    `splices` are the seconds at which frames meet that did not in the source; `spans` are [start, end, start in the
    source], so that every frame can be found again in `source`.

    >>> from offline.study.counterfactual.faults import unchanged
    >>> labels = np.array([1, 1, 2])
    >>> told = tell(unchanged(Layout.of(labels)), "a", labels, np.arange(3.0), 1.0, {1: "open", 2: "close"})
    >>> told["segments"], told["splices"]
    ([[0.0, 2.0, '1 open'], [2.0, 3.0, '2 close']], [])
    """
    index = Layout.of(labels).index(variant.order)
    new = retime(index, times, rate)
    duration = float(lasting(times, rate)[index].sum())
    return {
        "fault": variant.kind,
        "step": _label(variant.step, names),
        "before": _label(variant.before, names),
        "at": known_at(variant, Layout.of(labels), new, duration),
        "segments": [
            [_round(part.start), _round(part.end), _label(part.step, names)]
            for part in segments_of(variant, labels, times, rate)
        ],
        "source": source,
        "splices": [_round(new[frame]) for frame in splices(index)],
        "spans": _spans(index, times, new, duration),
    }


def known_at(variant: Variant, layout: Layout, new: Times, duration: float) -> float | None:
    """When the fault can be known, in the new recording's times (M,): at its `duration` where only the end tells."""
    if variant.step is None:
        return None
    return _round(duration if variant.known is None else new[layout.start(variant.order, variant.known)])


def _spans(index: np.ndarray, times: Times, new: Times, duration: float) -> list[list[float]]:
    begins = sorted({0, *splices(index)})
    ends = [*(new[frame] for frame in begins[1:]), duration]
    return [
        [_round(new[frame]), _round(end), _round(times[index[frame]])]
        for frame, end in zip(begins, ends, strict=True)
        if frame < len(index)
    ]


def _label(step: int | None, names: Mapping[int, str]) -> str | None:
    return None if step is None else KeyStep(step, names.get(step) or f"step {step}").label


def _round(value: float) -> float:
    return round(float(value), 3)
