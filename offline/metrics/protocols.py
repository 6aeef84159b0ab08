"""The ways key-step localisation has been scored: the paper's (A), per video (B), ours (D) and the old pooled one.

Each makes its own match of found to true labels, unless one is given: then that stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from guide.domain import Labels
from offline.metrics.matching import Match, Overlap, Pairs, paired, pool
from offline.metrics.score import NOTHING, Score, f1_of_means


class ScoringProtocol(Protocol):
    """A way to score found labels against true ones, one array a recording."""

    def __call__(self, truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> Score: ...


def protocol_a(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> Score:
    """The paper's: one match over a task's recordings, background a class like any other.

    Precision, recall and IoU are means over the matched pairs; a class left without a partner costs nothing.
    """
    return _mean_over_pairs(Overlap.of(*pool(truth, found)).pairs(background=True, match=match))


def protocol_b(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> Score:
    """OPEL's and HiERO's: A's match made anew for every recording, then the mean of its figures over recordings.

    The labels of two recordings then mean different things, which is no use to a guide: for comparison only.
    F1 is taken from the mean precision and recall, as in A.
    """
    each = (Overlap.of(t, f).pairs(background=True, match=match) for t, f in paired(truth, found))
    return f1_of_means([_mean_over_pairs(pairs) for pairs in each])


def protocol_d(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> Score:
    """Ours, the headline: one match over a task's recordings, key-steps only.

    A key-step laid on true background still pays in its precision and IoU. Sums over the matched pairs are divided
    by the larger number of key-steps, so that a step not found and a step too many both cost.
    """
    pairs = Overlap.of(*pool(truth, found)).pairs(background=False, match=match)
    classes = max(pairs.true_count, pairs.found_count)
    if not pairs.match:
        return NOTHING
    return Score.of(
        precision=float(pairs.precision.sum()) / classes,
        recall=float(pairs.recall.sum()) / classes,
        iou=float(pairs.iou.sum()) / classes,
    )


def protocol_pooled(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> Score:
    """The old third-person tables' (ProceL, CrossTask): D's match, then frames counted over all key-steps together.

    Precision: right frames of all frames given a key-step. Recall: right frames of all frames that are one.
    """
    true_frames, found_frames = pool(truth, found)
    pairs = Overlap.of(true_frames, found_frames).pairs(background=False, match=match)
    right = int(pairs.shared.sum())
    given, wanted = int((found_frames > 0).sum()), int((true_frames > 0).sum())
    if right == 0:
        return NOTHING
    return Score.of(precision=right / given, recall=right / wanted, iou=right / (given + wanted - right))


def _mean_over_pairs(pairs: Pairs) -> Score:
    if not pairs.match:
        return NOTHING
    return Score.of(
        precision=float(pairs.precision.mean()), recall=float(pairs.recall.mean()), iou=float(pairs.iou.mean())
    )


PROTOCOLS: Final[dict[str, ScoringProtocol]] = {
    "A": protocol_a,
    "B": protocol_b,
    "D": protocol_d,
    "pooled": protocol_pooled,
}
