"""Live labels: the cut over the newest frames, each frame's label released once it is old enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import SettledLabel
from guide.label.cut import settle_all
from guide.label.energy import Links, LinkSettings, build_links

Floats: TypeAlias = NDArray[np.float64]
Memberships: TypeAlias = Callable[[Floats], Floats]
"""How much frames at times (T,) belong to each label, (T, K), by all that is known now."""

LEAST_LAG_S = 1.0  # labels hold together a little even where they are wanted at once


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
    window_times: tuple[float, ...]


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
        return Due(frames, range(self._begin, self._begin + len(self._times)), times, tuple(self._times))

    def _count_due(self, at: float) -> int:
        """How many frames since the first have reached the lag; those already out need no second look."""
        due = self._released - self._begin
        # Rounding: ten frames of 0.1 s are not quite a second.
        while due < len(self._times) and at - self._times[due] >= self._settings.lag_s - 1e-9:
            due += 1
        return self._begin + due


class Cuttable(NamedTuple):
    """A window: which of its frames are due, memberships (T, K) of all, and their links."""

    due: Due
    memberships: Floats
    links: Links

    @property
    def frames(self) -> range:
        """The frames to release, by their places in the window."""
        start = self.due.window.start
        return range(self.due.frames.start - start, self.due.frames.stop - start)


class WindowCut:
    """Labels frames as they come: the cut over the newest frames, each label released once its frame is old enough.

    T-links are asked for anew at every cut, since what comes later changes what is known of earlier frames. Column n is
    key-step `steps[n]`. A frame about to leave the window is released even if it is younger than the lag.

    >>> window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(weight=0.5), rate=1.0, steps=(1, 2))
    >>> memberships = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    >>> [[label.step for label in window.push(at, lambda times: memberships[times.astype(int)])] for at in range(3)]
    [[], [1], [1]]
    >>> [label.step for label in window.finish(lambda times: memberships[times.astype(int)])]
    [2]
    """

    def __init__(self, settings: WindowSettings, links: LinkSettings, rate: float, steps: tuple[int, ...]) -> None:
        self._links, self._rate, self._steps = links.capped(settings.shortest_s), rate, steps
        self._delay = Delay(settings)

    def push(self, at: float, memberships: Memberships) -> tuple[SettledLabel, ...]:
        """Takes one frame; gives the labels that became due, oldest first.

        Usually none or one; more after a gap in the stream, when several frames grow old at once.
        """
        due = self._delay.push(float(at))
        return self.settle([self.window(due, memberships)]) if due.frames else ()

    def finish(self, memberships: Memberships) -> tuple[SettledLabel, ...]:
        """Gives the labels still held back and forgets the recording."""
        due = self._delay.finish()
        released = self.settle([self.window(due, memberships)]) if due.frames else ()
        self._delay.reset()
        return released

    def due(self, at: float) -> Due:
        """For recordings at hand: what a frame at `at` has released; `settle` cuts many windows at once."""
        return self._delay.push(at)

    def window(self, due: Due, memberships: Memberships) -> Cuttable:
        """What is cut for the frames that are due."""
        times = np.array(due.window_times)
        return Cuttable(due, memberships(times), build_links(times, self._rate, self._links))

    def settle(self, windows: Sequence[Cuttable]) -> tuple[SettledLabel, ...]:
        """The labels of the frames that are due in each window."""
        cuts = settle_all((1.0 - each.memberships, each.links) for each in windows)
        return tuple(
            SettledLabel(at, self._steps[int(labels[frame])], float(each.memberships[frame, labels[frame]]))
            for each, labels in zip(windows, cuts, strict=True)
            for frame, at in zip(each.frames, each.due.times, strict=True)
        )
