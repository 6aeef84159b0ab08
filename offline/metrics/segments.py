"""Frame accuracy and the segment scores of temporal action segmentation, after the match.

Background is no segment and no symbol here: it is left out of segment F1 and of the edit score on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

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
    hit: set[int] = set()
    for segment in found:
        ious = [_iou(segment, other) for other in truth]
        best = int(np.argmax(ious)) if ious else -1
        if best >= 0 and ious[best] >= overlap and ious[best] > 0:
            hit.add(best)
    return len(hit)


def _iou(a: Segment, b: Segment) -> float:
    if a.step != b.step:
        return 0.0
    shared = max(0.0, min(a.end, b.end) - max(a.start, b.start))
    return shared / (a.duration + b.duration - shared)


def _steps(labels: Labels) -> list[int]:
    """The steps of the segments in turn; a step resumed after background counts again."""
    return [segment.step for segment in segments_of(labels)]


def _similarity(a: list[int], b: list[int]) -> float:
    longest = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longest if longest else 1.0


def edit_distance(a: Sequence[int], b: Sequence[int]) -> int:
    """Levenshtein distance: the fewest insertions, deletions and substitutions from `a` to `b`."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]
