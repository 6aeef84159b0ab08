"""What left-out demonstrations say of trust: calibrated confidence, how far is unknown, how unlike a step may look.

Each demonstration is judged by what the others teach, as everywhere in teaching. What is found is kept in the bundle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, SettledLabel, Times
from guide.label.confidence import Calibration, fit_calibration, trusted
from guide.label.directions import parts
from guide.label.elapsed import Elapsed, learn_elapsed
from guide.label.energy import LinkSettings
from guide.label.limits import Judgement
from guide.label.manner import Manners
from guide.label.novelty import Strangeness, smoothed, with_unknown
from guide.label.recogniser import Recogniser
from guide.label.unaries import AppearanceUnaries, costs_of, shown
from guide.label.window import WindowSettings
from guide.label.windows import released
from guide.procedure.events import Confirmed, Event
from guide.procedure.learn import FALSE_ALARM_RATE
from guide.procedure.thresholds import expected
from guide.teach.demonstrations import Demonstrations
from guide.teach.rehearse import chosen
from guide.teach.strangers import Stranger

Floats = NDArray[np.float64]

RATE = FALSE_ALARM_RATE / 2  # false alarms a recording that unknown activity may add
HEADROOM = 1.3  # of a limit over the farthest demonstration: strangers differ more than a few demonstrations do
TAIL = 3.0  # standard deviations of the logarithm that a limit lies beyond the mean at least
FEW_HEADROOM = 1.5  # the same where demonstrations are too few to say what is rare
SUDDEN = 2.0  # a single moment so many times as far as the limit is unknown at once
MOST_FRAMES = 10_000  # that calibrate labels: more change two numbers no further
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A demonstration as what the others teach judges it.

    >>> LeftOut(np.arange(2.0), np.zeros(2, np.int64), np.zeros((2, 2)), np.ones((2, 1))).nearest.tolist()
    [1.0, 1.0]
    """

    times: Times
    labels: Labels
    costs: Floats  # (T, C + 1), the last of unknown activity
    distances: Floats  # (T, C), to each centre and with what lies outside all demonstrations' directions
    manners: Manners | None = None  # of the others
    manner: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # (T, r), along the directions of the manners
    label_costs: Floats | None = None  # (T, C + 1) for labels, where they go by others
    traces: Floats | None = None  # (T, C + 1), what the bench says of each step having been done
    is_given: bool = False  # whether a person labelled it
    place: int = 0  # among all demonstrations

    @property
    def nearest(self) -> Floats:
        """Distances (T,) to the nearest centre."""
        return np.asarray(self.distances.min(1))


def feature_scale(recordings: Sequence[NDArray[Any]]) -> Floats:
    """One over the spread (P,) of each feature of recordings (T, P), a few rows at a time in full precision."""
    count, total, squares = 0, np.zeros(recordings[0].shape[1]), np.zeros(recordings[0].shape[1])
    middle = np.asarray(recordings[0][0], np.float64)  # near the mean: squares of differences stay exact
    for part in parts(recordings):
        rows = part - middle
        count, total, squares = count + len(rows), total + rows.sum(0), squares + np.square(rows).sum(0)
    spread = np.sqrt(np.maximum(squares / count - np.square(total / count), 0.0))
    return np.asarray(1.0 / np.where(spread > _TINY, spread, 1.0))


def leave_out(
    recogniser: Recogniser,
    scale: Floats,
    judged: Sequence[Floats],
    strange: Sequence[Stranger],
    labels: Sequence[Labels],
    times: Sequence[Times],
) -> tuple[Recogniser, Judgement, list[LeftOut]]:
    """The recogniser with a limit on single moments, how far is unknown, and the demonstrations as others judge them.

    `judged` are the squared distances (T, C) that a recogniser learned from the others gives, `strange` is what
    `strangers` gives.
    """
    nearest = [one.distances.min(1) for one in strange]
    far = far_limit([float(smoothed(one, at).max()) for one, at in zip(nearest, times, strict=True)])
    recogniser = replace(recogniser, distance_limit=(SUDDEN * far) ** 2)
    left = [
        LeftOut(at, own, _costs(recogniser, near, one.distances, at, far), *one)
        for at, own, near, one in zip(times, labels, judged, strange, strict=True)
    ]
    return recogniser, Judgement(scale=scale, far=far), left


def far_limit(farthest: Sequence[float]) -> float:
    """The limit that the farthest moments of the demonstrations, one each, exceed as rarely as the rate allows.

    Where these moments lie at very different distances, the next person's may lie farther out still.

    >>> round(far_limit([9.0, 10.0, 8.0, 9.0, 8.0, 9.0]), 6), round(far_limit([8.0, 10.0]), 6)
    (13.0, 15.0)
    """
    most, headroom = _allowed(len(farthest))
    logs = np.log(np.maximum(farthest, _TINY))
    tail = float(np.exp(np.mean(logs) + TAIL * np.std(logs)))
    return max(headroom * sorted(farthest, reverse=True)[most], tail, _TINY)


