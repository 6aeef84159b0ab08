"""Frame accuracy and the segment scores of temporal action segmentation, after the match.

Background is no segment and no symbol here: it is left out of segment F1 and of the edit score on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Segment
from offline.metrics.matching import Match, match_steps, paired, relabel
from offline.metrics.score import harmonic


def mof(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> float:
    """Mean over frames: the share of all frames, background among them, whose label is right after the match."""
    pairs = _translated(truth, found, match)
    frames = sum(len(t) for t, _ in pairs)
    return sum(int((t == f).sum()) for t, f in pairs) / frames if frames else 0.0


def segment_f1(truth: Sequence[Labels], found: Sequence[Labels], overlap: float, match: Match | None = None) -> float:
    """F1 of segments: a found one is right if its IoU with a true one of its step is at least `overlap`.

    Each true segment may be found once; further hits on it are false ones. Counts are pooled over recordings.
    """
    right = found_count = true_count = 0
    for t, f in _translated(truth, found, match):
        true_segments, found_segments = segments_of(t), segments_of(f)
        right += _hits(true_segments, found_segments, overlap)
        found_count, true_count = found_count + len(found_segments), true_count + len(true_segments)
    if right == 0:
        return 0.0
    return harmonic(right / found_count, right / true_count)


def edit_score(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None = None) -> float:
    """1 minus the edit distance of the step sequences over the longer one's length, mean over recordings.

    Two recordings without any step have the same (empty) sequence and score 1.
    """
    scores = [_similarity(_steps(t), _steps(f)) for t, f in _translated(truth, found, match)]
    return sum(scores) / len(scores) if scores else 0.0


def segments_of(labels: Labels) -> list[Segment]:
    """The stretches of one key-step, in frames: start is the first frame, end is one past the last."""
    cuts = np.flatnonzero(np.diff(labels)) + 1
    borders = [0, *cuts.tolist(), len(labels)] if len(labels) else []
    return [Segment(int(labels[start]), start, end) for start, end in pairwise(borders) if labels[start] > BACKGROUND]


def _translated(truth: Sequence[Labels], found: Sequence[Labels], match: Match | None) -> list[tuple[Labels, Labels]]:
    paired(truth, found)
    chosen = match_steps(truth, found) if match is None else match
    return [(t, f) for t, f in zip(truth, relabel(found, chosen, truth), strict=True) if len(t)]


def _hits(truth: list[Segment], found: list[Segment], overlap: float) -> int:
    """Found segments that hit a true one not hit before; each tries the true segment it overlaps most."""
    hit = 0
    for step in {segment.step for segment in truth}:
        ious = _ious(*([one for one in side if one.step == step] for side in (found, truth)))
        if len(ious):
            best = ious.argmax(axis=1)
            reached = ious[np.arange(len(ious)), best]
            hit += len(np.unique(best[(reached >= overlap) & (reached > 0)]))
    return hit


def _ious(found: list[Segment], truth: list[Segment]) -> NDArray[np.float64]:
    """(found, true) overlap over union of segments of one step."""
    f, t = (np.array([(one.start, one.end) for one in side]).reshape(-1, 2) for side in (found, truth))
    ends, starts = np.minimum(f[:, None, 1], t[:, 1]), np.maximum(f[:, None, 0], t[:, 0])
    shared = np.maximum(ends - starts, 0.0)
    return np.asarray(shared / ((f[:, 1] - f[:, 0])[:, None] + (t[:, 1] - t[:, 0]) - shared), np.float64)


def _steps(labels: Labels) -> list[int]:
    """The steps of the segments in turn; a step resumed after background counts again."""
    return [segment.step for segment in segments_of(labels)]


def _similarity(a: list[int], b: list[int]) -> float:
    longest = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longest if longest else 1.0


def edit_distance(a: Sequence[int], b: Sequence[int]) -> int:
    """Levenshtein distance: the fewest insertions, deletions and substitutions from `a` to `b`.

    Row by row of the usual table; what comes from the left in a row, one more a column, is a running minimum.
    """
    short, long = sorted((a, b), key=len)
    symbols, places = np.asarray(long, np.int64), np.arange(len(long) + 1)
    row = places
    for number, symbol in enumerate(short, start=1):
        above = np.minimum(row[1:] + 1, row[:-1] + (symbols != symbol))
        row = np.minimum.accumulate(np.r_[number, above] - places) + places
    return int(row[-1])
