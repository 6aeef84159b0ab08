"""Live labels: the cut over the newest frames, each frame's label released once it is old enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import UNKNOWN, Labels, SettledLabel
from guide.label.confidence import Calibration
from guide.label.cut import settle
from guide.label.energy import LinkSettings, Unaries, build_links

# Unaries of the window (T, K), its labels (T,), the frame asked about -> confidence in [0, 1].
Confidence: TypeAlias = Callable[[Unaries, Labels, int], float]

# Frames on either side that speak for a label's confidence: one frame's unary is as noisy as what the cut removes.
NEIGHBOURS = 2
LEAST_LAG_S = 1.0  # labels hold together a little even where they are wanted at once


def margin(unary: Unaries, labels: Labels, frame: int) -> float:
    """A raw confidence in [0, 1]: 0.5 + half of (best other label - label at `frame`).

    Taken on the mean unaries of the neighbouring frames that hold the same label; 1 - membership gives 0.5 for a tie,
    1 for certainty, and less than 0.5 where the links overruled the evidence.
    """
    span, label = slice(max(0, frame - NEIGHBOURS), frame + NEIGHBOURS + 1), int(labels[frame])
    costs = unary[span][labels[span] == label].mean(axis=0).tolist()
    own = costs.pop(label)
    lead = min(costs) - own if costs else 1.0
    return min(max(0.5 + 0.5 * lead, 0.0), 1.0)


def calibrated(calibration: Calibration) -> Confidence:
    """The margin as left-out demonstrations showed it: the share of frames with such a margin that were right."""
    return lambda unary, labels, frame: calibration.of(margin(unary, labels, frame))


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """How much of the past a live label rests on, and how long it may take.

    >>> WindowSettings(lag_s=0.0).frames
    64
    """

    frames: int = 64
    """Frames cut together: 13 s at 5 a second, more than twice the reach of the links."""
    lag_s: float = 2.0
    """A label is released when its frame is this old: 0 costs 4 points of accuracy, 10 gains 1, and people feel 2.7."""

    def __post_init__(self) -> None:
        if self.frames < 1 or self.lag_s < 0:
            raise ValueError(f"a window holds at least one frame and lags 0 s or more, got {self}")

    @property
    def shortest_s(self) -> float:
        """How long a step must be that links may outvote: a new one has only the lag to speak for itself."""
        return 2 * max(self.lag_s, LEAST_LAG_S)


class Due(NamedTuple):
    """Frames to release, by their numbers since the first, and the frames that are cut together for them."""

    frames: range
    window: range
    times: tuple[float, ...]
    """Of the frames to release."""


class Delay:
    """Says when frames are old enough for their labels to be released, and which are cut for that.

    >>> delay = Delay(WindowSettings(lag_s=1.0))
    >>> [delay.push(at).frames for at in (0.0, 1.0, 3.0)]
    [range(0, 0), range(0, 1), range(1, 2)]
    """

    def __init__(self, settings: WindowSettings) -> None:
        self._settings = settings
        self.reset()

    def reset(self) -> None:
        """Forgets all frames, as before the first push."""
        self._times: deque[float] = deque()  # of the frames in the window
        self._begin = 0  # number of the oldest frame in the window
        self._released = 0  # frames whose label is out

    def push(self, at: float) -> Due:
        """Takes the time of one frame; frames that left the window are forgotten.

        A frame about to leave the window is released even if it is younger than the lag.
        """
        if self._times and at <= self._times[-1]:
            raise ValueError(f"frames come in order of time, got {at} after {self._times[-1]}")
        self._times.append(at)
        is_full = len(self._times) > self._settings.frames
        due = self._release(max(self._count_due(at), self._begin + 1 if is_full else 0))
        if is_full:
            self._times.popleft()
            self._begin += 1
        return due

    def finish(self) -> Due:
        """All that is still held back."""
        return self._release(self._begin + len(self._times))

    def _release(self, count: int) -> Due:
        frames = range(self._released, max(count, self._released))
        self._released = frames.stop
        times = tuple(self._times[frame - self._begin] for frame in frames)
        return Due(frames, range(self._begin, self._begin + len(self._times)), times)

    def _count_due(self, at: float) -> int:
        """How many frames since the first have reached the lag; those already out need no second look."""
        due = self._released - self._begin
        # Rounding: ten frames of 0.1 s are not quite a second.
        while due < len(self._times) and at - self._times[due] >= self._settings.lag_s - 1e-9:
            due += 1
        return self._begin + due


class Window(Protocol):
    """Takes one frame's unaries (K,) at a time and gives settled labels, late."""

    def push(self, unary: NDArray[np.float64], at: float) -> tuple[SettledLabel, ...]: ...

    def finish(self) -> tuple[SettledLabel, ...]:
        """The labels still held back."""
        ...


