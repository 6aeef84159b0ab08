"""Restarts of a session, which an operator may take back: what counted before is kept, and all that was seen since."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.label.after_effects import AfterEffectsWatch
from guide.label.labeller import Labelled, Labeller, Memory

Floats: TypeAlias = NDArray[np.float64]

MOST_SEEN = 6_000  # frames, 20 minutes at 5 a second: a restart that is longer ago cannot be taken back


class _Seen(NamedTuple):
    """A frame since the first restart that can be taken back."""

    costs: Floats
    embedding: NDArray[Any]
    at: float


class _Mark(NamedTuple):
    """Where in `_since` a restart stands, and the stages as they were before it."""

    place: int
    memory: Memory
    effects: AfterEffectsWatch | None


class Restarts:
    """Labeller and after-effects, begun anew with every restart that counts; restarts go by the numbers of actions."""

    def __init__(self, labeller: Labeller, effects: AfterEffectsWatch | None) -> None:
        self.labeller, self._effects = labeller, effects
        self._counting: frozenset[int] = frozenset()
        self._marks: dict[int, _Mark] = {}
        self._since: list[_Seen | int] = []  # frames and numbers of restarts, from the first mark on

    def push(self, costs: Floats, embedding: NDArray[Any], at: float) -> Labelled:
        """Takes one frame's costs (C,) and its embedding (D,)."""
        if self._marks:
            self._since.append(_Seen(costs, embedding, at))
            if len(self._since) > MOST_SEEN:
                self._drop_oldest()
        return self.labeller.push(costs, at, self._effects_of(embedding, at))

    def _drop_oldest(self) -> None:
        """The oldest restart cannot be taken back any more, and what was seen before the next one is not needed."""
        oldest, *later = sorted(self._marks, key=lambda number: self._marks[number].place)
        seen = self._marks[later[0]].place if later else len(self._since)
        self._since = self._since[seen:]
        self._marks = {number: one._replace(place=one.place - seen) for number, one in self._marks.items()}
        del self._marks[oldest]

    def knows(self, number: int) -> bool:
        """Whether a restart can still be taken back."""
        return number in self._marks

    def restart(self, number: int) -> None:
        """What was done until now counts no more."""
        self._counting |= {number}
        self._mark(number)
        self.labeller.restart()
        self._restart_effects()

    def recount(self, numbers: Collection[int]) -> bool:
        """Lets these restarts count, of those that were taken, and no others; whether any comes or goes by that."""
        changed = self._counting ^ frozenset(numbers)
        self._counting = frozenset(numbers)
        if changed:
            self._go_back(self._marks[min(changed)])
        return bool(changed)

    def _go_back(self, mark: _Mark) -> None:
        """Takes all that was seen since again, from the stages as they were."""
        again, self._since = self._since[mark.place :], self._since[: mark.place]
        self.labeller.recall(mark.memory)
        self._effects = copy.deepcopy(mark.effects)
        for entry in again:
            if isinstance(entry, _Seen):
                self._since.append(entry)
                self.labeller.weigh(entry.costs, entry.at, self._effects_of(entry.embedding, entry.at))
                continue
            self._mark(entry)
            if entry in self._counting:
                self.labeller.forget()
                self._restart_effects()

    def _mark(self, number: int) -> None:
        self._marks[number] = _Mark(len(self._since), self.labeller.memory(), copy.deepcopy(self._effects))
        self._since.append(number)

    def _restart_effects(self) -> None:
        if self._effects is not None:
            self._effects.restart()

    def _effects_of(self, embedding: NDArray[Any], at: float) -> Floats | None:
        return None if self._effects is None else self._effects.push(embedding, at)
