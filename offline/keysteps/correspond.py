"""Correspond and cut: parts of recordings that correspond give the prototypes, ProCut gives the labels.

1. Embed. Several TC3I heads side by side give an embedding; beside it stands what was seen, less the person and the
   room.
2. Correspond. Recordings are cut where these rows change, and the parts of every two recordings are paired off one to
   one. Parts that all pairings tie together are one group: the start of one prototype. There are more groups than
   key-steps.
3. Cut. Fuzzy memberships in the prototypes give the t-links, frames near in time the n-links, the graph cut the labels.
4. Select. The k groups most like steps, some of them several in one, are the key-steps. The prototypes of all other
   groups are those of background, so background takes part in the cut as every step does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times
from guide.label.cut import settle_all
from guide.label.discriminant import ClassSums, Discriminant
from guide.label.energy import LinkSettings, build_links
from guide.label.membership import memberships
from guide.teach.collection import Collection, Found
from guide.teach.refine import Floats, RefineSettings
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view
from offline.keysteps.base import average_step_s, check_k, unused
from offline.keysteps.grouping import Evidence, put_together
from offline.keysteps.heads import HeadsSettings, TrainedHeads, train_heads, unit_directions
from offline.keysteps.matched import LEAST_RECORDINGS, MOST_FRAMES, Candidate, paired_off
from offline.keysteps.matching import Grain, Metric, fixed, groups, leave_two_out, match, telling
from offline.keysteps.parts import cut
from offline.keysteps.pcm import ProCut


@dataclass(frozen=True, slots=True)
class CorrespondSettings:
    """How key-steps are found. Times are in units of the average step, so that no rate matters."""

    heads: HeadsSettings = field(default_factory=HeadsSettings)
    """The heads and their training."""
    embedding_directions: int = 64
    """Principal directions of the heads' concatenated embeddings that stand beside what was seen."""
    embedding_weight: float = 2.0
    """How strongly they count there; 1 is a value of the embedding as much as a value of what was seen."""
    lengths: tuple[float, ...] = (0.5, 0.7)
    """Average length of a part in each cutting: finer than a step, so that a step may come more than once."""
    teachers: tuple[float, ...] = (0.3, 0.5, 0.75)
    """Groups beyond the key-steps, as a share of these, of the groupings whose metrics pair parts off anew, all of them
    counting alike: a single grouping ends in different places."""
    spare: float = 0.5
    """The same of the last grouping: room for background."""
    rounds: int = 2
    """Pairings by what the last groupings teach."""
    shrinkage: float = 0.3
    """How far the spread within groups is drawn towards a sphere."""
    fuzzifier: float = 1.2
    """m, as in ProCut."""
    cut_rounds: int = 2
    """Prototypes, memberships and cut, from the labels before."""
    change: float = 0.1
    """What a change of label costs, in average steps in which every frame speaks fully for the other label."""


