"""What left-out demonstrations say about trust: how sure labels are, how far is unknown, how unlike a step may look."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import UNKNOWN, StepEvent
from guide.errors import BundleError
from guide.label.confidence import Calibration
from guide.label.manner import Manners
from guide.label.novelty import Stain, Strangeness, Surroundings, with_unknown
from guide.label.recogniser import Recogniser

Floats = NDArray[np.float64]

MOST_MOMENTS = 20_000  # remembered of a session: the look of a step is judged over its last hour at most
MEMORY_S = 15.0  # features look back so far where nothing else is said
STAINED = 0.1  # share of what features look back on that may be unknown: more, and they tell of that, not of the step
LEAST_CLEAN = 0.5  # of a step's moments: with fewer nobody can say how it was done
_LARGEST = 1e6  # no slope, no offset and no distance of ours is larger


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Limits and calibrations of one bundle; without arguments what bundles of before meant.

    >>> Judgement().labels.of(0.7), Judgement().far
    (0.7, None)
    """

    labels: Calibration = field(default_factory=Calibration)
    """Of the confidence of labels."""
    steps: Calibration = field(default_factory=Calibration)
    """Of the confidence of steps."""
    scale: Floats | None = None  # (P,), one over the spread of each feature
    far: float | None = None
    """The distance, averaged over a while, beyond which what goes on is unknown."""
    own: tuple[tuple[int, float], ...] = ()
    """For each step the mean distance beyond which it looks unlike its demonstrations."""
    manners: Manners | None = None
    """Where demonstrations have the beginning, middle and end of each step."""
    manner_limits: tuple[tuple[int, float], ...] = ()
    """For each step how far from there it is done unlike its demonstrations."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What goes into the bundle, beside the recogniser's arrays."""
        pairs = [(one.slope, one.offset) for one in (self.labels, self.steps)]
        arrays: dict[str, NDArray[Any]] = {"confidence": np.array(pairs)}
        if self.scale is not None and self.far is not None:
            own = np.array(self.own, np.float64).reshape(-1, 2)
            arrays |= {"scale": self.scale, "far": np.array([self.far]), "own": own}
        if self.manners is not None:
            limits = np.array(self.manner_limits, np.float64).reshape(-1, 2)
            arrays |= self.manners.to_arrays() | {"manner_limits": limits}
        return arrays

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], recogniser: Recogniser) -> Judgement:
        """The judgement among a recogniser's arrays; BundleError where it is damaged or does not fit."""
        try:
            labels, steps = _calibrations(arrays)
            if "far" not in arrays:
                return Judgement(labels, steps)
            scale, own = np.asarray(arrays["scale"], np.float64), np.asarray(arrays["own"], np.float64)
            (far,) = (float(value) for value in arrays["far"])
            if scale.shape != recogniser.mean.shape or not (np.isfinite(scale).all() and (scale > 0).all()):
                raise ValueError(f"a scale {scale.shape} of numbers that should be above 0")
            return Judgement(labels, steps, scale, _limit(far), _own(own, recogniser), *_manners(arrays, recogniser))
        except (KeyError, TypeError, ValueError) as cause:
            raise BundleError(f"the recogniser's limits are spoilt ({cause}): train or export it again.") from cause


def _calibrations(arrays: Mapping[str, NDArray[Any]]) -> tuple[Calibration, Calibration]:
    if "confidence" not in arrays:
        return Calibration(), Calibration()
    pairs = np.asarray(arrays["confidence"], np.float64)
    if pairs.shape != (2, 2) or not (np.abs(pairs) < _LARGEST).all():
        raise ValueError(f"calibrations {pairs.shape}, two of a slope and an offset were expected")
    labels, steps = (Calibration(float(slope), float(offset)) for slope, offset in pairs)
    return labels, steps


def _limit(value: float) -> float:
    if not 0 < value < _LARGEST:
        raise ValueError(f"a distance of {value}")
    return value


def _own(pairs: Floats, recogniser: Recogniser) -> tuple[tuple[int, float], ...]:
    numbers = {int(number) for number in recogniser.numbers}
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not set(pairs[:, 0]) <= numbers:
        raise ValueError(f"limits {pairs.shape} of steps that are not its own")
    return tuple((int(step), _limit(float(value))) for step, value in pairs)


