"""What recordings show before anything is done: their first step begins no sooner than things begin to change.

Somebody starts the camera, and then the work. Until then a recording looks like the first step more than like anything
else, since the bench is as the first step finds it; so that time is found as part of this step, and whoever leaves the
step out seems to do it by waiting. But waiting leaves everything as it was. Along the way from a recording's first
moment to the moment after its first step, as the other recordings teach it, one that waits stays where it began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from guide.domain import BACKGROUND, Labels, Times
from guide.label.directions import principal_directions
from guide.teach.thin import Fewer

Floats = NDArray[np.float64]
Rows = NDArray[Any]

FEWEST_OTHERS = 2  # recordings that begin with the same step and teach what it changes
FIRST = 0.12  # of an average step, from the beginning: nothing has been done yet
MOMENT = 0.4  # of an average step: what is seen right after a step is seen for so long
SMOOTHED = 0.06  # of an average step to either side: the look of one frame is noisy
LEAST_WAY = 0.3  # of the way that the others go: a recording that goes less far shows no change
COMPONENTS = 100  # directions in which looks vary that are looked at
MOST_ROWS = 3000  # frames that these come from
SHRINKAGE = 0.15  # how far the covariance is drawn towards a sphere
_TINY = 1e-12


class Recording(NamedTuple):
    """What was seen (T, P) of somebody doing a task, when (T,), and the key-steps found in it (T,)."""

    seen: Rows
    times: Times
    labels: Labels


class _Opening(NamedTuple):
    """The step that a recording begins with, for how many frames, and what is seen before and after it."""

    step: int
    frames: int
    before: Floats  # (d,)
    after: Floats  # (d,)

    @property
    def way(self) -> Floats:
        return self.after - self.before


class Openings:
    """How the first step changes what is seen, by recordings of one task whose average step takes `step_s` seconds."""

    def __init__(self, recordings: Sequence[Recording], step_s: float) -> None:
        self._step_s = step_s
        looks = [_looks(one.seen) for one in recordings]
        every = max(1, sum(map(len, looks)) // MOST_ROWS)
        self._directions = principal_directions(np.concatenate([each[::every] for each in looks]), COMPONENTS)
        rows = [each @ self._directions for each in looks]
        self._spread = _covariance(np.concatenate(rows))
        self._openings = [self._opening(one, each) for one, each in zip(recordings, rows, strict=True)]

    def waited(self, recording: Recording, number: int | None = None) -> int:
        """How many frames at a recording's beginning are found as its first step before anything changes.

        `number` is the recording's place among those that teach, if it is one of them: it has no say about itself.
        """
        rows = _looks(recording.seen) @ self._directions
        own = self._opening(recording, rows)
        if own is None:
            return 0
        others = [one for place, one in enumerate(self._openings) if one and one.step == own.step and place != number]
        if len(others) < FEWEST_OTHERS:
            return 0
        usual = np.mean([one.way for one in others], axis=0)
        direction = np.linalg.solve(self._spread, usual)
        way = float(own.way @ direction)
        if way <= max(LEAST_WAY * float(usual @ direction), _TINY):
            return 0
        frame_s = float(np.median(np.diff(recording.times)))
        width = 2 * max(1, round(SMOOTHED * self._step_s / frame_s)) + 1
        along = uniform_filter1d(rows @ direction, width, mode="nearest")
        return ramp((along[: own.frames] - own.before @ direction) / way)[0]

    def _opening(self, recording: Recording, rows: Floats) -> _Opening | None:
        labels, since = recording.labels, recording.times - recording.times[0]
        changes = np.flatnonzero(np.diff(labels))
        if labels[0] <= BACKGROUND or not len(changes):
            return None
        last = int(changes[0])
        after = (since > since[last]) & (since <= since[last] + MOMENT * self._step_s)
        if not after.any():
            return None
        before = rows[since <= FIRST * self._step_s].mean(0)
        return _Opening(int(labels[0]), last + 1, before, rows[after].mean(0))


def without_waiting(few: Fewer, labels: Sequence[Labels], step_s: float) -> tuple[Labels, ...]:
    """Key-steps (T,) of every recording with background instead of the first step where nothing changes yet."""

    def recordings(numbers: Sequence[int]) -> list[Recording]:
        some = few.collection(numbers)
        thin = [few.thin(labels[number]) for number in numbers]
        return [Recording(*each) for each in zip(some.features or some.embeddings, some.times, thin, strict=True)]

    taught = recordings(few.numbers)
    openings = Openings(taught, step_s)
    waited = {n: openings.waited(one, place) for place, (n, one) in enumerate(zip(few.numbers, taught, strict=True))}
    waited |= {number: openings.waited(recordings([number])[0]) for number in few.others}
    found = [each.copy() for each in labels]
    for number, frames in waited.items():
        found[number][: frames * few.every] = BACKGROUND
    return tuple(found)


def ramp(values: Floats) -> tuple[int, int]:
    """Where values (T,) that stay at 0, rise evenly to 1 and stay there begin to rise, and where they have risen.

    The first of all least squares, if there are several.

    >>> ramp(np.array([0.0, 0.1, 0.0, 0.25, 0.75, 1.0, 0.9]))
    (3, 5)
    """
    count = len(values)
    at_0, at_1 = np.r_[0.0, np.cumsum(values**2)], np.r_[0.0, np.cumsum((values - 1) ** 2)]
    moments = np.r_[0.0, np.cumsum(values * (np.arange(count) + 0.5))]
    sums = np.r_[0.0, np.cumsum(values)]
    best, place = np.inf, (0, 0)
    for begin in range(count + 1):
        ends = np.arange(begin, count + 1)
        length = np.maximum(ends - begin, 1)
        products = (moments[ends] - moments[begin] - begin * (sums[ends] - sums[begin])) / length
        squares = np.where(ends > begin, (4.0 * length**2 - 1) / (12.0 * length), 0.0)
        errors = at_0[ends] - 2 * products + squares + at_1[count] - at_1[ends]
        least = int(errors.argmin())
        if errors[least] < best - 1e-9:
            best, place = float(errors[least]), (begin, begin + least)
    return place


def _looks(seen: Rows) -> Floats:
    """What was seen, of unit length, less its mean over the recording: people and rooms differ."""
    rows = np.asarray(seen, np.float64)
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
    return np.asarray(unit - unit.mean(0))


def _covariance(rows: Floats) -> Floats:
    spread = rows.T @ rows / len(rows)
    mean = max(float(np.trace(spread)) / max(len(spread), 1), _TINY)
    return np.asarray((1 - SHRINKAGE) * spread + SHRINKAGE * mean * np.eye(len(spread)))
