"""Learns what steps leave behind, and how far that can be relied on, from demonstrations left out.

The workplace a moment after a step less the workplace a moment before it, on the whole, is what the step leaves behind.
It is weighed against what else differs: what other steps leave, where people and rooms differ, hands that pass. Along a
direction that the others taught, a demonstration then shows where the workplace lies before the step and where after
it; steps for which the two lie clearly apart have an after-effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.fading import Fading
from guide.label.after_effects import AfterEffects, Levels, since_absent
from guide.label.directions import principal_directions
from guide.perceive.appearance import SMOOTHED_STEPS, AppearanceSettings
from guide.teach.reorder import stretches, visited

Floats = NDArray[np.float64]

FEWEST = 3  # demonstrations of a step: two of them teach while one is judged
COMPONENTS = 150  # directions in which workplaces vary that are looked at
MOST_ROWS = 2000  # pieces of the demonstrations that these come from
MOMENT = 0.4  # of an average step: the workplace before and after a step is seen for so long
SPAN = 0.25  # of an average step, over which what is seen fades
SETTLED = 0.125  # of an average step, after which it has settled
LEAST_PAUSE = 0.2  # of an average step: around a pause so long the workplace changes by whatever is done next to it
SHORTEST_VISIT = 0.4  # of what a step usually takes: a shorter stretch of its label is a slip of the labels
PEOPLE = 2.0  # how people and rooms count against a direction, beside what other steps leave
PASSING = 0.3  # and how hands that pass do, which the mean over a while takes out for the most part
SHRINKAGE = 0.15  # changes are fewer than directions
RELIABLE = 2.0  # spreads that the two levels of an after-effect lie apart at least
LEAST_SPREAD = 0.03  # of what a step leaves
LARGEST = 1e5  # numbers of a direction: beyond it next to nothing varies, and a bundle refuses it
_TINY = 1e-12


class Sample(NamedTuple):
    """A demonstration that shows what its steps leave behind."""

    embedding: NDArray[Any]  # (T, D)
    labels: Labels
    times: Times


class LearnedEffects(NamedTuple):
    """The after-effects, none where no step has one, and what the others' say of each demonstration (T, C).

    Its own labels have no part in the directions it is seen along, and by way of the others a small one in the levels.
    """

    effects: AfterEffects | None
    left_out: list[Floats]


def learn_after_effects(
    shown: Sequence[Sample], settings: AppearanceSettings, columns: Sequence[int]
) -> LearnedEffects:
    """What the steps in `columns` leave behind; any other column, such as background, leaves nothing."""
    step_s = settings.smoothing_s / SMOOTHED_STEPS
    shown = _without_slips(shown)
    place = _workplace(shown, settings.smoothing_s, step_s)
    left_out = [np.zeros((len(one.times), len(columns))) for one in shown]
    kept: list[tuple[int, Floats, list[float]]] = []
    steps = [step for step in _coming_once(shown, columns) if len(place.showing(step)) >= FEWEST]
    judged = _judged(shown, place, steps, step_s)
    for step in steps:
        sides = [one.sides.get(step) for one in judged]
        for number, one in enumerate(judged):
            if step not in one.values:
                continue
            others = _levels([each for place, each in enumerate(sides) if place != number], FEWEST - 1)
            if others is not None:
                odds = since_absent(others.log_odds(one.values[step])[:, None])
                left_out[number][:, list(columns).index(step)] = odds[:, 0]
        levels, direction = _levels(sides, FEWEST), place.direction(step)
        if levels is not None and direction is not None and np.abs(direction).max() < LARGEST:
            kept.append((step, direction, [float(each[0]) for each in levels]))
    return LearnedEffects(_effects(place, kept, SPAN * step_s), left_out)


def _without_slips(shown: Sequence[Sample]) -> list[Sample]:
    """The demonstrations without stretches far shorter than the step usually takes, but for its longest: no visits."""
    parts = [stretches(one.labels) for one in shown]
    longest = [
        {int(one.labels[part[0]]): len(part) for part in sorted(each, key=len)}
        for one, each in zip(shown, parts, strict=True)
    ]
    usual = {step: float(np.median([one[step] for one in longest if step in one])) for one in longest for step in one}
    solid = []
    for one, each, most in zip(shown, parts, longest, strict=True):
        labels = one.labels.copy()
        for part in each:
            step = int(one.labels[part[0]])
            if len(part) < min(SHORTEST_VISIT * usual[step], most[step]):
                labels[part] = BACKGROUND
        solid.append(one._replace(labels=labels))
    return solid


def _coming_once(shown: Sequence[Sample], columns: Sequence[int]) -> list[int]:
    """The steps that most demonstrations holding them visit once; of others nobody knows which visit leaves what."""
    visits = [visited(one.labels) for one in shown]
    counts = {step: [own.count(step) for own in visits if step in own] for step in columns if step > BACKGROUND}
    return [step for step, own in counts.items() if own and np.median(own) == 1]


def _effects(place: _Workplace, kept: Sequence[tuple[int, Floats, list[float]]], span_s: float) -> AfterEffects | None:
    if not kept:
        return None
    directions = place.directions @ np.stack([direction for _, direction, _ in kept], axis=1)
    levels = np.array([each for _, _, each in kept])
    levels[:, (0, 2)] += (place.mean @ directions)[:, None]  # live, what is seen is not centred
    steps = tuple(step for step, _, _ in kept)
    return AfterEffects(steps, directions.astype(np.float32), Levels(*levels.T), span_s)


class _Change(NamedTuple):
    """How the workplace differs after a step, or after a pause (background), from before it."""

    recording: int
    step: int
    difference: Floats  # (d,)


class _Workplace(NamedTuple):
    """How workplaces vary, and how they change."""

    mean: Floats  # (D,)
    directions: Floats  # (D, d)
    common: Floats  # (d, d), covariance that has to do with people, rooms and hands that pass
    changes: list[_Change]

    def showing(self, step: int) -> set[int]:
        """The demonstrations that show what a step leaves."""
        return {change.recording for change in self.changes if change.step == step}

    def direction(self, step: int, without: int | None = None) -> Floats | None:
        """The direction (d,) along which a step moves the workplace by one, by all demonstrations or all but one."""
        changes = [change for change in self.changes if change.recording != without]
        own = np.array([change.difference for change in changes if change.step == step])
        others = np.array([change.difference for change in changes if change.step != step])
        if not len(own) or not len(others) or not self.directions.shape[1]:
            return None
        usual = own.mean(0)
        spread = _squares(others) + _squares(own - usual) + self.common
        mean = max(float(np.trace(spread)) / len(spread), _TINY)
        shrunken = (1 - SHRINKAGE) * spread + SHRINKAGE * mean * np.eye(len(spread))
        found = np.linalg.solve(shrunken, usual)
        moved = float(found @ usual)
        return np.asarray(found / moved) if moved > _TINY else None


def _workplace(shown: Sequence[Sample], smoothing_s: float, step_s: float) -> _Workplace:
    rows = np.stack(list(_pieces(shown, SPAN * step_s)))
    mean = rows.mean(0)
    directions = principal_directions(rows - mean, COMPONENTS)
    means, passing, count = [], np.zeros((directions.shape[1],) * 2), 0
    changes: list[_Change] = []
    for number, one in enumerate(shown):
        seen = _along(one, mean, directions)
        smooth = _faded(seen, one.times, SPAN * step_s)
        means.append(smooth.mean(0))
        passing, count = passing + (seen - smooth).T @ (seen - smooth), count + len(seen)
        changes += _changes(number, one, seen, smoothing_s, step_s)
    people = np.array(means) - np.mean(means, axis=0)
    return _Workplace(mean, directions, PEOPLE * _squares(people) + PASSING * passing / count, changes)


def _along(one: Sample, mean: Floats, directions: Floats) -> Floats:
    """A demonstration's embeddings less the mean along the directions, (T, d)."""
    return np.asarray((np.asarray(one.embedding, np.float64) - mean) @ directions)


