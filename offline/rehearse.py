"""Teaches the live side what it needs of labelled demonstrations, and rehearses it on each of them.

A rehearsal is a demonstration as the live side would see it, by a discriminant fitted to the others. What rehearsals
show decides when a step counts as seen, and silences rules that would cry wolf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.label.energy import LinkSettings
from guide.label.labeller import Labelled, Labeller
from guide.label.presence import Presence, learn_presence
from guide.label.recogniser import Recogniser, RecogniserSettings, judge_left_out, learn_recogniser
from guide.label.steps import StepSettings, StepTrack
from guide.label.unaries import AppearanceUnaries, costs_of
from guide.label.window import WindowCut, WindowSettings
from guide.perceive.appearance import appearance
from guide.procedure.events import Event, Finished, Glimpsed, Ticked, news_of
from offline.embedding import Inputs
from offline.reorder import shuffled, turned

Floats = NDArray[np.float64]

MOST_FRAMES = 20_000  # of the demonstrations: more do not change the recogniser, and memory is finite
MOST_REORDERED = 20_000  # frames of a collection whose recordings are also taught in other orders
REORDERED_STRIDE = 2  # reordered recordings teach with every other frame
MOST_REHEARSALS = 40


@dataclass(frozen=True, slots=True)
class Taught:
    """What the live side knows, and what its tracker would have heard of each rehearsed demonstration."""

    recogniser: Recogniser
    presence: Presence
    rehearsals: tuple[tuple[Event, ...], ...]


@dataclass(frozen=True, slots=True)
class _Showing:
    """A demonstration, or the same in another order."""

    features: NDArray[Any]  # (T, 2P)
    labels: Labels
    times: Times


def teach_live(inputs: Inputs, labels: Sequence[Labels], links: LinkSettings, seed: int = 0) -> Taught:
    """Recogniser, presence and rehearsals from the recordings' features and labels, found or given."""
    groups = _showings(inputs, labels, np.random.default_rng(seed))
    recogniser = _recogniser(groups)
    unaries = AppearanceUnaries(recogniser)
    judged = [
        np.split(costs_of(recogniser, distances), np.cumsum([len(each.labels) for each in group])[:-1])
        for distances, group in zip(_judge(recogniser, groups), groups, strict=True)
    ]
    steps = tuple(step for step in unaries.steps if step > BACKGROUND)
    columns = [unaries.steps.index(step) for step in steps]
    showings = [showing for group in groups for showing in group]
    presence = learn_presence(
        [1.0 - costs[:, columns] for each in judged for costs in each],
        [showing.labels for showing in showings],
        [showing.times for showing in showings],
        steps,
        inputs.rate,
    )
    rehearsals = tuple(
        rehearse(costs[0], group[0].times, unaries.steps, presence, links, inputs.rate)
        for costs, group in zip(judged, groups, strict=True)
    )
    return Taught(recogniser, presence, rehearsals)


def rehearse(
    costs: Floats, times: Times, steps: tuple[int, ...], presence: Presence | None, links: LinkSettings, rate: float
) -> tuple[Event, ...]:
    """What the tracker would hear of costs (T, C), through the live window, presence and hysteresis."""
    limits = {} if presence is None else presence.table
    window = WindowCut(WindowSettings(), links, rate, steps)
    labeller = Labeller(window, StepTrack(StepSettings(), limits), steps, presence, rate)
    events: list[Event] = []
    for row, at in zip(costs, times, strict=True):
        events += _heard(labeller.push(row, float(at)), float(at))
    labelled, ended = labeller.finish()
    last = [news for event in ended if (news := news_of(event)) is not None]
    return (*events, *_heard(labelled, float(times[-1])), *last, Finished(float(times[-1])))


def _heard(labelled: Labelled, at: float) -> list[Event]:
    events: list[Event] = [Glimpsed(step, at) for step in labelled.glimpsed]
    for label, changes in labelled.settled:
        events += [news for change in changes if (news := news_of(change)) is not None]
        events.append(Ticked(label.at))
    return events


def _showings(inputs: Inputs, labels: Sequence[Labels], rng: np.random.Generator) -> list[list[_Showing]]:
    """Each demonstration as it is and, where there is not too much of it, in two other orders."""
    count = len(inputs.recordings)
    chosen = (
        range(count) if count <= MOST_REHEARSALS else [n * count // MOST_REHEARSALS for n in range(MOST_REHEARSALS)]
    )
    is_small = sum(len(inputs.recordings[number]) for number in chosen) <= MOST_REORDERED
    groups = []
    for number in chosen:
        recording, own = inputs.recordings[number], labels[number]
        group = [_Showing(inputs.appearance[number], own, recording.times)]
        for order in [turned(own, rng), shuffled(own, rng)] if is_small else []:
            features = appearance(np.asarray(recording.pooled[order], np.float32), recording.times, inputs.settings)
            group.append(_Showing(features, own[order], recording.times))
        groups.append(group)
    return groups


def _recogniser(groups: Sequence[Sequence[_Showing]]) -> Recogniser:
    """The recogniser of the demonstrations; other orders of one belong to it where recordings are left out."""
    stride = max(1, -(-sum(len(group[0].labels) for group in groups) // MOST_FRAMES))
    strides = [stride, *[REORDERED_STRIDE * stride] * (len(groups[0]) - 1)]
    return learn_recogniser(
        [np.concatenate([each.features[::n] for each, n in zip(g, strides, strict=True)]) for g in groups],
        [np.concatenate([each.labels[::n] for each, n in zip(g, strides, strict=True)]) for g in groups],
        RecogniserSettings(),
    )


def _judge(recogniser: Recogniser, groups: Sequence[Sequence[_Showing]]) -> list[Floats]:
    return judge_left_out(
        recogniser,
        [np.concatenate([each.features for each in group]) for group in groups],
        [np.concatenate([each.labels for each in group]) for group in groups],
        RecogniserSettings().shrinkage,
    )
