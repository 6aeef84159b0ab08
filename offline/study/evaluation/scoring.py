"""Every figure of one labelling against the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from guide.domain import Labels
from offline.metrics import (
    PROTOCOLS,
    Match,
    Score,
    edit_score,
    expected_random,
    match_steps,
    mof,
    order_agreement,
    segment_f1,
)

OVERLAPS: Final = (10, 25, 50)
EXTRAS: Final = ("MoF", *(f"F1@{overlap}" for overlap in OVERLAPS), "edit", "order", "pairs")
"""Figures besides the protocols'. `order`: pairs of found steps in the true order; `pairs`: true pairs found at all."""
WORKED_OUT: Final[tuple[Literal["A", "B", "D", "pooled"], ...]] = ("A", "B", "D", "pooled")


@dataclass(frozen=True, slots=True)
class Scores:
    """A labelling's score under each protocol, and its other figures, all as fractions.

    >>> import numpy as np
    >>> score([np.array([1, 2])], [np.array([4, 3])], ("D",)).extras["MoF"]
    1.0
    """

    protocols: Mapping[str, Score]
    extras: Mapping[str, float]


def score(
    truth: Sequence[Labels], found: Sequence[Labels], protocols: Sequence[str], given: Match | None = None
) -> Scores:
    """All figures; those without a match of their own take D's: key-steps only, one match over all recordings.

    A `given` match stands in the place of all.
    """
    match = match_steps(truth, found) if given is None else given
    order = order_agreement(truth, found, match)
    extras = {f"F1@{overlap}": segment_f1(truth, found, overlap / 100, match) for overlap in OVERLAPS}
    extras |= {"MoF": mof(truth, found, match), "edit": edit_score(truth, found, match)}
    extras |= {"order": order.share, "pairs": order.coverage}
    return Scores({name: PROTOCOLS[name](truth, found, given) for name in protocols}, extras)


def expectation(truth: Sequence[Labels], k: int, protocols: Sequence[str]) -> Scores:
    """What random labels score in the limit of many frames, where that was worked out."""
    return Scores({name: expected_random(truth, k, name) for name in WORKED_OUT if name in protocols}, {})