def _pieces(shown: Sequence[Sample], span_s: float) -> Iterator[Floats]:
    """Means (D,) of pieces of the demonstrations, of a long collection only of some."""
    lasted_s = sum(float(one.times[-1] - one.times[0]) for one in shown)
    every_s = span_s * max(1.0, lasted_s / span_s / MOST_ROWS)
    for one in shown:
        since = one.times - one.times[0]
        for number in range(int(since[-1] / every_s) + 1):
            begin = min(int(np.searchsorted(since, number * every_s)), len(since) - 1)
            end = int(np.searchsorted(since, number * every_s + span_s))
            yield np.asarray(one.embedding[begin : max(end, begin + 1)], np.float64).mean(0)


def _changes(number: int, one: Sample, seen: Floats, smoothing_s: float, step_s: float) -> Iterator[_Change]:
    """How the workplace, rows (T, d), changes with each step of a demonstration, and in its pauses."""
    for frames in stretches(one.labels):
        step, start, end = int(one.labels[frames[0]]), float(one.times[frames[0]]), float(one.times[frames[-1]])
        if step <= BACKGROUND:  # around its middle: what comes and goes without having been done there
            if end - start < LEAST_PAUSE * step_s:
                continue
            start, end = start + (end - start) / 3, end - (end - start) / 3
        before = seen[(one.times >= start - MOMENT * step_s) & (one.times < start)]
        after = seen[(one.times > end + smoothing_s) & (one.times <= end + smoothing_s + MOMENT * step_s)]
        if len(before) and len(after):
            yield _Change(number, max(step, BACKGROUND), after.mean(0) - before.mean(0))


