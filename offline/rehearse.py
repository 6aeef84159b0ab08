"""Each demonstration as the live side would see it, by a discriminant fitted to the others.

Rules learned from labels that were found with the whole recording in view expect more of the live side than it can
do: it would be blamed on the operator. So the procedure's rules are learned from rehearsals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Segment, StepEvent, Times
from guide.label.energy import LinkSettings
from guide.label.recogniser import Recogniser, RecogniserSettings, judge_left_out
from guide.label.steps import StepSettings, StepTrack
from guide.label.unaries import AppearanceUnaries, costs_of
from guide.label.window import WindowCut, WindowSettings


def rehearse(
    recogniser: Recogniser,
    features: Sequence[NDArray[Any]],
    labels: Sequence[Labels],
    times: Sequence[Times],
    links: LinkSettings,
    rate: float,
) -> list[tuple[Segment, ...]]:
    """The steps that would be confirmed live in each demonstration, with what the others teach."""
    judged = judge_left_out(recogniser, features, labels, RecogniserSettings().shrinkage)
    steps = AppearanceUnaries(recogniser).steps
    return [
        follow(costs_of(recogniser, distances), each, steps, links, rate)
        for distances, each in zip(judged, times, strict=True)
    ]


def follow(
    costs: NDArray[np.float64], times: Times, steps: tuple[int, ...], links: LinkSettings, rate: float
) -> tuple[Segment, ...]:
    """The confirmed key-steps of costs (T, C), through the live window and hysteresis."""
    window = WindowCut(WindowSettings(), links, rate, steps)
    track = StepTrack(StepSettings())
    events: list[StepEvent] = []
    for row, at in zip(costs, times, strict=True):
        for label in window.push(row, float(at)):
            events += track.push(label)
    for label in window.finish():
        events += track.push(label)
    return _confirmed([*events, *track.finish()])


def _confirmed(events: Sequence[StepEvent]) -> tuple[Segment, ...]:
    """The segments of steps that were confirmed before they ended."""
    segments, is_confirmed = [], False
    for event in events:
        if event.state == "ended" and is_confirmed and event.step > 0 and event.end is not None:
            segments.append(Segment(event.step, event.start, event.end))
        is_confirmed = event.state == "confirmed"
    return tuple(segments)