class WindowCut:
    """Labels frames as they come, by the same energy and cut as whole recordings.

    Each push cuts the window afresh, so that a label depends on nothing but the frames in it: a replay gives the same.
    Column n of the unaries is key-step `steps[n]`, by default n + 1. Not a mailbox: frames dropped before it are fine.

    >>> window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(weight=0.5), rate=1.0)
    >>> costs = np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    >>> [[label.step for label in window.push(row, at)] for at, row in enumerate(costs)]
    [[], [1], [1]]
    >>> [label.step for label in window.finish()]
    [2]
    """

    def __init__(
        self,
        settings: WindowSettings,
        links: LinkSettings,
        rate: float,
        steps: tuple[int, ...] | None = None,
        confidence: Confidence = margin,
    ) -> None:
        self._settings, self._links, self._rate = settings, links.capped(settings.shortest_s), rate
        self._steps, self._confidence = steps, confidence
        self._unary: deque[NDArray[np.float64]] = deque()
        self._times: deque[float] = deque()
        self._delay = Delay(settings)

    def push(self, unary: NDArray[np.float64], at: float) -> tuple[SettledLabel, ...]:
        """Takes one frame's unaries (K,); gives the labels that became due, oldest first.

        Usually none or one; more after a gap in the stream, when several frames grow old at once. A frame about to
        leave the window is released even if it is younger than the lag.
        """
        self._check(unary)
        due = self._delay.push(float(at))
        self._unary.append(np.asarray(unary, dtype=np.float64))
        self._times.append(float(at))
        released = self._release(due)
        if len(self._times) > self._settings.frames:
            self._unary.popleft()
            self._times.popleft()
        return released

    def finish(self) -> tuple[SettledLabel, ...]:
        """Gives the labels still held back and forgets the recording."""
        released = self._release(self._delay.finish())
        self.reset()
        return released

    def reset(self) -> None:
        """Forgets all frames, as before the first push."""
        self._unary.clear()
        self._times.clear()
        self._delay.reset()

    def _release(self, due: Due) -> tuple[SettledLabel, ...]:
        """Labels of the frames that are due; cuts only when there are any."""
        if not due.frames:
            return ()
        unary, times = np.array(self._unary), np.array(self._times)
        labels = settle(unary, build_links(times, self._rate, self._links))
        return tuple(
            SettledLabel(float(times[t]), self._step(int(labels[t])), self._confidence(unary, labels, t))
            for t in (frame - due.window.start for frame in due.frames)
        )

    def _step(self, column: int) -> int:
        return column + 1 if self._steps is None else self._steps[column]

    def _check(self, unary: NDArray[np.float64]) -> None:
        expected = self._unary[0].shape if self._unary else (len(self._steps),) if self._steps else unary.shape
        if unary.ndim != 1 or unary.shape != expected:
            raise ValueError(f"the window takes unaries {expected}, got {unary.shape}")


class WindowTimes:
    """Releases frames when `WindowCut` does, without a look at them: for whoever asks what was done, not for labels.

    >>> window = WindowTimes(WindowSettings(lag_s=1.0))
    >>> [label.at for at in (0.0, 1.0, 2.5) for label in window.push(np.zeros(2), at)]
    [0.0, 1.0]
    """

    def __init__(self, settings: WindowSettings) -> None:
        self._delay = Delay(settings)

    def push(self, unary: NDArray[np.float64], at: float) -> tuple[SettledLabel, ...]:
        """Takes one frame; gives unknown labels at the times of those that became due."""
        return self._unknown(self._delay.push(float(at)))

    def finish(self) -> tuple[SettledLabel, ...]:
        """Gives those still held back and forgets the recording."""
        released = self._unknown(self._delay.finish())
        self._delay.reset()
        return released

    def _unknown(self, due: Due) -> tuple[SettledLabel, ...]:
        return tuple(SettledLabel(at, UNKNOWN, 0.0) for at in due.times)
