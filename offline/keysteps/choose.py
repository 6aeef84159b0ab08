"""Choosing the number of key-steps without labels: as many as the recordings can tell apart in each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter

from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.refine import Floats, RefineSettings, judge_each, visits_of
from guide.teach.subsample import fewer
from guide.teach.view import look_again
from offline.keysteps.base import average_step_s
from offline.keysteps.ours import Ours

NUMBERS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16)
SHORTEST_STEP = 8  # frames an average step must have, or it cannot be told from a slip
ROUNDS = 3  # half of what the finder takes: the curve over the numbers is the same
UNUSUAL = 0.5  # nats, times the squared logarithm of how many times too many or too few
Report = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """A number of key-steps and, in words, why it was chosen.

    >>> Choice(7, "most information (1.52 nats)", ((6, 1.4), (7, 1.52))).k
    7
    """

    k: int
    reason: str
    scores: tuple[tuple[int, float], ...]


def choose_k(
    collection: Collection, seed: int, candidates: Sequence[int] | None = None, report: Report | None = None
) -> Choice:
    """The number of key-steps after which more of them say little that is new.

    For each number the steps are found as usual but more quickly, and every recording is labelled anew by what the
    others teach. What these labels say about the found ones rises with the number: steeply while the new steps are
    real, slowly once real steps are cut in pieces. The bend is chosen: the number farthest above the line from the
    first to the last. Steps that only some recordings have, or that flicker, count less. Where the curve is nearly
    straight, chance would choose; so a number far from the middle of those tried needs a bend that shows.
    """
    numbers = candidates if candidates is not None else _candidates(collection)
    collection = fewer(collection, max(numbers), seed).collection()
    scores = []
    for k in numbers:
        scores.append((k, information(collection, k, seed)))
        if report is not None:
            report(*scores[-1])
    k = bend(scores)
    if len(scores) == 1:
        return Choice(k, "the recordings are too short to try more", tuple(scores))
    reason = f"tried {', '.join(str(tried) for tried, _ in scores)}: beyond {k}, more steps say little that is new"
    return Choice(k, reason, tuple(scores))


def bend(scores: Sequence[tuple[int, float]]) -> int:
    """The number whose score lies farthest above the straight line from the first to the last, and not far out.

    >>> bend([(4, 0.0), (6, 1.0), (8, 1.1), (10, 1.2)])
    6
    >>> bend([(4, 0.0), (6, 0.2), (8, 0.4), (10, 0.6)])
    8
    """
    numbers, raw = np.array([pair[0] for pair in scores], np.float64), np.array([pair[1] for pair in scores])
    heard = median_filter(raw, 3, mode="nearest")  # one number's luck makes no bend
    line = heard[0] + (heard[-1] - heard[0]) * (numbers - numbers[0]) / max(numbers[-1] - numbers[0], 1.0)
    far_out = np.log(numbers / (0.5 * (numbers[0] + numbers[-1]))) ** 2
    return scores[int((heard - line - UNUSUAL * far_out).argmax())][0]


def _candidates(collection: Collection) -> list[int]:
    longest = int(np.median(collection.lengths)) // SHORTEST_STEP
    return [k for k in NUMBERS if k <= longest] or [min(NUMBERS[0], collection.size)]


def information(collection: Collection, k: int, seed: int) -> float:
    """How much the recordings know about each other's k steps, in nats, less for rare and for flickering ones."""
    finder = Ours(RefineSettings(rounds=ROUNDS, background=0.0), embedding_weights=(1.0,), tries=2)
    labels = [each - 1 for each in finder.find(collection, k, seed).labels]
    step_s = average_step_s(collection, k)
    rows = look_again(collection.features or collection.embeddings, collection.times, step_s, finder.settings)
    return shared_information(rows, labels, k, finder.settings)


def shared_information(rows: Sequence[Floats], labels: Sequence[Labels], k: int, settings: RefineSettings) -> float:
    """Mutual information of labels 0..k-1 and what the other recordings make of the rows, weighed by presence."""
    counts = np.zeros((k, k))
    for each, judged in zip(labels, judge_each(rows, labels, settings), strict=True):
        np.add.at(counts, each, np.pad(judged, ((0, 0), (0, k - judged.shape[1]))))
    joint = counts / counts.sum()
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    positive = joint > 0
    shared = float((joint[positive] * np.log(joint[positive] / apart[positive])).sum())
    visits = np.array([visits_of(each, k) for each in labels])
    return float(shared * (visits > 0).mean() * max(visits.mean(), 1.0) ** -settings.visit_price)