def _manners(
    arrays: Mapping[str, NDArray[Any]], recogniser: Recogniser
) -> tuple[Manners | None, tuple[tuple[int, float], ...]]:
    """The manners in a bundle's arrays and their limits; bundles of before have none."""
    if "manner_limits" not in arrays:
        return None, ()
    manners = Manners.from_arrays(arrays, recogniser.centres.shape[1])
    return manners, _own(np.asarray(arrays["manner_limits"], np.float64), recogniser)


class _Moment(NamedTuple):
    """What is remembered of a moment: distances (C,) to the steps, and the way it is done (r,)."""

    at: float
    distances: Floats
    manner: Floats
    is_clean: bool


class Judge:
    """Looks at each moment of a session beside the labels: is it unknown, and do steps look as they should.

    >>> flat = Recogniser(np.zeros(2), np.array([[1.0], [0.0]]), np.array([[0.0]]), np.array([1]), 9.0, 1.0)
    >>> judge = Judge(flat, Judgement(scale=np.ones(2), far=4.0, own=((1, 2.0),)))
    >>> judge.push(np.array([3.0, 0.0]), np.array([0.1, 1.0]), at=0.0).round(2).tolist()
    [0.1, 1.0]
    >>> events = [StepEvent(at, 1, state, 0.0, 0.0, 1.0) for at, state in ((1.0, "confirmed"), (2.0, "ended"))]
    >>> [judge.hear(event) for event in events]
    [None, 1.5]
    """

    def __init__(self, recogniser: Recogniser, judgement: Judgement, memory_s: float = MEMORY_S) -> None:
        scale = np.ones_like(recogniser.mean) if judgement.scale is None else judgement.scale
        self._around, self._manners = Surroundings(recogniser, scale), judgement.manners
        self._own, self._manner_limits = dict(judgement.own), dict(judgement.manner_limits)
        self._strangeness = None if judgement.far is None else Strangeness(judgement.far)
        self._stain = Stain(memory_s)
        self._column = {int(number): place for place, number in enumerate(recogniser.numbers)}
        self._moments: deque[_Moment] = deque(maxlen=MOST_MOMENTS)
        self._confirmed: int | None = None

    def push(self, appearance: NDArray[Any], costs: Floats, at: float, known: Floats | None = None) -> Floats:
        """The costs (C,) of a moment's labels with unknown activity as it has been for a while.

        What is seen as the recogniser has it, (1, d), need not be worked out again where it is `known`.
        """
        if self._strangeness is None:
            return costs
        along, distances = self._around.look(appearance[None], known)
        costs = with_unknown(costs, self._strangeness.push(float(distances.min()), at))
        stain = self._stain.push(bool(costs[-1] < 0.5), at)
        manner = along[0, :0] if self._manners is None else self._manners.rows(along)[0]
        self._moments.append(_Moment(at, distances[0], manner, stain <= STAINED))
        return costs

    def hear(self, event: StepEvent) -> float | None:
        """How far a step that has just ended was from its demonstrations, beside the farthest that is to be expected.

        What features still hold of unknown activity, such as a covered camera, is no part of the step.
        """
        if event.state == "confirmed":
            self._confirmed = event.step
        if event.state != "ended" or event.end is None or event.step != self._confirmed or event.step == UNKNOWN:
            return None
        self._confirmed = None
        seen = [one for one in self._moments if event.start <= one.at <= event.end]
        clean = [one for one in seen if one.is_clean]
        return self._ratio(event.step, clean) if clean and len(clean) >= LEAST_CLEAN * len(seen) else None

    def _ratio(self, step: int, moments: Sequence[_Moment]) -> float | None:
        """The larger of how unlike a step looks and how unlike it is done, each beside its limit."""
        ratios = []
        if step in self._own and step in self._column:
            column = self._column[step]
            ratios.append(float(np.mean([one.distances[column] for one in moments])) / self._own[step])
        if self._manners is not None and step in self._manner_limits:
            distance = self._manners.distance(step, np.stack([one.manner for one in moments]))
            ratios += [] if distance is None else [distance / self._manner_limits[step]]
        return max(ratios, default=None)
