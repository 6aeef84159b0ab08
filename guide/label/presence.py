"""How strongly each step has been seen: evidence for doing and for leaving out, apart from the labels.

A label is a choice between rivals, and a step that loses a close race all along would look as if it had never been
done. So flags do not rest on labels alone: a step counts as done when its mean probability over about three
quarters of its usual time was high enough, as lacking only when that never came near, and in between nobody knows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Times
from guide.errors import BundleError

Floats = NDArray[np.float64]

WINDOW_SHARE = 0.75  # of a step's median time over which its probability is averaged
SHORTEST_S = 0.4
LONGEST_S = 300.0  # a longer window makes nothing surer, and all its frames are kept
ABSENT_QUANTILE = 0.9  # what a step that is not being done reaches at most, but for one recording in ten
DONE_QUANTILE = 0.1  # what a step that is being done reaches at least, but for one in ten
ENOUGH = 0.1  # how far from absent to done a step must come to count as done
SLOWEST = 3.0  # ticks that one frame may stand for, where frames were dropped
OWN_SHARE = 0.5  # of a step's own limits; the rest comes from all steps, since recordings are few


@dataclass(frozen=True, slots=True)
class Presence:
    """For each step the time its probability is averaged over, and the mean from which on it counts as seen.

    >>> Presence((1, 2), np.array([2.0, 3.0]), np.array([0.4, 0.3])).table
    {1: 0.4, 2: 0.3}
    """

    steps: tuple[int, ...]
    windows_s: Floats  # (K,)
    limits: Floats  # (K,)

    def __post_init__(self) -> None:
        if not (len(self.steps),) == self.windows_s.shape == self.limits.shape:
            raise ValueError(f"{len(self.steps)} steps need as many windows and limits")

    @property
    def table(self) -> dict[int, float]:
        """The limit of each step."""
        return {step: float(limit) for step, limit in zip(self.steps, self.limits, strict=True)}

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle."""
        return {
            "presence_steps": np.array(self.steps, np.int64),
            "presence_windows_s": self.windows_s,
            "presence_limits": self.limits,
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Presence:
        """The presence in a bundle's arrays; raises BundleError if they make no sense."""
        try:
            steps = np.asarray(arrays["presence_steps"], np.int64)
            windows, limits = (np.asarray(arrays[f"presence_{key}"], np.float64) for key in ("windows_s", "limits"))
            if (
                steps.ndim != 1
                or len(np.unique(steps)) != len(steps)
                or not ((windows > 0) & (windows <= LONGEST_S)).all()
                or not ((limits >= 0) & (limits <= 1)).all()
            ):
                raise ValueError("a step twice, or a window or a limit out of range")
            return Presence(tuple(int(step) for step in steps), windows, limits)
        except (KeyError, TypeError, ValueError) as cause:
            raise BundleError(
                f"the bundle cannot say when a step was seen ({cause}): train or export it again."
            ) from cause


class PresenceTrack:
    """The mean probability of each step over its window, frame by frame: 0 before the first frame.

    A frame stands for the time since the one before, at most for a few ticks of the working rate: a gap in the stream
    is no evidence.

    >>> track = PresenceTrack(Presence((1,), np.array([2.0]), np.array([0.5])), rate=1.0)
    >>> [float(track.push(np.array([p]), at)[0]) for at, p in enumerate([1.0, 1.0, 0.0, 0.0])]
    [0.5, 1.0, 0.5, 0.0]
    """

    def __init__(self, presence: Presence, rate: float) -> None:
        self._presence, self._rate = presence, rate
        self._frames: deque[tuple[float, float, Floats]] = deque()  # when, for how long, probabilities

    def push(self, probabilities: Floats, at: float) -> Floats:
        """Takes the probabilities (K,) of the steps; gives their means (K,) over the windows that end now."""
        since = at - self._frames[-1][0] if self._frames else 1.0 / self._rate
        self._frames.append((at, min(since, SLOWEST / self._rate), probabilities))
        windows = self._presence.windows_s
        # Half a tick of slack: a window of ten frames must not lose one to rounding.
        while self._frames[0][0] <= at - windows.max(initial=0.0) - 0.5 / self._rate:
            self._frames.popleft()
        times, spans = (np.array([frame[part] for frame in self._frames]) for part in (0, 1))
        rows = np.stack([frame[2] for frame in self._frames])
        is_inside = times[:, None] > at - windows + 0.5 / self._rate
        return np.asarray(np.minimum((rows * (spans[:, None] * is_inside)).sum(0) / windows, 1.0))

    def reset(self) -> None:
        self._frames.clear()


def presences(probabilities: Floats, times: Times, presence: Presence, rate: float) -> Floats:
    """The means (T, K) of a whole recording's probabilities (T, K), as `PresenceTrack` gives them one by one."""
    track = PresenceTrack(presence, rate)
    return np.stack([track.push(row, float(at)) for row, at in zip(probabilities, times, strict=True)])


def learn_presence(
    probabilities: Sequence[Floats], labels: Sequence[Labels], times: Sequence[Times], steps: Sequence[int], rate: float
) -> Presence:
    """Windows and limits from recordings' probabilities (T, K) of the steps, as recordings left out give them.

    A step's limit lies a little above what it reaches while it is not being done, or at what it reaches while it is,
    where that is less.
    """
    # A window shorter than a tick would hold no frame, and the step would never be seen.
    shortest_s = max(SHORTEST_S, 1.0 / rate)
    usual_s = [WINDOW_SHARE * _median_s(labels, times, step) for step in steps]
    windows = np.clip(np.array(usual_s), shortest_s, max(LONGEST_S, shortest_s))
    blank = Presence(tuple(steps), windows, np.zeros(len(steps)))
    done: list[list[float]] = [[] for _ in steps]
    absent: list[list[float]] = [[] for _ in steps]
    for rows, each, at in zip(probabilities, labels, times, strict=True):
        is_done = each[:, None] == np.array(steps)
        reached = presences(rows, at, blank, rate).max(0)
        besides = presences(np.where(is_done, 0.0, rows), at, blank, rate).max(0)
        for column in range(len(steps)):
            absent[column].append(float(besides[column]))
            if is_done[:, column].any():
                done[column].append(float(reached[column]))
    low, high = _pooled(absent, ABSENT_QUANTILE), _pooled(done, DONE_QUANTILE)
    return Presence(tuple(steps), windows, np.clip(np.where(high > low, low + ENOUGH * (high - low), high), 0.0, 1.0))


def _pooled(values: Sequence[Sequence[float]], quantile: float) -> Floats:
    """The quantile of each step's values, drawn to that of all steps' values."""
    everything = [value for each in values for value in each]
    common = float(np.quantile(everything, quantile)) if everything else 0.0
    own = [float(np.quantile(each, quantile)) if each else common for each in values]
    return OWN_SHARE * np.array(own) + (1 - OWN_SHARE) * common


def _median_s(labels: Sequence[Labels], times: Sequence[Times], step: int) -> float:
    """The median over recordings of the longest stretch of a step, in seconds; 0 where nobody does it."""
    longest = []
    for each, at in zip(labels, times, strict=True):
        edges = np.flatnonzero(np.diff(np.r_[False, each == step, False].astype(np.int8)))
        spans = [float(at[end - 1] - at[start]) for start, end in zip(edges[::2], edges[1::2], strict=True)]
        longest += [max(spans)] if spans else []
    return float(np.median(longest)) if longest else 0.0