class _Side(NamedTuple):
    """How many moments there are before or after a step, their sum and that of their squares."""

    moments: int
    total: float
    squares: float

    @staticmethod
    def of(values: Floats) -> _Side:
        return _Side(len(values), float(values.sum()), float(np.square(values).sum()))


class _Judged(NamedTuple):
    """A demonstration along the directions that the others taught, by step, less those that they teach nothing of."""

    values: dict[int, Floats]  # (T,)
    sides: dict[int, tuple[_Side, _Side] | None]  # before and after the step, none where it lacks either


def _judged(shown: Sequence[Sample], place: _Workplace, steps: Sequence[int], step_s: float) -> list[_Judged]:
    judged = []
    for number, one in enumerate(shown):
        seen = _along(one, place.mean, place.directions)
        smooth = _faded(seen, one.times, SPAN * step_s)
        values, sides = {}, {}
        for step in steps:
            direction = place.direction(step, without=number)
            if direction is not None:
                values[step] = smooth @ direction
                sides[step] = _sides(values[step], one, step, SETTLED * step_s)
        judged.append(_Judged(values, sides))
    return judged


def _sides(values: Floats, one: Sample, step: int, settled_s: float) -> tuple[_Side, _Side] | None:
    frames = np.flatnonzero(one.labels == step)
    if not len(frames):
        return None
    before, after = values[: frames[0]], values[one.times > one.times[frames[-1]] + settled_s]
    return (_Side.of(before), _Side.of(after)) if len(before) and len(after) else None


def _levels(sides: Sequence[tuple[_Side, _Side] | None], fewest: int) -> Levels | None:
    """The levels of one step, or none where too few show them or they do not lie clearly apart."""
    known = [pair for pair in sides if pair is not None]
    if len(known) < fewest:
        return None
    (before, before_variance), (after, after_variance) = (
        _moments([pair[place] for pair in known]) for place in range(2)
    )
    way, least = after - before, LEAST_SPREAD**2
    if way < RELIABLE * np.sqrt((before_variance + after_variance) / 2 + least):
        return None
    # Before the step nobody knows what else will be done without it: that spreads further than was seen.
    spreads = np.sqrt(before_variance + way**2 / 4 + least), np.sqrt(after_variance + least)
    return Levels(*(np.array([float(each)]) for each in (before, spreads[0], after, spreads[1])))


def _moments(sides: Sequence[_Side]) -> tuple[float, float]:
    """Mean and variance of several demonstrations' moments together."""
    count, total, squares = (sum(part) for part in zip(*sides, strict=True))
    mean = total / count
    return mean, max(squares / count - mean**2, 0.0)


def _squares(rows: Floats) -> Floats:
    """The mean product (d, d) of rows (N, d)."""
    return np.asarray(rows.T @ rows / len(rows))


def _faded(rows: Floats, times: Times, span_s: float) -> Floats:
    """The fading mean of rows (T, d), as `AfterEffectsWatch` takes it."""
    fading = Fading(span_s)
    return np.stack([fading.push(row, float(at)) for row, at in zip(rows, times, strict=True)])
