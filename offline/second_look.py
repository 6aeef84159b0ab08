"""Whether a second look, at where things move, earns its cost on a task: tried on some frames before it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.perceive.appearance import AppearanceSettings
from guide.teach.demonstrations import demonstrate
from guide.teach.prototypes import accuracy_left_out
from offline.features import RecordingFeatures

FEWEST: Final = 3  # recordings to leave out in turn: of fewer nobody knows how far gains differ
MOST_TRIED: Final = 16  # recordings: with more the trial takes longer and says the same
LEAST_GAIN: Final = 0.03  # of the frames of steps named right, for a frame that takes 1.77 times the time


@dataclass(frozen=True, slots=True)
class Gain:
    """The shares (N,) of frames of steps named right in each recording by what the others teach, by one look and two.

    >>> Gain(np.array([0.6, 0.5, 0.7]), np.array([0.7, 0.6, 0.78])).is_clear
    True
    """

    one: NDArray[np.float64]
    two: NDArray[np.float64]

    @property
    def mean(self) -> float:
        return float(np.mean(self.two - self.one))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(np.std(self.two - self.one, ddof=1) / np.sqrt(len(self.one)))

    @property
    def is_clear(self) -> bool:
        """Whether it is worth its cost and more than chance: steps found by one look are biased towards it already."""
        return self.mean >= LEAST_GAIN and self.mean > self.error


def try_second_look(
    recordings: Sequence[RecordingFeatures], labels: Sequence[Labels], settings: AppearanceSettings
) -> Gain | None:
    """What the second look gains in recordings seen twice, with labels (T,); None where they are too few to tell.

    It is measured by what is seen alone: stretches are put in other orders.
    """
    shares = []
    ids, times, rate = [one.id for one in recordings], [one.times for one in recordings], recordings[0].rate
    for width in (recordings[0].pooled.shape[1] // 2, None):
        pooled = [one.pooled[:, :width] for one in recordings]
        shares.append(accuracy_left_out(demonstrate(ids, times, pooled, rate, settings), labels))
    is_known = np.isfinite(shares[0])
    return Gain(shares[0][is_known], shares[1][is_known]) if is_known.sum() >= FEWEST else None


def gain_in_words(gain: Gain | None) -> str:
    """What came of the trial, for the note in the bundle, in words for a trainer."""
    if gain is None:
        return "There are too few recordings to tell whether a closer look at the hands would help: it is left out."
    judged = "helps and is used" if gain.is_clear else "does not help here and is left out"
    shares = f"{100 * gain.two.mean():.1f} % of the time was named right with it, {100 * gain.one.mean():.1f} % without"
    return f"A closer look at the hands {judged}: in recordings not learned from, {shares}."