def _allowed(count: int) -> tuple[int, float]:
    """How many of so many demonstrations may lie beyond a limit, and the headroom over the next one."""
    most = sum(expected(alarms, count) <= RATE for alarms in range(count))  # they rise with the alarms
    return (most - 1, HEADROOM) if most else (0, FEW_HEADROOM)


def _costs(recogniser: Recogniser, judged: Floats, distances: Floats, times: Times, far: float) -> Floats:
    strangeness, costs = Strangeness(far), costs_of(recogniser, judged)
    nearest = distances.min(1)
    return np.stack(
        [
            with_unknown(row, strangeness.push(float(d), float(at)))
            for row, d, at in zip(costs, nearest, times, strict=True)
        ]
    )


def calibrate_labels(
    recogniser: Recogniser, left: Sequence[LeftOut], links: LinkSettings, rate: float, independent_s: float
) -> Calibration:
    """The calibration of labels' confidence on left-out demonstrations, through the live window.

    Frames closer than `independent_s` are one witness.
    """
    raw, right = [], []
    for number in _some(left):
        for label, truth in zip(_released(recogniser, left, number, links, rate), left[number].labels, strict=True):
            raw.append(label.confidence)
            right.append(float(label.step == truth))
    weights = np.full(len(raw), 1.0 / max(rate * independent_s, 1.0))
    return fit_calibration(np.array(raw), np.array(right), weights)


def label_calibration(
    recogniser: Recogniser,
    costs: Sequence[Floats],
    demonstrations: Demonstrations,
    labels: Sequence[Labels],
    links: LinkSettings,
) -> Calibration:
    """The same from costs (T, C + 1) for labels of demonstrations with labels (T,), where nothing else is wanted."""
    left = [
        LeftOut(demonstrations.items[place].times, labels[place], own, np.zeros((len(own), 0)))
        for place, own in zip(chosen(demonstrations), costs, strict=True)
    ]
    return calibrate_labels(recogniser, left, links, demonstrations.rate, demonstrations.settings.smoothing_s)


def _some(left: Sequence[LeftOut]) -> list[int]:
    """Demonstrations that calibrate: all, or as many as are enough, spread over all."""
    frames = sum(len(one.times) for one in left)
    stride = max(1, -(-frames // MOST_FRAMES))
    return list(range(0, len(left), stride))


def _released(
    recogniser: Recogniser, left: Sequence[LeftOut], number: int, links: LinkSettings, rate: float
) -> list[SettledLabel]:
    """The labels that a left-out demonstration would be given live, with raw confidence."""
    steps = AppearanceUnaries(recogniser).steps
    one, usual = left[number], _others_elapsed(recogniser, left, number)
    costs = one.costs if one.label_costs is None else one.label_costs
    seen = [
        shown(row, steps, recogniser.for_labels.reluctance, usual, float(at - one.times[0]))
        for row, at in zip(costs, one.times, strict=True)
    ]
    return released(np.stack(seen), one.times, steps, WindowSettings(), links, rate)


def _others_elapsed(recogniser: Recogniser, left: Sequence[LeftOut], number: int) -> Elapsed | None:
    others = [one for place, one in enumerate(left) if place != number]
    if recogniser.elapsed is None or not others:
        return recogniser.elapsed
    return learn_elapsed([one.labels for one in others], [one.times for one in others], recogniser.numbers)


def calibrate_steps(left: Sequence[LeftOut], rehearsals: Sequence[Sequence[Event]]) -> Calibration:
    """The calibration of steps' confidence: when one is confirmed, which share of its moments so far is right."""
    raw, right = [], []
    for one, events in zip(left, rehearsals, strict=True):
        for event in events:
            if isinstance(event, Confirmed) and event.step > BACKGROUND and event.start is not None:
                chosen = one.labels[(one.times >= event.start) & (one.times <= event.at)]
                if len(chosen):
                    raw.append(event.confidence)
                    right.append(float((chosen == event.step).mean()))
    return fit_calibration(np.array(raw), np.array(right))


def heard_with(events: Sequence[Event], trust: Calibration) -> tuple[Event, ...]:
    """The events with the calibrated confidence of steps, as a tracker hears them."""
    return tuple(
        replace(event, confidence=trusted(event.step, event.confidence, trust))
        if isinstance(event, Confirmed)
        else event
        for event in events
    )
