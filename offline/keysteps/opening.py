"""What recordings show before anything is done: their first step begins no sooner than things begin to change.

Somebody starts the camera, and then the work. Until then a recording looks like the first step more than like anything
else, since the bench is as the first step finds it; so that time is found as part of this step, and whoever leaves the
step out seems to do it by waiting. But waiting leaves everything as it was. Along the way from a recording's first
moment to the moment after its first step, as the other recordings teach it, one that waits stays where it began.

A step may also be at work for long and change what is seen only as it ends. That says nothing about when it began, so a
step of which hardly anything would be left in the usual recording is not cut back in any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from guide.domain import BACKGROUND, Labels, Times
from guide.label.directions import principal_directions
from guide.label.discriminant import whiten_scatter
from guide.teach.refine import Floats
from guide.teach.subsample import Fewer
from guide.teach.view import centred

FEWEST_OTHERS = (
    2  # recordings that begin with the same step and teach what it changes: one alone teaches its own person
)
FIRST = 0.12  # of an average step, from the beginning: nothing has been done yet, or hardly
MOMENT = 0.4  # of an average step: as long as the bench after a step is looked at for what it leaves behind
SMOOTHED = 0.06  # of an average step to either side: the look of one frame is noisy
LEAST_WAY = 0.3  # of the way that the others go: a recording that goes less far shows no change
LEAST_LEFT = 0.33  # of a step's frames in the usual recording: where more goes, the step itself changes nothing yet
COMPONENTS = 100  # directions in which looks vary that are looked at
MOST_ROWS = 3000  # frames that these come from
SHRINKAGE = 0.15  # how far the covariance is drawn towards a sphere: frames are many, people few


class Labelled(NamedTuple):
    """What was seen (T, P) of somebody doing a task, when (T,), and the key-steps found in it (T,).

    >>> Labelled(np.zeros((2, 3)), np.array([0.0, 0.2]), np.array([1, 2])).labels.tolist()
    [1, 2]
    """

    seen: NDArray[np.floating]
    times: Times
    labels: Labels


class _Opening(NamedTuple):
    """The step that a recording begins with, for how many frames, and the way from before it to after it.

    Looks are smoothed over `width` frames.
    """

    step: int
    frames: int
    width: int
    before: Floats  # (d,)
    way: Floats  # (d,)


class _Told(NamedTuple):
    """How many frames of a recording's first step come before any change, and which share of them is left."""

    step: int
    waited: int
    left: float


