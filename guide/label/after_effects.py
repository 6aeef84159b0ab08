"""After-effects: what steps leave behind; a mat that was laid lies there ever after.

Prototypes see a step while it is done. Whether it was done at all can often be seen as well, for as long as its effect
stays in view: where a history says that a step was done and the workplace looks as it does before it, or the other way
round, that speaks for or against the history. An after-effect is a direction of the embedding along which what is seen
lies elsewhere after the step than before it, whoever does it and whatever else is done; few steps leave one that can be
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

PREFIX = "effects_"  # begins the names of their arrays in a bundle
ANYWHERE = 0.01  # density, over the way from one level to the other, of looking like neither
ABSENT = -1.0  # log-odds under which an after-effect is clearly not there
_LARGEST = 1e6  # no number of ours is larger; beyond it arithmetic would overflow


class Levels(NamedTuple):
    """Where what is seen lies along the after-effect of each step (M,), and its spread, before and after the step."""

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
    """Log-odds (T, M) of which those that speak for a step count only once its after-effect was seen to be absent.

    What was there from the beginning may have been left by somebody else.

    >>> since_absent(np.array([[3.0], [-0.5], [2.0], [-4.0], [3.0]]))[:, 0].tolist()
    [0.0, -0.5, 0.0, -4.0, 3.0]
    """
    return np.where(np.logical_or.accumulate(odds < ABSENT), odds, np.minimum(odds, 0.0))


def _density(values: Floats, mean: Floats, spread: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * ((values - mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi)))


@dataclass(frozen=True, slots=True, eq=False)
class AfterEffects:
    """The after-effects of some steps of a task.

    >>> levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
    >>> effects = AfterEffects((2,), np.array([[1.0], [0.0]]), levels, span_s=1.0)
    >>> watch = AfterEffectsWatch(effects, steps=(1, 2, 0))
    >>> bare, done = np.zeros(2, np.float32), np.array([1.0, 7.0], np.float32)
    >>> watch.push(bare, at=0.0).round(1).tolist(), watch.push(done, at=9.0).round(1).tolist()
    ([0.0, -5.3, 0.0], [0.0, 5.3, 0.0])
    """

    steps: tuple[int, ...]
    directions: NDArray[np.floating[Any]]  # (D, M), of the embedding
    levels: Levels
    span_s: float
    """What is seen is a fading mean: hands and tools pass, an effect stays."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle, beside the prototypes."""
        return {
            f"{PREFIX}numbers": np.array(self.steps, np.int64),
            f"{PREFIX}directions": self.directions,
            f"{PREFIX}levels": np.stack(self.levels, axis=1),
            f"{PREFIX}span_s": np.array([self.span_s]),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], width: int, known: Sequence[int]) -> AfterEffects | None:
        """The after-effects of `known` steps in a bundle's arrays, for `width` numbers; often there are none.

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
            return AfterEffects(steps, directions.astype(np.float32), _levels(table, len(steps)), _span(span))
        except (KeyError, TypeError, ValueError, OverflowError) as cause:
            raise BundleError(f"the after-effects of steps are spoilt ({cause}): learn the procedure again.") from cause


def _require_fit(steps: tuple[int, ...], directions: Floats, width: int, known: Sequence[int]) -> None:
    if len(set(steps)) != len(steps) or not set(steps) <= {one for one in known if one > BACKGROUND}:
        raise ValueError(f"they are of {list(steps)[:20]}, which are not all different steps of its own")
    if directions.shape != (width, len(steps)) or not (np.abs(directions) < _LARGEST).all():
        raise ValueError(f"directions {directions.shape} of {width} numbers and {len(steps)} steps, or not finite")


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


class AfterEffectsWatch:
    """Looks for the after-effects moment by moment, for histories of the columns in `steps`."""

    def __init__(self, effects: AfterEffects, steps: Sequence[int]) -> None:
        self._effects, self._count = effects, len(steps)
        self._columns = [list(steps).index(step) for step in effects.steps]
        self.restart()

    def restart(self) -> None:
        """What lies there now is nobody's, and what lay there before is not seen any more."""
        self._seen = Fading(self._effects.span_s)
        self._was_absent = np.zeros(len(self._columns), np.bool_)

    def push(self, embedding: NDArray[Any], at: float) -> Floats:
        """How much likelier an embedding (D,) is after each step (C,) than before it: 0 without an after-effect.

        As `since_absent` has it, what was there from the beginning does not count.
        """
        values = self._seen.push(embedding @ self._effects.directions, at)
        odds = self._effects.levels.log_odds(values)
        self._was_absent |= odds < ABSENT
        found = np.zeros(self._count)
        found[self._columns] = np.where(self._was_absent, odds, np.minimum(odds, 0.0))
        return found
