"""Whether the found steps come in the true order, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from guide.domain import BACKGROUND, Labels
from offline.metrics.matching import Match, match_steps, paired, relabel


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Pairs of steps in one recording: how many stand in the true order, were found, and are truly there.

    >>> agreement = OrderAgreement(agreeing=3, compared=4, true_pairs=6)
    >>> agreement.share, round(agreement.coverage, 2)
    (0.75, 0.67)
    """

    agreeing: int
    compared: int
    true_pairs: int

    @property
    def share(self) -> float:
        """The share of pairs found that stand in the true order; 0 where no pair was found."""
        return self.agreeing / self.compared if self.compared else 0.0

    @property
    def coverage(self) -> float:
        """The share of true pairs of which both steps were found."""
        return self.compared / self.true_pairs if self.true_pairs else 0.0


def order_agreement(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> OrderAgreement:
    """Pairwise order agreement, pooled over recordings; a step stands at the mean time of its frames, as in the paper.

    Two steps at one mean time are in order only if they are so on both sides.
    """
    paired(truth, found)
    chosen = match_steps(truth, found) if match is None else match
    agreeing = compared = true_pairs = 0
    for t, f in zip(truth, relabel(found, chosen, truth), strict=True):
        true_at, found_at = mean_times(t), mean_times(f)
        for a, b in combinations(sorted(true_at), 2):
            true_pairs += 1
            if a in found_at and b in found_at:
                compared += 1
                agreeing += bool(np.sign(true_at[a] - true_at[b]) == np.sign(found_at[a] - found_at[b]))
    return OrderAgreement(agreeing, compared, true_pairs)


def mean_times(labels: Labels) -> dict[int, float]:
    """Each key-step's mean frame number in one recording."""
    return {int(step): float(np.flatnonzero(labels == step).mean()) for step in np.unique(labels[labels > BACKGROUND])}
