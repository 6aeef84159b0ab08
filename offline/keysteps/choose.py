"""Choosing the number of key-steps without labels: as many as the recordings can tell apart in each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.ndimage import median_filter

from guide.teach.collection import Collection
from guide.teach.progress import Map
from offline.keysteps.base import average_step_s
from offline.keysteps.correspond import (
    SHORTEST_STEP,
    CorrespondSettings,
    Looked,
    correspond,
    look,
    paired_off,
    shared_information,
)

NUMBERS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 32, 40)
QUICK = CorrespondSettings(lengths=(0.6,))
USUAL = 10  # key-steps of a task
UNUSUAL = 0.3  # nats, times the squared logarithm of how many times too many or too few
WORTH = 0.5  # of the nats that as many perfect steps would say: what further steps must say to be worth it
Report = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """A number of key-steps and, in words for a trainer, why it was chosen.

    >>> Choice(7, "as many as usual", ((6, 1.4), (7, 1.52))).k
    7
    """

    k: int
    reason: str
    scores: tuple[tuple[int, float], ...]


def choose_k(
    collection: Collection,
    seed: int,
    candidates: Sequence[int] | None = None,
    report: Report | None = None,
    each: Map = map,
) -> Choice:
    """The number of key-steps after which more of them say little that is new.

    For each number the steps are found as usual but more quickly, with one length, and every recording is judged by
    what the others teach. What this says about the found steps rises with the number: steeply while the new steps are
    real, slowly once real steps are cut in pieces. k perfect steps say log k nats; chosen is where a share of that,
    `WORTH`, is exceeded most. Steps that only some recordings have, or that flicker, count less. Where the curve is
    nearly straight, chance would choose; so an unusual number needs a bend that shows.

    Numbers are tried by `each`, which may do so elsewhere, the highest first: it takes longest.
    """
    numbers = candidates if candidates is not None else _candidates(collection)
    if len(collection.times) < 2:
        return Choice(
            min(USUAL, max(numbers)), "as many as usual: with one recording there is no other to compare with", ()
        )
    few = paired_off(collection, max(numbers), seed)
    looked = look(few.collection(), average_step_s(collection, USUAL), QUICK)
    scores: list[tuple[int, float]] = []
    trying = partial(_score, _slim(looked), average_step_s(collection, 1), seed)
    for k, score in zip(reversed(numbers), each(trying, numbers[::-1]), strict=True):
        scores.insert(0, (k, score))
        if report is not None:
            report(k, score)
    k = bend(scores)
    if len(scores) == 1:
        return Choice(k, "the recordings are too short for more", tuple(scores))
    tried = f"{scores[0][0]} to {scores[-1][0]} were tried"
    reason = f"{tried}, and with more than {k} the recordings agree hardly better; if you know the number, give it"
    return Choice(k, reason, tuple(scores))


def _score(looked: Looked, lasted_s: float, seed: int, k: int) -> float:
    """What k steps found in recordings of so many seconds say of each other."""
    found = correspond(looked, lasted_s / k, k, seed, QUICK)
    return shared_information(found.looked.rows, found.steps, k)


def _slim(looked: Looked) -> Looked:
    """What is paired off, without the frames it comes from, which may be gigabytes."""
    some = looked.some
    return replace(looked, some=Collection(tuple(each[:, :1] for each in some.embeddings), some.times, some.rate))


def bend(scores: Sequence[tuple[int, float]]) -> int:
    """The number whose score lies farthest above `WORTH` of what so many perfect steps would say, and is not unusual.

    >>> bend([(4, 0.5), (8, 1.5), (16, 1.6), (32, 1.7)])
    8
    """
    numbers, raw = np.log([pair[0] for pair in scores]), np.array([pair[1] for pair in scores])
    heard = median_filter(raw, 3, mode="constant", cval=-np.inf)  # one number's luck makes no bend
    unusual = (numbers - np.log(USUAL)) ** 2
    return scores[int((heard - WORTH * numbers - UNUSUAL * unusual).argmax())][0]


def _candidates(collection: Collection) -> list[int]:
    longest = int(np.median(collection.lengths)) // SHORTEST_STEP
    return [k for k in NUMBERS if k <= longest] or [min(NUMBERS[0], collection.size)]
