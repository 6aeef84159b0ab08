"""Rehearsals: a demonstration as the live side would follow it, by prototypes that the others taught.

What rehearsals show decides when a step counts as seen, and which rules may alarm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Times
from guide.label.confidence import Calibration, fit_calibration
from guide.label.labeller import Labelled, Labeller
from guide.procedure.events import Confirmed, Event, Finished, Reviewed, Ticked, news_of
from guide.teach.prototypes import Judged

Floats = NDArray[np.float64]


def rehearse(labeller: Labeller, costs: Floats, times: Times, effects: Floats | None = None) -> tuple[Event, ...]:
    """What the tracker would hear of costs and after-effects (T, C), through histories, cut and hysteresis as live."""
    labelled, ended = labeller.follow(costs, times, effects)
    events = [event for one in labelled for event in _heard(one)]
    last = [news for event in ended if (news := news_of(event)) is not None]
    return (*events, *last, Finished(float(times[-1])))


def calibrate_steps(judged: Sequence[Judged], rehearsals: Sequence[Sequence[Event]]) -> Calibration:
    """The calibration of steps' confidence: when one is confirmed, which share of its moments so far is right."""
    raw, right = [], []
    for one, events in zip(judged, rehearsals, strict=True):
        for event in events:
            if isinstance(event, Confirmed) and event.step > BACKGROUND and event.start is not None:
                labels = one.labels[(one.times >= event.start) & (one.times <= event.at)]
                if len(labels):
                    raw.append(event.confidence)
                    right.append(float((labels == event.step).mean()))
    return fit_calibration(np.array(raw), np.array(right))


def _heard(labelled: Labelled) -> list[Event]:
    events: list[Event] = [] if labelled.belief is None else [Reviewed(labelled.belief.at, labelled.belief)]
    for label, changes in labelled.settled:
        events += [news for change in changes if (news := news_of(change)) is not None]
        events.append(Ticked(label.at))
    return events