@dataclass(frozen=True, slots=True)
class CorrespondAndCut:
    """Finds steps as what recordings have in common, and background as what they have not.

    >>> rng = np.random.default_rng(0)
    >>> looks = 5 * np.eye(6, dtype=np.float32)[:, None]
    >>> done = [np.concatenate([np.repeat(looks[n], 12, axis=0) for n in order]) for order in ([0, 1, 2], [1, 0, 2])]
    >>> rows = [each + rng.normal(size=each.shape).astype(np.float32) for each in (*done, *done)]
    >>> quick = CorrespondSettings(HeadsSettings(heads=2, iterations=20))
    >>> found = CorrespondAndCut(quick).find(Collection.at_rate(rows, 2.0), k=3, seed=0).labels
    >>> found[0][[5, 18, 30]].tolist() == found[1][[18, 5, 30]].tolist()
    True
    """

    settings: CorrespondSettings = field(default_factory=CorrespondSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        few, step_s = paired_off(fewer(collection, k, seed, most=MOST_FRAMES)), average_step_s(collection, k)
        if len(few.numbers) < LEAST_RECORDINGS or step_s <= 0:
            return self._without_pairs(collection, k, seed)
        some = few.collection()
        look, rows = Look.learn(some, step_s, seed, self.settings)
        recordings = Recordings(rows, some.times, some.rate, step_s)
        labels, ties, grain = correspond(recordings, k, seed, self.settings)
        columns = int(max(each.max() for each in labels)) + 1
        known = memberships_by_others(recordings, labels, columns, self.settings)
        numbers = Candidate(
            labels, put_together(Evidence.of(labels, ties, grain, known, recordings.step), k), k
        ).numbers
        every = dict(zip(few.numbers, labels, strict=True))
        if few.others:
            every |= self._others(few, look, recordings, labels, columns)
        found = tuple(few.all_frames(number, numbers[every[number]]) for number in sorted(every))
        return Found(found, notes=unused([each[each > BACKGROUND] for each in found], k))

    def _others(
        self, few: Fewer, look: Look, recordings: Recordings, labels: list[Labels], columns: int
    ) -> dict[int, Labels]:
        """The groups of recordings that were not paired off, by the prototypes of those that were."""
        prototypes = GroupPrototypes.learn(recordings.rows, labels, columns, self.settings)
        found = {}
        for number in few.others:  # one at a time: there may be very many
            one = few.collection([number])
            own = replace(
                recordings, rows=[look.rows((one.features or one.embeddings)[0], one.times[0])], times=one.times
            )
            [found[number]] = cut_by(prototypes, own, columns, self.settings)
        return found

    def _without_pairs(self, collection: Collection, k: int, seed: int) -> Found:
        """ProCut with fuzzy c-means' own prototypes: one or two recordings cannot vote."""
        features = collection.features or collection.embeddings
        heads = train_heads(features, collection.times, average_step_s(collection, k), seed, self.settings.heads)
        embeddings = tuple(heads.embed(each) for each in features)
        found = ProCut().find(Collection(embeddings, collection.times, collection.rate), k, seed)
        return Found(found.labels, notes=(*found.notes, "too few recordings to pair off: found by ProCut alone"))


@dataclass(frozen=True, slots=True)
class Look:
    """How recordings are looked at: what was seen, and the heads' embedding. Learned from some, good for all."""

    view: View
    heads: TrainedHeads
    directions: Floats  # (H D, e), scaled as they count

    @staticmethod
    def learn(some: Collection, step_s: float, seed: int, settings: CorrespondSettings) -> tuple[Look, list[Floats]]:
        """What was learned, and the rows (T, d) of the recordings it was learned from."""
        features = some.features or some.embeddings
        view, seen = learn_view(features, some.times, step_s, RefineSettings(), is_timeless=True)
        heads = train_heads(features, some.times, step_s, seed, settings.heads)
        embedded = [_centred(heads.embed(each)) for each in features]
        directions = unit_directions(np.concatenate(embedded), settings.embedding_directions)
        directions *= settings.embedding_weight
        pairs = zip(seen, embedded, strict=True)
        return Look(view, heads, directions), [np.concatenate([s, e @ directions], axis=1) for s, e in pairs]

    def rows(self, features: NDArray[np.floating], times: Times) -> Floats:
        """Rows (T, d) of a recording that did not teach."""
        embedded = _centred(self.heads.embed(features)) @ self.directions
        return np.concatenate([self.view.rows(features, times), embedded], axis=1)


@dataclass(frozen=True, slots=True)
class Recordings:
    """Rows (T, d) of some recordings and when they were taken; an average step takes `step_s` seconds."""

    rows: list[Floats]
    times: tuple[Times, ...]
    rate: float
    step_s: float

    @property
    def step(self) -> float:
        """Frames of an average step."""
        return self.step_s * self.rate


@dataclass(frozen=True, slots=True)
class GroupPrototypes:
    """Prototypes (C, e) of groups, in the directions (d, e) that tell them apart.

    >>> two = GroupPrototypes(np.array([0, 2]), np.array([[0.0], [2.0]]), np.eye(1))
    >>> two.memberships(np.array([[1.0], [2.0]]), columns=3, fuzzifier=2.0).round(3).tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    """

    numbers: Labels
    centres: Floats
    directions: Floats

    @staticmethod
    def of(learned: Discriminant) -> GroupPrototypes:
        directions = telling(learned)
        return GroupPrototypes(learned.numbers, learned.centres @ directions, directions)

    @staticmethod
    def learn(
        rows: Sequence[Floats], labels: Sequence[Labels], columns: int, settings: CorrespondSettings
    ) -> GroupPrototypes:
        """Those of rows (T, d) with labels 0..C-1."""
        whole = ClassSums.total(_class_sums(rows, labels, columns))
        return GroupPrototypes.of(whole.discriminant(settings.shrinkage))

    def memberships(self, rows: Floats, columns: int, fuzzifier: float) -> Floats:
        """Fuzzy memberships (T, C) of rows (T, d); nothing is a member of a group without frames."""
        found = np.zeros((len(rows), columns))
        found[:, self.numbers] = memberships(rows @ self.directions, self.centres, fuzzifier)
        return found


def correspond(
    recordings: Recordings, k: int, seed: int, settings: CorrespondSettings
) -> tuple[list[Labels], Floats, Grain]:
    """Groups of every frame of parts that correspond, the ties of grains, and the grain.

    Parts are first paired off by what varies within them, then by what tells groups apart, as several groupings see it.
    """
    rows = recordings.rows
    cuttings = [cut(rows, length * recordings.step, recordings.step) for length in settings.lengths]
    grain = Grain.of(cuttings)

    def grouped(ties: Floats, share: float, attempt: int) -> list[Labels]:
        columns = k + max(1, round(share * k))
        return procut(recordings, groups(ties, grain, columns, seed + attempt), columns, settings)

    ties: Floats = np.sum([match(rows, each, fixed(each.whitening), grain) for each in cuttings], axis=0)
    for _ in range(settings.rounds):
        labels = [grouped(ties, share, attempt) for attempt, share in enumerate(settings.teachers)]
        metrics: list[Metric] = [leave_two_out(rows, each, settings.shrinkage) for each in labels]
        ties = np.sum([match(rows, each, metric, grain) for metric in metrics for each in cuttings], axis=0)
    return grouped(ties, settings.spare, 0), ties, grain


def procut(
    recordings: Recordings, labels: Sequence[Labels], columns: int, settings: CorrespondSettings
) -> list[Labels]:
    """Labels by ProCut, from the prototypes of first labels (columns 0..C-1)."""
    current = list(labels)
    for _ in range(settings.cut_rounds):
        prototypes = GroupPrototypes.learn(recordings.rows, current, columns, settings)
        current = cut_by(prototypes, recordings, columns, settings)
    return current


def cut_by(
    prototypes: GroupPrototypes, recordings: Recordings, columns: int, settings: CorrespondSettings
) -> list[Labels]:
    """The graph cut of each recording: t-links 1 - u, n-links of frames near in time."""
    change_s = settings.change * recordings.step_s
    links = LinkSettings(change_s, radius_s=change_s, decay_s=change_s / 2)
    return settle_all(
        (1.0 - prototypes.memberships(rows, columns, settings.fuzzifier), build_links(times, recordings.rate, links))
        for rows, times in zip(recordings.rows, recordings.times, strict=True)
    )


def memberships_by_others(
    recordings: Recordings, labels: Sequence[Labels], columns: int, settings: CorrespondSettings
) -> Iterator[Floats]:
    """Memberships (T, C) of each recording in the prototypes of the others."""
    sums = _class_sums(recordings.rows, labels, columns)
    whole = ClassSums.total(sums)
    for rows, own in zip(recordings.rows, sums, strict=True):
        prototypes = GroupPrototypes.of(whole.less(own).discriminant(settings.shrinkage))
        yield prototypes.memberships(rows, columns, settings.fuzzifier)


def _class_sums(rows: Sequence[Floats], labels: Sequence[Labels], columns: int) -> list[ClassSums]:
    return [ClassSums.of(each, own, np.arange(columns)) for each, own in zip(rows, labels, strict=True)]


def _centred(embedding: NDArray[np.floating]) -> Floats:
    return np.asarray(embedding.astype(np.float64) - embedding.mean(0))
