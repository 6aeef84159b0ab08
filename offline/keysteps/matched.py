"""Matched: parts of recordings paired off one to one by their look; what all pairings agree on are the key-steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from guide.domain import BACKGROUND, Labels
from guide.teach.collection import Collection, Found
from guide.teach.refine import Floats, RefineSettings, Shown, judge_each, refine, teach
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view
from offline.keysteps.base import average_step_s, check_k, rank_by_time, rows_of, unused
from offline.keysteps.consistency import sense
from offline.keysteps.grouping import Evidence, Parts, put_together
from offline.keysteps.matching import Grain, Metric, fixed, groups, leave_two_out, match
from offline.keysteps.opening import without_waiting
from offline.keysteps.ours import Ours
from offline.keysteps.parts import cut

LEAST_RECORDINGS = 3  # two alone can be paired off any way
MOST_FRAMES = 6_000  # in all recordings that are paired off: parts are cut by way of all pairs of a recording's frames
MOST_RECORDINGS = 30  # that are paired off: every two of them, many times over


@dataclass(frozen=True, slots=True)
class Matched:
    """Finds steps as what every two recordings have in common, and background as what they have not.

    Recordings are cut where their look changes, several times, more and less finely, and the parts of every two are
    paired off. What all pairings together tie to each other is one group. There are more groups than key-steps,
    and those that are parts of one step are put together. What people do once, at some length, and what is recognised
    from one recording to the next are the key-steps; all other groups are background.

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
    spare: tuple[float, ...] = (0.3, 0.5, 0.75, 1.0)
    """Groups beyond the key-steps, as a share of these; tried in turn, and the best kept."""
    tries: int = 3
    """Starts with each number of groups: clustering ends in different places."""
    rounds: int = 2
    """Pairings by what the groups of the last round teach; more change little."""
    clock_gain: float = 1.16
    """How many times as much like steps groups must be, on average, to compare frames with their past alone.

    A recording has no past at its beginning, and little of it for a while: a bit of a clock. It makes all groups easier
    to tell, right or wrong. Where people do things in many orders, groups were 1.04 to 1.12 times as much like steps
    with it; where they keep to one order and it helps, 1.2 to 1.4 times. Without it frames are compared with what comes
    before and after alike.
    """

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        few = paired_off(fewer(collection, k, seed, most=MOST_FRAMES))
        if len(few.numbers) < LEAST_RECORDINGS or average_step_s(collection, k) <= 0:
            found = Ours().find(collection, k, seed)
            return replace(found, notes=(*found.notes, "too few recordings to pair off: found by looking again"))
        some = few.collection()
        timeless, past = (Paired.by(self, some, k, seed, is_timeless) for is_timeless in (True, False))
        best = past if past.likeness > self.clock_gain * timeless.likeness else timeless
        every = dict(zip(few.numbers, best.candidate.labels, strict=True))
        if few.others:
            every |= best.others(few, self.settings)
        numbers = best.candidate.numbers
        labels = tuple(few.all_frames(number, numbers[every[number]]) for number in sorted(every))
        labels = without_waiting(few, labels, average_step_s(collection, k))
        look = "the past" if best is past else "what is around"
        told = f"paired off by how frames differ from {look} (likeness to steps at best "
        told += f"{timeless.likeness:.2f} around, {past.likeness:.2f} by the past)"
        return Found(labels, notes=(told, *unused([each[each > BACKGROUND] for each in labels], k)))


@dataclass(frozen=True, slots=True)
class Paired:
    """What pairing off found by one way to look at recordings."""

    view: View
    rows: list[Floats]
    change: float
    """What a change of label costs, in frames."""
    candidate: Candidate
    likeness: float
    """How much steps are like steps, on average, in the candidate whose least step is most like one."""

    @staticmethod
    def by(finder: Matched, some: Collection, k: int, seed: int, is_timeless: bool) -> Paired:
        """The best of all candidates by a view that is timeless or not.

        How much steps are like steps is told by the chosen groups; how much sense they make also by whether every
        recording has them, and whether frames left for background are taken for them. It must be good at both.
        """
        features, step_s = some.features or some.embeddings, average_step_s(some, k)
        view, rows = learn_view(features, some.times, step_s, finder.settings, is_timeless)
        pairing = Pairing(finder, rows, some.rate, step_s, seed)
        candidates = list(pairing.candidates(k))
        likeness = max(candidate.worth for candidate in candidates)[1]  # as when `clock_gain` was measured

        def promise(candidate: Candidate) -> tuple[float, float]:
            made, (least, mean) = sense(rows, candidate.steps, k, finder.settings), candidate.worth
            return made * least, made * mean

        best = max(candidates, key=promise)
        return Paired(view, rows, finder.settings.change * step_s * some.rate, best, likeness)

    def others(self, few: Fewer, settings: RefineSettings) -> dict[int, Labels]:
        """The groups of recordings that were not paired off, by what the others teach."""
        lesson = teach(
            [Shown.of(each) for each in self.rows], self.candidate.labels, len(self.candidate.numbers), settings
        )
        return {number: lesson.label(rows_of(few, number, self.view), self.change, settings) for number in few.others}


