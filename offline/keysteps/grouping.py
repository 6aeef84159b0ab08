"""How much groups are like steps, and which of them are parts of one step that grouping took apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from guide.teach.lesson import Floats
from offline.keysteps.base import rank_by_time
from offline.keysteps.matching import Grain

Parts = tuple[int, ...]
"""The groups that are taken for one step, in rising order."""
LONGEST = 1.25  # average steps: what is longer is the less like a step, or neighbours would always be one
HELD = 0.5  # power of the share of matches: steps that look alike are matched with each other at times
LENGTH = 0.7  # power of the length: real steps differ in length, fragments are far shorter


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against groups 0..C-1, alone or several together, being one step."""

    orders: tuple[Labels, ...]
    """The groups of each recording, in the order in which they come."""
    frames: Floats
    """Of each group (C,)."""
    matches: Floats
    """Pairs of frames matched with each other, once for each cutting: of one group and of one elsewhere, (C, C)."""
    offered: Floats
    """Pairs of matched frames of which one lies in each recording and the other in each group elsewhere, (R, C)."""
    known: Floats
    """How probable each group (second axis) is by what the other recordings teach, summed over each one's frames."""
    step: float
    """Frames of an average step."""

    @staticmethod
    def of(labels: Sequence[Labels], ties: Floats, grain: Grain, judged: Iterable[Floats], step: float) -> Evidence:
        """Of every frame's group, matches of grains (G, G), and every frame's probabilities (T, C) of groups."""
        columns = int(max(each.max() for each in labels)) + 1
        known = np.zeros((columns, columns))
        for each, plan in zip(labels, judged, strict=True):
            np.add.at(known, each, plan)
        counts, matches, offered = grain.counts(labels, columns), [], []
        for there in grain.slices:
            others = np.ones(len(counts), bool)
            others[there] = False
            met = counts[others].T @ ties[others, there]  # (C, the grains of this recording)
            matches.append(met @ counts[there])
            offered.append(met @ grain.sizes[there])
        orders = tuple(each[np.r_[True, each[1:] != each[:-1]]] for each in labels)
        return Evidence(orders, counts.sum(0), np.sum(matches, axis=0), np.array(offered), known, step)

    def likeness(self, parts: Parts) -> float:
        """How much the groups, taken for one, are like a step: matched with itself, recognised, done once, at length.

        Multiplied: of what is matched in recordings that have it, the share matched with it, to the power `HELD`; how
        probable it is where it is; of the recordings that have it, the share that begins it once; its length in average
        steps, to the power `LENGTH`. A length beyond `LONGEST` counts as one that falls short of it by as many times.
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
        length = frames / visits.sum() / self.step
        return float(held**HELD * sure * once * min(length, LONGEST**2 / length) ** LENGTH)


def put_together(evidence: Evidence, k: int) -> dict[Parts, float]:
    """Groups, some of them several in one, with their likeness to steps: such that the k best are most like steps.

    Grouping may take a step apart, and its parts then stand in the way of another step. Of all pairs that which gains
    most is taken for one, again and again, as long as the mean of the k best rises and there are more than k. Parts of
    one step come one right after the other, so together they are done once and at length. Two steps that nobody ever
    does apart look the same; only that they are long together, and that another step must fill the gap, parts them.
    """
    likeness: dict[Parts, float] = {(group,): evidence.likeness((group,)) for group in range(len(evidence.frames))}
    known: dict[Parts, float] = {}
    while sum(value > 0 for value in likeness.values()) > k:
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
            break
        pair, both = best
        likeness = {parts: value for parts, value in likeness.items() if parts not in pair} | {both: known[both]}
    return likeness


def number_groups(labels: Sequence[Labels], likeness: dict[Parts, float], k: int) -> Labels:
    """The key-step of each group (C,): the k most like steps in the order of their mean time; 0 for background."""
    chosen = sorted(likeness, key=lambda parts: -likeness[parts])[:k]
    found = np.full(sum(map(len, likeness)), BACKGROUND, np.int64)
    for number, parts in enumerate(chosen, 1):
        found[list(parts)] = number
    rank = rank_by_time([found[each] for each in labels], len(chosen) + 1)
    in_order = np.full(len(rank), BACKGROUND, np.int64)
    in_order[rank[rank != BACKGROUND]] = np.arange(1, len(rank))
    return np.asarray(in_order[found])


def _worth(likeness: Iterable[float], k: int) -> float:
    """The mean of the k most like steps."""
    return sum(nlargest(k, likeness)) / k


def _begun(is_in: NDArray[np.bool_]) -> int:
    """How often something is begun, by whether each part in turn belongs to it."""
    return int(is_in[0]) + int((is_in[1:] & ~is_in[:-1]).sum())
