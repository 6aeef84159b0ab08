"""What steps leave behind: a mat that was laid lies there ever after.

A recogniser sees a step while it is done. Whether it was done at all can often be seen as well, for as long as its
trace stays on the bench: where the course of events says that a step was done and the bench looks as it does before it,
or the other way round, that speaks for or against the course. A trace is a direction along which what is seen lies
elsewhere after the step than before it, whoever does it and whatever else is done; few steps leave one that can be
relied on, and only those count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND
from guide.errors import BundleError
from guide.fading import Fading

Floats = NDArray[np.float64]

PREFIX = "traces_"  # begins the names of their arrays in a bundle
ANYWHERE = 0.01  # density, over the way from one level to the other, of looking like neither
ABSENT = -1.0  # log-odds under which a trace is clearly not there
_LARGEST = 1e6  # no number of ours is larger; beyond it arithmetic would overflow


class Levels(NamedTuple):
    """Where what is seen lies along the trace of each step (M,), and how it spreads, before and after the step."""

    before: Floats
    before_spread: Floats
    after: Floats
    after_spread: Floats

    def log_odds(self, values: Floats) -> Floats:
        """How much likelier values (..., M) are after each step than before it, as a logarithm.

        Anything may come into view: what lies far from both says nothing.

        >>> levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
        >>> levels.log_odds(np.array([[0.0], [0.5], [1.0], [9.0]])).round(1).tolist()
        [[-5.3], [0.0], [5.3], [0.0]]
        """
        floor = ANYWHERE / (self.after - self.before)
        after = _density(values, self.after, self.after_spread) + floor
        before = _density(values, self.before, self.before_spread) + floor
        odds = np.log(after / before)
        odds = np.where(values >= self.after, np.maximum(odds, 0.0), odds)  # more of it is no sign that it lacks
        return np.where(values <= self.before, np.minimum(odds, 0.0), odds)


def since_absent(odds: Floats) -> Floats:
    """Log-odds (T, M) of which those that speak for a step count only once its trace was seen to be absent.

    What was there from the beginning may have been left by somebody else.

    >>> since_absent(np.array([[3.0], [-0.5], [2.0], [-4.0], [3.0]]))[:, 0].tolist()
    [0.0, -0.5, 0.0, -4.0, 3.0]
    """
    return np.where(np.logical_or.accumulate(odds < ABSENT), odds, np.minimum(odds, 0.0))


def _density(values: Floats, mean: Floats, spread: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * ((values - mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi)))


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The traces of some steps of a task.

    >>> levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
    >>> trail = Trail(Traces((2,), np.array([[1.0], [0.0]]), levels, span_s=1.0), steps=(1, 2, 0))
    >>> bare, done = np.zeros(4, np.float32), np.array([1.0, 0.0, 7.0, 7.0], np.float32)
    >>> trail.push(bare, at=0.0).round(1).tolist(), trail.push(done, at=9.0).round(1).tolist()
    ([0.0, -5.3, 0.0], [0.0, 5.3, 0.0])
    """

    steps: tuple[int, ...]
    directions: NDArray[np.floating[Any]]  # (P, M), of what is seen now: the first half of order-free features
    levels: Levels
    span_s: float
    """What is seen is a fading mean: hands and tools pass, a trace stays."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle, beside the recogniser's arrays."""
        return {
            f"{PREFIX}numbers": np.array(self.steps, np.int64),
            f"{PREFIX}directions": self.directions,
            f"{PREFIX}levels": np.stack(self.levels, axis=1),
            f"{PREFIX}span_s": np.array([self.span_s]),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], width: int, known: Sequence[int]) -> Traces | None:
        """The traces of `known` steps among a recogniser's arrays, by `width` features; bundles of before have none.

        BundleError where they are damaged or do not fit.
        """
        if f"{PREFIX}numbers" not in arrays:
            return None
        try:
            numbers, directions, table, span = (
                np.asarray(arrays[f"{PREFIX}{name}"]) for name in ("numbers", "directions", "levels", "span_s")
            )
            if numbers.dtype.kind not in "iu" or any(each.dtype.kind != "f" for each in (directions, table, span)):
                raise ValueError("they should be whole numbers of steps, and numbers")
            steps = tuple(int(number) for number in numbers)
            _require_fit(steps, np.asarray(directions, np.float64), width, known)
            return Traces(steps, directions.astype(np.float32), _levels(table, len(steps)), _span(span))
        except (KeyError, TypeError, ValueError, OverflowError) as cause:
            raise BundleError(f"the traces of steps are spoilt ({cause}): train or export the bundle again.") from cause


def _require_fit(steps: tuple[int, ...], directions: Floats, width: int, known: Sequence[int]) -> None:
    if len(set(steps)) != len(steps) or not set(steps) <= {one for one in known if one > BACKGROUND}:
        raise ValueError(f"they are of {list(steps)[:20]}, which are not all different steps of its own")
    if directions.shape != (width, len(steps)) or not (np.abs(directions) < _LARGEST).all():
        raise ValueError(f"directions {directions.shape} of {width} features and {len(steps)} steps, or not finite")


def _levels(table: NDArray[Any], count: int) -> Levels:
    numbers = np.asarray(table, np.float64)
    if numbers.shape != (count, 4) or not (np.abs(numbers) < _LARGEST).all():
        raise ValueError(f"levels {numbers.shape}, four for each of {count} steps were expected")
    levels = Levels(*numbers.T)
    least = 1 / _LARGEST
    if not ((levels.after - levels.before > least).all() and (numbers[:, (1, 3)] > least).all()):
        raise ValueError("levels do not rise, or spread by nothing")
    return levels


def _span(span: NDArray[Any]) -> float:
    (span_s,) = (float(one) for one in span)
    if not 0 < span_s < _LARGEST:
        raise ValueError(f"a span of {span_s} s")
    return span_s


class Trail:
    """Looks for the traces moment by moment, for courses of the columns in `steps`."""

    def __init__(self, traces: Traces, steps: Sequence[int]) -> None:
        self._traces, self._count = traces, len(steps)
        self._columns = [list(steps).index(step) for step in traces.steps]
        self._seen = Fading(traces.span_s)
        self.restart()

    def restart(self) -> None:
        """What lies on the bench now is nobody's."""
        self._was_absent = np.zeros(len(self._columns), np.bool_)

    def push(self, appearance: NDArray[Any], at: float) -> Floats:
        """How much likelier order-free features (2P,) are after each step (C,) than before it: 0 without a trace.

        As `since_absent` has it, what was there from the beginning does not count.
        """
        values = self._seen.push(appearance[: len(self._traces.directions)] @ self._traces.directions, at)
        odds = self._traces.levels.log_odds(values)
        self._was_absent |= odds < ABSENT
        found = np.zeros(self._count)
        found[self._columns] = np.where(self._was_absent, odds, np.minimum(odds, 0.0))
        return found