def paired_off(few: Fewer) -> Fewer:
    """Every so-maniest recording, where there are very many: their pairs grow with the square."""
    count = min(len(few.numbers), MOST_RECORDINGS)
    return replace(few, numbers=tuple(few.numbers[n * len(few.numbers) // count] for n in range(count)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Groups 0..C-1 of every frame, which of them are one, how much these are like a step, and how many are wanted."""

    labels: list[Labels]
    likeness: dict[Parts, float]
    k: int

    @property
    def chosen(self) -> list[Parts]:
        """Those most like steps."""
        return sorted(self.likeness, key=lambda parts: -self.likeness[parts])[: self.k]

    @property
    def worth(self) -> tuple[float, float]:
        """As good as the least of its steps: idle time among them makes every rule about it wrong. Then their mean."""
        values = [self.likeness[parts] for parts in self.chosen]
        values += [0.0] * (self.k - len(values))  # steps that are lacking
        return min(values), sum(values) / self.k

    @property
    def numbers(self) -> Labels:
        """The key-step of each group (C,), in the order of their mean time; 0 for background."""
        found = np.full(sum(map(len, self.likeness)), BACKGROUND, np.int64)
        for number, parts in enumerate(self.chosen, 1):
            found[list(parts)] = number
        rank = rank_by_time([found[each] for each in self.labels], len(self.chosen) + 1)
        in_order = np.full(len(rank), BACKGROUND, np.int64)
        in_order[rank[rank != BACKGROUND]] = np.arange(1, len(rank))
        return in_order[found]

    @property
    def steps(self) -> list[Labels]:
        """The key-step of every frame (T,) of each recording; 0 for background."""
        numbers = self.numbers
        return [numbers[each] for each in self.labels]


class Pairing:
    """Groups of recordings' rows (T, d), with more and with fewer of them to spare."""

    def __init__(self, finder: Matched, rows: Sequence[Floats], rate: float, step_s: float, seed: int) -> None:
        self._finder, self._rows, self._rate, self._step_s, self._seed = finder, rows, rate, step_s, seed
        frames = step_s * rate
        self._cuttings = [cut(rows, length * frames, frames) for length in finder.lengths]
        self._grain = Grain.of(self._cuttings)

    def candidates(self, k: int) -> Iterator[Candidate]:
        """Some for each number of groups."""
        first = self._ties(None)
        for columns in dict.fromkeys(k + max(1, round(share * k)) for share in self._finder.spare):
            for attempt in range(self._finder.tries):
                yield self._candidate(first, columns, k, self._finder.tries * self._seed + attempt)

    def _candidate(self, first: Floats, columns: int, k: int, seed: int) -> Candidate:
        ties, labels = first, self._groups(first, columns, seed)
        for _ in range(self._finder.rounds):
            ties = self._ties(leave_two_out(self._rows, labels, self._finder.settings.shrinkage))
            labels = self._groups(ties, columns, seed)
        judged = judge_each(self._rows, labels, self._finder.settings)
        evidence = Evidence.of(labels, ties, self._grain, judged, self._step_s * self._rate)
        return Candidate(labels, put_together(evidence, k), k)

    def _ties(self, metric: Metric | None) -> Floats:
        """How many of the cuttings tie grains (G, G) to each other; without a metric, by what varies within parts."""
        ties = np.zeros((len(self._grain.sizes),) * 2)
        for each in self._cuttings:
            ties += match(self._rows, each, metric or fixed(each.whitening), self._grain)
        return ties

    def _groups(self, ties: Floats, columns: int, seed: int) -> list[Labels]:
        found = groups(ties, self._grain, columns, seed)
        return refine(self._rows, found, self._rate, self._step_s, self._finder.settings)
