"""Learning prototypes from labels, found or given, and each demonstration as the others judge it.

Features that look back carry a little of what came before, and what stands around tells how far the work has come.
So demonstrations also teach with their stretches in other orders, and before the workplace of other moments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.label.clock_prior import learn_clock_prior
from guide.label.discriminant import ClassSums, Discriminant
from guide.label.membership import squared_distances
from guide.label.prototypes import Floats, Prototypes, Unaries, log_memberships, mean_nearest
from guide.teach.demonstrations import Demonstration, Demonstrations
from guide.teach.reorder import elsewhere, shuffled, turned, with_lead_in

SHRINKAGE = 0.3  # how far the covariance within steps is drawn towards a sphere
MOST_REHEARSALS = 40  # demonstrations that are judged by the others; of more some, from the first to the last
WAYS = 5  # to show a demonstration again: turned round, shuffled, and before three other workplaces
SHUFFLES = 3  # other orders in which a demonstration left out is named
COPY_STRIDE = 2  # copies teach with every other frame
MOST_COPIED = 120_000  # frames of all copies together; where there are more, every demonstration has fewer copies
LONGEST_COPY = 6_000  # frames: of a longer recording a part is shown again
HEADROOM = 2.0  # of the limit for unknown activity over the farthest demonstration: strangers lie farther than those
TEMPERATURES = tuple(2.0 ** (n / 2) for n in range(15))  # 1 to 128
BACKGROUNDS = tuple(float(np.exp(-n / 2)) for n in range(9))  # what background may count for, beside a step
FARTHEST = 1e5  # that the limit may be, where others hardly vary: bundles hold no larger number
_TINY = 1e-9


class Judged(NamedTuple):
    """A demonstration as the others judge it."""

    place: int
    """Among all demonstrations."""
    times: Times
    labels: Labels
    costs: Floats  # (T, C + 1) of the labels, the last of unknown activity


class Taught(NamedTuple):
    """Prototypes, and the demonstrations as those learned from the others judge them."""

    prototypes: Prototypes
    judged: list[Judged]


def learn_prototypes(
    demonstrations: Demonstrations,
    labels: Sequence[Labels],
    seed: int = 0,
    ways: int = WAYS,
    has_lead_in: bool = True,
) -> Taught:
    """The prototypes of demonstrations with labels (T,), each shown again in so many ways.

    There is one for every number, and one more for the background before the first step.
    """
    shown = [with_lead_in(each) for each in labels] if has_lead_in else labels
    numbers = np.unique(np.concatenate([np.unique(each) for each in shown])).astype(np.int64)
    places = chosen(len(demonstrations.items), MOST_REHEARSALS)
    items, own = [demonstrations.items[n] for n in places], [labels[n] for n in places]
    total, sums = _taught(_sums(demonstrations, shown, numbers, np.random.default_rng(seed), ways), set(places))
    distances = []
    for one, each in zip(items, sums, strict=True):
        others = total.less(each) if len(demonstrations.items) > 1 else total
        distances.append(_distances(one.embedding, others.discriminant(SHRINKAGE), numbers))
    temperature = min(TEMPERATURES, key=lambda t: _surprise(distances, own, numbers, t))
    far = HEADROOM * max(float(mean_nearest(each, one.times).max()) for each, one in zip(distances, items, strict=True))
    background = max(BACKGROUNDS, key=lambda share: _fairness(distances, own, numbers, temperature, share))
    clock = learn_clock_prior(labels, demonstrations.times, _known(numbers), background)
    learned = replace(
        _prototypes(total.discriminant(SHRINKAGE), temperature, min(max(far, _TINY), FARTHEST)), clock=clock
    )
    judged = [
        Judged(place, one.times, each, costs_of(learned, found, one.times))
        for place, one, each, found in zip(places, items, own, distances, strict=True)
    ]
    return Taught(learned, judged)


def accuracy_left_out(demonstrations: Demonstrations, labels: Sequence[Labels], ways: int = 2, seed: int = 0) -> Floats:
    """The share (N,) of each demonstration's frames of steps that the others name right, its stretches in any order.

    Frames are named one by one; NaN where no frame shows a step.
    """
    numbers = np.unique(np.concatenate(labels)).astype(np.int64)
    rng = np.random.default_rng(seed)
    sums = list(_sums(demonstrations, labels, numbers, rng, ways))
    total = ClassSums.total(sums)
    shares = []
    for one, own, each in zip(demonstrations.items, labels, sums, strict=True):
        others, is_right = total.less(each).discriminant(SHRINKAGE), []
        for order in [shuffled(own, rng) for _ in range(SHUFFLES)]:
            seen = demonstrations.embed(np.asarray(one.pooled[order], np.float32), one.times)
            named = numbers[_distances(seen, others, numbers).argmin(1)]
            is_right.append((named == own[order])[own[order] > BACKGROUND])
        shares.append(np.mean(is_right) if len(is_right[0]) else np.nan)
    return np.array(shares)


def chosen(count: int, most: int) -> list[int]:
    """The places of so many things: all, or `most` spread over them where there are more.

    >>> chosen(2, 3), chosen(7, 3)
    ([0, 1], [0, 2, 4])
    """
    most = min(count, most)
    return [number * count // most for number in range(most)]


def costs_of(prototypes: Prototypes, distances: Floats, times: Times) -> Floats:
    """The costs (T, C + 1) that follow from squared distances (T, C), frame by frame as live."""
    unaries = Unaries(prototypes)
    return np.stack([unaries.weigh(row[None], float(at)) for row, at in zip(distances, times, strict=True)])


def _prototypes(learned: Discriminant, temperature: float, far: float) -> Prototypes:
    centres = np.column_stack([learned.centres, np.zeros(len(learned.centres))])
    return Prototypes(np.maximum(learned.numbers, BACKGROUND), centres, _metric(learned), temperature, far)


def _metric(learned: Discriminant) -> Floats:
    """The metric (D, D): whitening, and for what lies outside all directions what shrinkage leaves a direction."""
    size = len(learned.whitening)
    spread = float(np.square(np.linalg.inv(learned.whitening)).sum()) / size  # of a direction, on average
    metric = np.zeros((size + 1, size + 1))
    metric[:size, :size], metric[size, size] = learned.whitening, 1.0 / np.sqrt(max(SHRINKAGE * spread, _TINY))
    return metric


def _distances(embedding: NDArray[Any], learned: Discriminant, numbers: Labels) -> Floats:
    """Squared distances (T, C) to prototypes of the `numbers`; one that nobody else has is infinitely far."""
    prototypes = _prototypes(learned, 1.0, 1.0)
    found = np.full((len(embedding), len(numbers)), np.inf)
    placed = np.asarray(embedding, np.float64) @ prototypes.metric
    found[:, np.searchsorted(numbers, learned.numbers)] = squared_distances(
        placed, prototypes.centres @ prototypes.metric
    )
    return found


def _surprise(distances: Sequence[Floats], labels: Sequence[Labels], numbers: Labels, temperature: float) -> float:
    """How improbable the true labels are on the whole, where the others know them."""
    total = 0.0
    for each, own in zip(distances, labels, strict=True):
        found = log_memberships(each, temperature, np.maximum(numbers, BACKGROUND))
        found = found[np.arange(len(own)), np.searchsorted(_known(numbers), own)]
        total -= float(found[np.isfinite(found)].sum())
    return total


def _fairness(
    distances: Sequence[Floats], labels: Sequence[Labels], numbers: Labels, temperature: float, background: float
) -> float:
    """The share of frames that are named right, each step and background counting the same."""
    known = _known(numbers)
    handicap = np.where(known == BACKGROUND, np.log(background), 0.0)
    right, count = np.zeros(len(known)), np.zeros(len(known))
    for each, own in zip(distances, labels, strict=True):
        columns = np.searchsorted(known, own)
        named = (log_memberships(each, temperature, np.maximum(numbers, BACKGROUND)) + handicap).argmax(1)
        right += np.bincount(columns[named == columns], minlength=len(known))
        count += np.bincount(columns, minlength=len(known))
    return float(np.mean(right[count > 0] / count[count > 0]))


def _known(numbers: Labels) -> Labels:
    """The different labels that prototypes of these numbers stand for: the lead-in is background."""
    return np.unique(np.maximum(numbers, BACKGROUND))


def _taught(sums: Iterable[ClassSums], places: Collection[int]) -> tuple[ClassSums, list[ClassSums]]:
    """What all demonstrations teach together, and what those at `places` do: more need not be held at once."""
    total: ClassSums | None = None
    kept = []
    for place, each in enumerate(sums):
        total = each if total is None else ClassSums.total([total, each])
        kept += [each] if place in places else []
    assert total is not None, "there are demonstrations"
    return total, kept


def _sums(
    demonstrations: Demonstrations, labels: Sequence[Labels], numbers: Labels, rng: np.random.Generator, ways: int
) -> Iterator[ClassSums]:
    """What each demonstration teaches, as it is and in its copies."""
    frames = sum(min(len(one), LONGEST_COPY) for one in demonstrations.items)
    copies = min(max(MOST_COPIED * 10 // max(frames, 1), 1), 10 * ways)  # tenths of a copy for each
    for place, (one, own) in enumerate(zip(demonstrations.items, labels, strict=True)):
        parts = [ClassSums.of(_inside(one.embedding), own, numbers)]
        count = (place + 1) * copies // 10 - place * copies // 10  # where not all have one, those between go without
        for pooled, shown, times in _copies(one, own, demonstrations, min(count, ways), rng):
            rows = demonstrations.embed(pooled, times)[::COPY_STRIDE]
            parts.append(ClassSums.of(_inside(rows), shown[::COPY_STRIDE], numbers))
        for pooled in demonstrations.copies[place] if demonstrations.copies else ():
            rows = demonstrations.embed(np.asarray(pooled, np.float32), one.times)[::COPY_STRIDE]
            parts.append(ClassSums.of(_inside(rows), own[::COPY_STRIDE], numbers))
        yield ClassSums.total(parts)


def _inside(embedding: NDArray[Any]) -> Floats:
    """Embeddings without what lies outside all directions, which tells no steps apart."""
    return np.asarray(embedding[:, :-1], np.float64)


def _copies(
    recording: Demonstration, labels: Labels, demonstrations: Demonstrations, count: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], Labels, Times]]:
    """So many of the ways to show a demonstration again; of a long one a part."""
    start = int(rng.integers(len(recording) - LONGEST_COPY + 1)) if len(recording) > LONGEST_COPY else 0
    part = slice(start, start + LONGEST_COPY)
    own, pooled, times = labels[part], np.asarray(recording.pooled[part], np.float32), recording.times[part]
    span = demonstrations.settings.memory_s * demonstrations.rate
    for way in range(count):
        if way < 2:
            order = (turned, shuffled)[way](own, rng)
            yield pooled[order], own[order], times
        else:
            yield elsewhere(pooled, span, rng), own, times
