"""Restarts of a session, which an operator may take back at any time, at once: the past before them is followed on."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import Belief
from guide.label.after_effects import AfterEffectsWatch
from guide.label.history_filter import HistoryFilter
from guide.label.labeller import Labelled, Labeller

Floats: TypeAlias = NDArray[np.float64]

BEGINNING = 0  # stands for the beginning of the session; restarts go by the numbers of their actions
MOST_RESTARTS = 2  # that can be taken back: each is about a millisecond more a frame, for as long as the session lasts


class _Past(NamedTuple):
    """What has been done since a restart, whether or not it counts, and what is left of it on the workplace."""

    filter: HistoryFilter
    effects: AfterEffectsWatch | None


class Restarts:
    """Labeller and after-effects, begun anew with the newest restart that counts; what is before it does not matter."""

    def __init__(self, labeller: Labeller, effects: AfterEffectsWatch | None) -> None:
        self.labeller = labeller
        self._newest = BEGINNING  # of those that count
        self._pasts = {BEGINNING: _Past(labeller.past, effects)}

    def push(self, costs: Floats, embedding: NDArray[Any], at: float) -> Labelled:
        """Takes one frame's costs (C,) and its embedding (D,)."""
        for number, (other, effects) in self._pasts.items():
            if number != self._newest:
                other.weigh(costs, at, _look(effects, embedding, at))
        return self.labeller.push(costs, at, _look(self._pasts[self._newest].effects, embedding, at))

    def restart(self, number: int) -> None:
        """What was done until now counts no more."""
        effects = copy.deepcopy(self._pasts[self._newest].effects)
        if effects is not None:
            effects.restart()
        self.labeller.restart()
        self._pasts[number] = _Past(self.labeller.past, effects)
        self._newest = number
        if len(self._pasts) > MOST_RESTARTS + 1:
            del self._pasts[min(self._pasts)]

    def knows(self, number: int) -> bool:
        """Whether it is known what was done since a restart."""
        return number in self._pasts

    def go_on_from(self, number: int) -> bool:
        """Lets this restart be the newest that counts; whether another past counts by that."""
        has_changed = number != self._newest
        self._newest = number
        self.labeller.past = self._pasts[number].filter
        return has_changed

    def endings(self) -> dict[int, Belief]:
        """What was done in all, by the newest restart that counts; for when the session is over."""
        return {number: past.filter.end() for number, past in self._pasts.items()}


def _look(effects: AfterEffectsWatch | None, embedding: NDArray[Any], at: float) -> Floats | None:
    return None if effects is None else effects.push(embedding, at)
