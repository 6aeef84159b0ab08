"""Matched: parts of recordings paired off one to one, no clock at all; what all pairings agree on are the key-steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from guide.domain import BACKGROUND, Labels
from guide.teach.collection import Collection, Found
from guide.teach.refine import Floats, RefineSettings, recognised, refine, teach, visits_of
from guide.teach.thin import Fewer, fewer
from guide.teach.view import learn_view
from offline.keysteps.base import check_k, rank_by_time, rows_of, unused
from offline.keysteps.ours import Ours
from offline.keysteps.parts import cut
from offline.keysteps.ties import Grain, Metric, fixed, groups, held, leave_two_out, match

LEAST_RECORDINGS = 3  # two alone can be paired off any way
MOST_FRAMES = 6_000  # in all recordings that are paired off: parts are cut by way of all pairs of a recording's frames
MOST_RECORDINGS = 60  # that are paired off


@dataclass(frozen=True, slots=True)
class Matched:
    """Finds steps as what every two recordings have in common, and background as what they have not.

    Recordings are cut where their look changes, several times, more and less finely, and the parts of every two are
    paired off. What all pairings together tie to each other is one group. There are more groups than key-steps: those
    that people do once, at some length, and that are recognised from one recording to the next are the key-steps, and
    all others are background.

    >>> rng = np.random.default_rng(0)
    >>> looks = 5 * np.eye(6, dtype=np.float32)[:, None]
    >>> done = [np.concatenate([np.repeat(looks[n], 12, axis=0) for n in order]) for order in ([0, 1, 2], [1, 0, 2])]
    >>> rows = [each + rng.normal(size=each.shape).astype(np.float32) for each in (*done, *done)]
    >>> found = Matched().find(Collection.at_rate(rows, 2.0), k=3, seed=0).labels
    >>> found[0][[5, 18, 30]].tolist() == found[1][[18, 5, 30]].tolist()
    True
    """

    settings: RefineSettings = field(default_factory=lambda: RefineSettings(place_weight=0.0, share_weight=1.0))
    """Places count for nothing, and shares of the time for little: people leave steps out."""
    lengths: tuple[float, ...] = (0.42, 0.5, 0.55, 0.62, 0.7, 0.83)
    """Average length of a part, in average steps, in each of the cuttings."""
    spare: tuple[float, ...] = (0.15, 0.3, 0.5, 0.75, 1.0)
    """Groups beyond the key-steps, as a share of these; tried in turn, and the best kept."""
    rounds: int = 2
    """Pairings by what the groups of the last round teach; more change little."""

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        step_s = float(np.median([times[-1] - times[0] for times in collection.times])) / k
        few = _paired_off(fewer(collection, k, seed, most=MOST_FRAMES))
        if len(few.numbers) < LEAST_RECORDINGS or step_s <= 0:
            found = Ours().find(collection, k, seed)
            return replace(found, notes=(*found.notes, "too few recordings to pair off: found by looking again"))
        some = few.collection()
        view, rows = learn_view(some.features or some.embeddings, some.times, step_s, self.settings)
        pairing = Pairing(self, rows, some.rate, step_s, seed)
        best = max(pairing.candidates(k), key=lambda candidate: candidate.worth)
        every = dict(zip(few.numbers, best.labels, strict=True))
        if few.others:
            lesson, change = teach(rows, best.labels, len(best.scores), self.settings), pairing.change
            every |= {number: lesson.label(rows_of(few, number, view), change, self.settings) for number in few.others}
        numbers = best.numbers
        labels = tuple(few.all_frames(number, numbers[every[number]]) for number in sorted(every))
        return Found(labels, notes=unused([each[each > BACKGROUND] for each in labels], k))


def _paired_off(few: Fewer) -> Fewer:
    """Every so-maniest recording, where there are very many: their pairs grow with the square."""
    count = min(len(few.numbers), MOST_RECORDINGS)
    return replace(few, numbers=tuple(few.numbers[n * len(few.numbers) // count] for n in range(count)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Groups 0..C-1 of every frame, how much each is like a step (C,), and how many steps are wanted."""

    labels: list[Labels]
    scores: Floats
    k: int

    @property
    def chosen(self) -> Labels:
        """The groups most like steps."""
        return np.argsort(-self.scores, kind="stable")[: self.k]

    @property
    def worth(self) -> tuple[float, float]:
        """As good as the least of its steps: idle time among them makes every rule about it wrong. Then their mean."""
        scores = self.scores[self.chosen]
        return float(scores.min()), float(scores.mean())

    @property
    def numbers(self) -> Labels:
        """The key-step of each group (C,), in the order of their mean time; 0 for background."""
        rank = rank_by_time(self.labels, len(self.scores))
        found = np.full(len(self.scores), BACKGROUND, np.int64)
        found[rank[np.isin(rank, self.chosen)]] = np.arange(1, len(self.chosen) + 1)
        return found


class Pairing:
    """Groups of recordings' rows (T, d), with more and with fewer of them to spare."""

    def __init__(self, finder: Matched, rows: Sequence[Floats], rate: float, step_s: float, seed: int) -> None:
        self._finder, self._rows, self._rate, self._step_s, self._seed = finder, rows, rate, step_s, seed
        frames = step_s * rate
        self._cuttings = [cut(rows, length * frames, frames) for length in finder.lengths]
        self._grain = Grain.of(self._cuttings)

    @property
    def change(self) -> float:
        """What a change of label costs, in frames."""
        return self._finder.settings.change * self._step_s * self._rate

    def candidates(self, k: int) -> Iterator[Candidate]:
        """One for each number of groups."""
        first = self._ties(None)
        for columns in dict.fromkeys(k + max(1, round(share * k)) for share in self._finder.spare):
            ties, labels = first, self._groups(first, columns)
            for _ in range(self._finder.rounds):
                ties = self._ties(leave_two_out(self._rows, labels, self._finder.settings.shrinkage))
                labels = self._groups(ties, columns)
            yield Candidate(labels, self._scores(ties, labels, columns), k)

    def _ties(self, metric: Metric | None) -> Floats:
        """How many of the cuttings tie grains (G, G) to each other; without a metric, by what varies within parts."""
        ties = np.zeros((len(self._grain.sizes),) * 2)
        for each in self._cuttings:
            ties += match(self._rows, each, metric or fixed(each.whitening), self._grain)
        return ties

    def _groups(self, ties: Floats, columns: int) -> list[Labels]:
        found = groups(ties, self._grain, columns, self._seed)
        return refine(self._rows, found, self._rate, self._step_s, self._finder.settings)

    def _scores(self, ties: Floats, labels: list[Labels], columns: int) -> Floats:
        """How much each group is like a step (C,): matched with itself, recognised by others, done once, at length."""
        every, known = np.concatenate(labels), np.concatenate(recognised(self._rows, labels, self._finder.settings))
        frames = np.maximum(np.bincount(every, minlength=columns), 1)
        visits = np.array([visits_of(each, columns) for each in labels])
        once = (visits == 1).sum(0) / np.maximum((visits > 0).sum(0), 1)
        length = frames / np.maximum(visits.sum(0), 1) / (self._step_s * self._rate)
        sure = np.bincount(every, known, minlength=columns) / frames
        return np.asarray(held(ties, self._grain, labels, columns) * sure * once * np.sqrt(length))