class Openings:
    """How the first step changes what is seen, by recordings of one task whose average step takes `step_s` seconds.

    >>> laid = np.r_[np.zeros(20), np.linspace(0, 1, 30), np.ones(40)]  # nothing for 20 frames, then by and by
    >>> seen, labels = np.stack([np.ones(90), laid], axis=1), np.repeat([1, 2], [50, 40])
    >>> waited = Openings([Labelled(seen, np.arange(90) / 5, labels)] * 3, step_s=6.0).waited()
    >>> [abs(frames - 20) < 3 for frames in waited]
    [True, True, True]
    """

    def __init__(self, recordings: Sequence[Labelled], step_s: float) -> None:
        self._step_s = step_s
        every = -(-sum(len(one.labels) for one in recordings) // MOST_ROWS)
        some = np.concatenate([centred(one.seen)[::every] for one in recordings])
        self._directions = principal_directions(some, COMPONENTS)
        if self._directions.shape[1]:
            rows = [self._rows(one) for one in recordings]
            scatter = np.sum([each.T @ each for each in rows], axis=0)
            whitening = whiten_scatter(scatter, sum(map(len, rows)), SHRINKAGE)
            self._directions = self._directions @ whitening
            rows = [each @ whitening for each in rows]
        else:  # nothing ever changes
            rows = [np.zeros((len(one.labels), 0)) for one in recordings]
        self._openings = [self._opening(one, each) for one, each in zip(recordings, rows, strict=True)]
        self._told = [self._tell(*each, number) for number, each in enumerate(zip(self._openings, rows, strict=True))]
        left: dict[int, list[float]] = {}
        for told in self._told:
            if told:
                left.setdefault(told.step, []).append(told.left)
        self._cut = {step for step, shares in left.items() if np.median(shares) >= LEAST_LEFT}

    def waited(self) -> list[int]:
        """How many frames at each recording's beginning are found as its first step before anything changes."""
        return [told.waited if told and told.step in self._cut else 0 for told in self._told]

    def waited_in(self, other: Labelled) -> int:
        """The same for a recording that did not teach."""
        rows = self._rows(other)
        told = self._tell(self._opening(other, rows), rows, None)
        return told.waited if told and told.step in self._cut else 0

    def _rows(self, one: Labelled) -> Floats:
        return centred(one.seen) @ self._directions

    def _opening(self, one: Labelled, rows: Floats) -> _Opening | None:
        since, first_s = one.times - one.times[0], FIRST * self._step_s
        step, frames = int(one.labels[0]), _first_visit(one.labels, since, first_s)
        if step <= BACKGROUND or frames == len(since) or since[frames - 1] < first_s:
            return None
        after = (since > since[frames - 1]) & (since <= since[frames - 1] + MOMENT * self._step_s)
        if not after.any():
            return None
        before = rows[since <= first_s].mean(0)
        width = 2 * max(1, round(SMOOTHED * self._step_s / float(np.median(np.diff(one.times))))) + 1
        return _Opening(step, frames, width, before, rows[after].mean(0) - before)

    def _tell(self, own: _Opening | None, rows: Floats, number: int | None) -> _Told | None:
        """What the others teach about a recording; `number` is its own place among those that teach."""
        if own is None:
            return None
        others = [each for place, each in enumerate(self._openings) if each and place != number]
        ways = [each.way for each in others if each.step == own.step]
        if len(ways) < FEWEST_OTHERS:
            return None
        usual = np.mean(ways, axis=0)
        if own.way @ usual <= LEAST_WAY * (usual @ usual):
            return None
        along = uniform_filter1d((rows - own.before) @ usual / (own.way @ usual), own.width, mode="nearest")
        begin, _ = ramp(along[: own.frames])
        return _Told(own.step, begin, 1 - begin / own.frames)


def without_waiting(few: Fewer, labels: Sequence[Labels], step_s: float) -> tuple[Labels, ...]:
    """Key-steps (T,) of every recording with background instead of the first step where nothing changes yet."""

    def labelled(numbers: Sequence[int]) -> list[Labelled]:
        some = few.collection(numbers)
        thin = [few.thin(labels[number]) for number in numbers]
        return [Labelled(*each) for each in zip(some.features or some.embeddings, some.times, thin, strict=True)]

    openings = Openings(labelled(few.numbers), step_s)
    waited = dict(zip(few.numbers, openings.waited(), strict=True))
    waited |= {number: openings.waited_in(labelled([number])[0]) for number in few.others}
    found = [each.copy() for each in labels]
    for number, frames in waited.items():
        found[number][: frames * few.every] = BACKGROUND
    return tuple(found)


def ramp(values: Floats) -> tuple[int, int]:
    """Where values (T,) that stay at 0, rise evenly to 1 and stay there begin to rise, and where they have risen.

    By least squares; of several that are equally good, the earliest.

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
        # Of a rise over L frames, ((1/2)² + (3/2)² + ... + (L - 1/2)²) / L².
        squares = np.where(ends > begin, (4.0 * length**2 - 1) / (12.0 * length), 0.0)
        errors = at_0[ends] - 2 * products + squares + at_1[count] - at_1[ends]
        least = int(errors.argmin())
        if errors[least] < best - 1e-9:
            best, place = float(errors[least]), (begin, begin + least)
    return place


def _first_visit(labels: Labels, since: Times, blink_s: float) -> int:
    """How many frames the first label lasts; background for a moment in between is no end."""
    frames = 0
    while True:
        frames += int(np.argmin(np.append(labels[frames:] == labels[0], False)))
        rest = labels[frames:] != BACKGROUND
        again = frames + int(np.argmax(rest)) if rest.any() else len(labels)
        is_blink = again < len(labels) and labels[again] == labels[0] and since[again] - since[frames - 1] <= blink_s
        if again == frames or not is_blink:
            return frames
        frames = again
