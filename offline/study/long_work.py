"""Made recordings of long work: what a trunk might pool of many steps, short and long, done over hours.

Nothing is drawn. A moment has a look of its own: that of the step or the pause, of what earlier steps left behind, of
the person, and noise that lasts; a fixed random layer turns it into features of the trunk's width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from guide.domain import BACKGROUND, Labels
from offline.features import RecordingFeatures
from offline.npy_file import GrowingNpy
from offline.study.flags import Planted

Floats = NDArray[np.float64]

LATENT = 64  # numbers that a moment's look has
SHORTEST_S = 2.0  # that a step usually takes; the others up to twice what half the time leaves each, evenly spread
PACE = 0.15  # spread of the logarithm of how quick people are
DURATION = 0.2  # and of how long one of them takes for a step
PERSON = 0.6  # how much people and rooms look different, beside steps of 1
PAUSE = 0.7  # how much every pause looks like no other
LEFT = 0.15  # how much every other step leaves behind
NOISE = 0.8  # of the look of a moment
LASTING = 0.9  # of the noise from one frame to the next
GRAIN = 0.3  # noise of each feature
FREE_EVERY = 5  # of so many neighbours two are done in any order
ROWS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class LongWork:
    """A made task and how much there is of it.

    >>> sorted(LongWork(steps=3, minutes=1.0).usual_s.tolist())
    [2.0, 10.0, 18.0]
    """

    steps: int = 40
    """Key-steps, done one after the other but for some neighbours that change places."""
    minutes: float = 120.0
    """Length of a recording; what steps do not take are pauses."""
    width: int = 3472
    """Features a frame, as many as EfficientNet-Lite0 gives."""
    rate: float = 5.0
    """Frames a second."""
    seed: int = 0

    @property
    def usual_s(self) -> Floats:
        """How long each step usually takes, (K,), together half of the time: of 40 in two hours up to three minutes."""
        longest_s = max(self.minutes * 60 / self.steps - SHORTEST_S, SHORTEST_S)
        return np.asarray(self._rng(0).permutation(np.linspace(SHORTEST_S, longest_s, self.steps)))

    def make(self, number: int, folder: Path, faults: bool = False) -> Made:
        """Recording `number`, kept in `folder`; with `faults` six are planted in it."""
        rng = self._rng(1, number)
        order = self._order(rng)
        order, planted = plant(order) if faults else (order, [])
        stretches = self._stretches(order, rng)
        labels = np.concatenate([np.full(max(round(s * self.rate), 1), step) for step, s in stretches])
        times = np.arange(len(labels)) / self.rate
        path = folder / f"{number}.npy"
        with GrowingNpy(path) as file:
            looks = self._looks(labels, rng)
            mixing, bias = self._layer()
            for start in range(0, len(looks), ROWS_AT_ONCE):
                part = looks[start : start + ROWS_AT_ONCE].astype(np.float32) @ mixing + bias
                part += rng.normal(0, GRAIN, part.shape).astype(np.float32)
                file.append(np.maximum(part, 0).astype(np.float16))
        pooled = np.load(path, mmap_mode="r", allow_pickle=False)
        seen = RecordingFeatures(f"long_{number}", self.rate, times, pooled)
        return Made(seen, labels, [self._timed(fault, labels, times) for fault in planted])

    def _rng(self, *key: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.steps, *key])

    def _order(self, rng: np.random.Generator) -> list[int]:
        order = list(range(1, self.steps + 1))
        for place in range(1, self.steps - 1, FREE_EVERY):
            if rng.random() < 0.5:
                order[place], order[place + 1] = order[place + 1], order[place]
        return order

    def _stretches(self, order: Sequence[int], rng: np.random.Generator) -> list[tuple[int, float]]:
        """Steps and the pauses before and after them, with the seconds that each takes."""
        pace = np.exp(rng.normal(0, PACE))
        lasted = [self.usual_s[step - 1] * pace * np.exp(rng.normal(0, DURATION)) for step in order]
        idle = rng.exponential(size=len(order) + 1)
        idle *= max(self.minutes * 60 - sum(lasted), 0.0) / idle.sum()
        found: list[tuple[int, float]] = []
        for step, seconds, pause_s in zip(order, lasted, idle[1:], strict=True):
            found += [(step, seconds), (BACKGROUND, pause_s)]
        return [(BACKGROUND, idle[0]), *found]

    def _looks(self, labels: Labels, rng: np.random.Generator) -> Floats:
        """The look of each moment, (T, LATENT)."""
        own = self._rng(2)
        steps, left = own.normal(size=(2, self.steps + 1, LATENT))
        left[::2] = 0.0
        noise = rng.normal(size=(len(labels), LATENT)) * NOISE * np.sqrt(1 - LASTING**2)
        looks = lfilter([1.0], [1.0, -LASTING], noise, axis=0) + PERSON * rng.normal(size=LATENT)
        bench = np.zeros(LATENT)
        for part in np.split(np.arange(len(labels)), np.flatnonzero(np.diff(labels)) + 1):
            step = int(labels[part[0]])
            looks[part] += bench + steps[step] + (PAUSE * rng.normal(size=LATENT) if step == BACKGROUND else 0.0)
            bench = bench + LEFT * left[step] * (step > BACKGROUND)
        return np.asarray(looks)

    def _layer(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rng = self._rng(3)
        mixing = rng.normal(size=(LATENT, self.width)) / np.sqrt(LATENT)
        return mixing.astype(np.float32), rng.normal(0.5, 0.5, self.width).astype(np.float32)

    @staticmethod
    def _timed(fault: Planted, labels: Labels, times: Floats) -> Planted:
        """The fault with the time from which on it can be known: when `before` or the step, done wrongly, begins."""
        if fault.kind == "missed":  # what comes after it begins
            return Planted("missed", fault.step, None, float(times[(labels > (fault.step or 0)).argmax()]))
        begins = np.flatnonzero((labels == fault.step) & (np.append(BACKGROUND, labels[:-1]) != fault.step))
        return Planted(
            fault.kind, fault.step, fault.before, float(times[begins[-1 if fault.kind == "repeated" else 0]])
        )


class Made(NamedTuple):
    """A made recording, its true labels (T,), and the faults in it."""

    seen: RecordingFeatures
    labels: Labels
    planted: list[Planted]


def plant(order: Sequence[int]) -> tuple[list[int], list[Planted]]:
    """The order with two steps left out, two done far too early, and two done again far too late.

    >>> plant(range(1, 15))[0]
    [1, 3, 4, 5, 7, 6, 3, 8, 10, 11, 12, 14, 13, 10]
    """
    found, planted = [], []
    half = len(order) // 2
    for part in (order[:half], order[half:]):
        missed, again, early = part[1], part[2], part[-1]
        rest = [step for step in part if step not in (missed, early)]
        found += [*rest[:4], early, *rest[4:], again]  # by then the one left out has been noticed
        planted += [
            Planted("missed", missed, None, None),
            Planted("out_of_order", early, rest[4], None),
            Planted("repeated", again, None, None),
        ]
    return found, planted
