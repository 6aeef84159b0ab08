"""How much groups are like steps, and which of them are parts of one step that grouping took apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.teach.refine import Floats
from offline.keysteps.ties import Grain

Parts = tuple[int, ...]
"""The groups that are taken for one step, in rising order."""
LONGEST = 1.25  # average steps: beyond it, longer is not more like a step, or neighbours would always be one
HELD, LENGTH = 0.5, 0.7  # powers: of these every group has more or less; what is not recognised or not once is no step


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against groups 0..C-1, alone or several together, being one step."""

    orders: tuple[Labels, ...]
    """The groups of each recording, in the order in which they come."""
    frames: Floats
    """Of each group (C,)."""
    matches: Floats
    """How many frames of each group are matched with each group of other recordings, (C, C)."""
    offered: Floats
    """How many frames of each group are matched with anything in each other recording, (R, C)."""
    known: Floats
    """How probable each group is by what the other recordings teach, summed over the frames of each group (C, C)."""
    step: float
    """Frames of an average step."""

    @staticmethod
    def of(labels: Sequence[Labels], ties: Floats, grain: Grain, judged: Iterable[Floats], step: float) -> Evidence:
        """Of every frame's group, matches of grains (G, G), and every frame's probabilities (T, C) of groups."""
        columns = int(max(each.max() for each in labels)) + 1
        known = sum((_sums(each, plan, columns) for each, plan in zip(labels, judged, strict=True)), np.zeros(1))
        counts, matches, offered = grain.counts(labels, columns), [], []
        for there in grain.slices:
            others = np.ones(len(counts), bool)
            others[there] = False
            met = counts[others].T @ ties[others, there]  # (C, the grains of this recording)
            matches.append(met @ counts[there])
            offered.append(met @ grain.sizes[there])
        orders = tuple(each[np.r_[True, each[1:] != each[:-1]]] for each in labels)
        return Evidence(orders, counts.sum(0), np.sum(matches, axis=0), np.array(offered), np.asarray(known), step)

    def likeness(self, parts: Parts) -> float:
        """How much the groups, taken for one, are like a step: matched with itself, recognised, done once, at length.

        Four shares multiplied: of the frames matched in recordings that have it, those matched with it; how probable it
        is where it is; of the recordings that have it, those that begin it once; its length in average steps.
        """
        own = np.array(parts)
        frames = self.frames[own].sum()
        if not frames:
            return 0.0
        is_in = np.zeros(len(self.frames), bool)
        is_in[own] = True
        visits = np.array([_begun(is_in[each]) for each in self.orders])
        has = visits > 0
        held = self.matches[np.ix_(own, own)].sum() / max(float(self.offered[np.ix_(has, own)].sum()), 1e-12)
        sure = self.known[np.ix_(own, own)].sum() / frames
        once = (visits == 1).sum() / has.sum()
        length = min(frames / visits.sum() / self.step, LONGEST)
        return float(held**HELD * sure * once * length**LENGTH)


def put_together(evidence: Evidence, k: int) -> dict[Parts, float]:
    """Groups, some of them several in one, with their likeness to steps: such that the k best are most like steps.

    Grouping may take a step apart, and its parts then stand in the way of another step. Of all pairs that which gains
    most is taken for one, again and again, as long as the mean of the k best rises. Parts of one step come one right
    after the other, so together they are done once and at length; different steps are begun apart.
    """
    likeness: dict[Parts, float] = {(group,): evidence.likeness((group,)) for group in range(len(evidence.frames))}
    known: dict[Parts, float] = {}
    while True:
        best, gained = None, _worth(likeness.values(), k)
        for pair in combinations(likeness, 2):
            both = tuple(sorted(pair[0] + pair[1]))
            if both not in known:
                known[both] = evidence.likeness(both)
            others = [value for parts, value in likeness.items() if parts not in pair]
            worth = _worth((*others, known[both]), k)
            if worth > gained:
                best, gained = (pair, both), worth
        if best is None:
            return likeness
        pair, both = best
        likeness = {parts: value for parts, value in likeness.items() if parts not in pair} | {both: known[both]}


def _worth(likeness: Iterable[float], k: int) -> float:
    """The mean of the k most like steps; those that are lacking count as 0."""
    return sum(sorted(likeness, reverse=True)[:k]) / k


def _begun(is_in: NDArray[np.bool_]) -> int:
    """How often something is begun, by whether each part in turn belongs to it."""
    return int(is_in[0]) + int((is_in[1:] & ~is_in[:-1]).sum())


def _sums(labels: Labels, plan: Floats, columns: int) -> Floats:
    """The sums (C, C) of probabilities (T, C) over the frames of each label."""
    found = np.zeros((columns, columns))
    np.add.at(found, labels, plan)
    return found
