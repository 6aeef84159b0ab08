"""Correspond and cut: parts of recordings that correspond give the prototypes, ProCut gives the labels.

1. Embed. Recordings have two views: the embedding of TC3I's heads, and what was seen, less the person and the room.
2. Correspond. In each view recordings are cut where rows change, and the parts of every two recordings are paired off
   one to one. Wrong pairs of the two views contradict each other, right ones agree: parts that all pairings tie
   together are one group, the start of one prototype. There are more groups than key-steps.
3. Cut. Fuzzy memberships in the prototypes give the t-links, frames near in time the n-links, the graph cut the labels.
4. Select. The k groups most like steps, some of them several in one, are the key-steps. The prototypes of all other
   groups are those of background, so background takes part in the cut as every step does. What recordings look like
   as they begin is one more: somebody starts the camera, and then the work.

How long a step lasts nobody says: steps may come back, and pauses be long. So all this is done for several lengths, and
what the recordings say of each other's steps chooses among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from guide.domain import BACKGROUND, Features, Labels
from guide.label.cut import settle_all
from guide.label.directions import unit_directions
from guide.label.discriminant import ClassSums, Discriminant, leave_each_out
from guide.label.energy import LinkSettings, build_links
from guide.label.membership import memberships
from guide.teach.collection import Collection, Found
from guide.teach.lesson import Floats, LessonSettings
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view
from offline.keysteps.base import average_step_s, check_k, unused
from offline.keysteps.grouping import Evidence, number_groups, put_together
from offline.keysteps.matching import Grain, fixed, groups, leave_two_out, match, telling
from offline.keysteps.parts import cut
from offline.keysteps.pcm import ProCut

LEAST_RECORDINGS = 3  # two alone can be paired off any way
FEW = (
    f"with fewer than {LEAST_RECORDINGS} recordings, or very short ones, they cannot be compared with each other: the "
    "steps are less sure, so film more"
)
MOST_FRAMES = 6_000  # in all recordings that are paired off: parts are cut by way of all pairs of a recording's frames
LEAD_IN_ROUNDS = 2  # the first looks at equally long beginnings
MOST_RECORDINGS = 30  # that are paired off: every two of them, many times over
SHORTEST_STEP = 8  # frames an average step must have, or it cannot be told from a slip
VISIT_POWER = 0.3  # of the visits: beginning a step again and again speaks against it, but some steps do repeat


@dataclass(frozen=True, slots=True)
class CorrespondSettings:
    """How key-steps are found. Times are in units of the average step, so that no rate matters."""

    shorter: tuple[float, ...] = (1.0, 1.4, 2.8)
    """How many times shorter than its share of the recording an average step may be: all are tried. The more often
    steps come, and the longer the background, the less of a recording one of them takes."""
    embedding_directions: int = 64
    """Principal directions of the heads' embeddings."""
    lengths: tuple[float, ...] = (0.42, 0.5, 0.6, 0.75)
    """Average length of a part in each cutting: finer than a step, so that a step may come more than once."""
    spare: float = 0.5
    """Groups beyond the key-steps, as a share of these: room for background."""
    rounds: int = 1
    """Times that parts are paired off anew by what tells the groups found so far apart."""
    shrinkage: float = 0.3
    """How far the spread within groups is drawn towards a sphere."""
    fuzzifier: float = 1.2
    """m, as in ProCut."""
    lead_in: float = 0.25
    """How long nothing has been done, or hardly: of a recording's beginning, in average steps."""
    change: float = 0.1
    """What a change of label costs, in average steps in which every frame speaks fully for the other label."""


@dataclass(frozen=True, slots=True)
class CorrespondAndCut:
    """Finds steps as what recordings have in common, and background as what they have not.

    >>> rng = np.random.default_rng(0)
    >>> looks = 5 * np.eye(6, dtype=np.float32)[:, None]
    >>> done = [np.concatenate([np.repeat(looks[n], 12, axis=0) for n in order]) for order in ([0, 1, 2], [1, 0, 2])]
    >>> rows = [each + rng.normal(size=each.shape).astype(np.float32) for each in (*done, *done)]
    >>> found = CorrespondAndCut().find(Collection.at_rate(rows, 2.0), k=3, seed=0).labels
    >>> found[0][[5, 18, 30]].tolist() == found[1][[18, 5, 30]].tolist()
    True
    """

    settings: CorrespondSettings = field(default_factory=CorrespondSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        step_s = average_step_s(collection, k)
        if len(collection.times) < LEAST_RECORDINGS or step_s <= 0:
            found = ProCut().find(collection, k, seed)
            return replace(found, notes=(*found.notes, FEW))
        few = paired_off(collection, k, seed)
        some = few.collection()
        shortest_s = min(step_s, SHORTEST_STEP / some.rate)
        steps_s = [step_s / times for times in self.settings.shorter if step_s / times >= shortest_s] or [step_s]
        tried = (self._correspond(some, each_s, k, seed) for each_s in steps_s)
        corresponding = max(tried, key=lambda one: shared_information(one.looked.rows, one.steps, k))
        every = dict(zip(few.numbers, corresponding.steps, strict=True))
        others = (few.collection([number]) for number in few.others)  # one at a time: there may be very many
        every |= dict(zip(few.others, corresponding.carried(others, self.settings), strict=True))
        labels = tuple(few.all_frames(number, every[number]) for number in sorted(every))
        return Found(labels, notes=unused([each[each > BACKGROUND] for each in labels], k))

    def _correspond(self, some: Collection, step_s: float, k: int, seed: int) -> Correspondence:
        return correspond(look(some, step_s, self.settings), step_s, k, seed, self.settings)


@dataclass(frozen=True, slots=True)
class Views:
    """How recordings are looked at: what was seen, and the heads' embedding. Learned from some, good for all."""

    seen: View
    directions: Floats  # (D, e) of embeddings, of unit spread

    def of(self, some: Collection) -> tuple[list[Floats], list[Floats]]:
        """What was seen (T, d) in each recording, and its embedding (T, e)."""
        seen = [self.seen.rows(*each) for each in zip(some.features or some.embeddings, some.times, strict=True)]
        return seen, [_centred(each) @ self.directions for each in some.embeddings]


@dataclass(frozen=True, slots=True)
class Looked:
    """Recordings as they are paired off: each view's rows."""

    some: Collection
    views: Views
    apart: tuple[list[Floats], list[Floats]]

    @property
    def rows(self) -> list[Floats]:
        """Both views side by side."""
        return _side_by_side(self.apart)


def look(some: Collection, step_s: float, settings: CorrespondSettings) -> Looked:
    """Recordings in both views; what a frame is compared with reaches as far as `step_s` says."""
    seen, _ = learn_view(some.features or some.embeddings, some.times, step_s, LessonSettings())
    embedded = np.concatenate([_centred(each) for each in some.embeddings])
    views = Views(seen, unit_directions(embedded, settings.embedding_directions))
    return Looked(some, views, views.of(some))


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
        sums = [ClassSums.of(each, own, np.arange(columns)) for each, own in zip(rows, labels, strict=True)]
        return GroupPrototypes.of(ClassSums.total(sums).discriminant(settings.shrinkage))

    def memberships(self, rows: Floats, columns: int, fuzzifier: float) -> Floats:
        """Fuzzy memberships (T, C) of rows (T, d); nothing is a member of a group without frames."""
        found = np.zeros((len(rows), columns))
        found[:, self.numbers] = memberships(rows @ self.directions, self.centres, fuzzifier)
        return found


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Groups of every frame of some recordings, and the key-step of each group, 0 for background."""

    looked: Looked
    groups: list[Labels]
    numbers: Labels
    step_s: float

    @property
    def steps(self) -> list[Labels]:
        """The key-step of every frame."""
        return [self.numbers[each] for each in self.groups]

    def carried(self, others: Iterable[Collection], settings: CorrespondSettings) -> Iterator[Labels]:
        """The key-steps of recordings that were not paired off, by the prototypes of those that were."""
        columns = len(self.numbers)
        prototypes = GroupPrototypes.learn(self.looked.rows, self.groups, columns, settings)
        for one in others:
            [found] = cut_by(prototypes, _side_by_side(self.looked.views.of(one)), one, columns, self.step_s, settings)
            yield self.numbers[found]


def paired_off(collection: Collection, k: int, seed: int) -> Fewer:
    """What is paired off: of very many recordings every so-maniest, since pairs grow with the square."""
    few = fewer(collection, k, seed, most=MOST_FRAMES, least=LEAST_RECORDINGS)
    count = min(len(few.numbers), MOST_RECORDINGS)
    return replace(few, numbers=tuple(few.numbers[n * len(few.numbers) // count] for n in range(count)))


def correspond(looked: Looked, step_s: float, k: int, seed: int, settings: CorrespondSettings) -> Correspondence:
    """Groups of parts that correspond, and which of them are k key-steps of `step_s` seconds on average.

    Parts are first paired off by what varies within them, then anew by what tells groups apart.
    """
    some, rows, step = looked.some, looked.rows, step_s * looked.some.rate
    cuttings = [(view, cut(view, length * step, step)) for view in looked.apart for length in settings.lengths]
    grain = Grain.of([each for _, each in cuttings])
    columns = k + max(1, round(settings.spare * k))

    def grouped(ties: Floats) -> list[Labels]:
        started = groups(ties, grain, columns, seed)
        prototypes = GroupPrototypes.learn(rows, started, columns, settings)
        return cut_by(prototypes, rows, some, columns, step_s, settings)

    ties = _total(match(view, each, fixed(each.whitening), grain) for view, each in cuttings)
    labels = grouped(ties)
    for _ in range(settings.rounds):
        metrics = {id(view): leave_two_out(view, labels, settings.shrinkage) for view in looked.apart}
        ties = _total(match(view, each, metrics[id(view)], grain) for view, each in cuttings)
        labels = grouped(ties)
    known = memberships_by_others(rows, labels, settings)
    numbers = number_groups(labels, put_together(Evidence.of(labels, ties, grain, known, step), k), k)
    if settings.lead_in:
        labels = _with_lead_in(looked, labels, len(numbers), step_s, settings)
        numbers = np.append(numbers, BACKGROUND)
    return Correspondence(looked, labels, numbers, step_s)


def _with_lead_in(
    looked: Looked, labels: list[Labels], group: int, step_s: float, settings: CorrespondSettings
) -> list[Labels]:
    """Groups 0..`group` - 1 and one more: what comes first in a recording, as far as it looks like all beginnings.

    Until the work begins the workplace is as the first step finds it. So waiting is found as part of that step, and
    whoever leaves the step out would seem to do it by waiting.
    """
    first = max(1, round(settings.lead_in * step_s * looked.some.rate))
    waited = [min(first, len(each)) for each in labels]
    for _ in range(LEAD_IN_ROUNDS):
        found = [np.append(np.full(count, group), own[count:]) for count, own in zip(waited, labels, strict=True)]
        prototypes = GroupPrototypes.learn(looked.rows, found, group + 1, settings)
        cut_anew = cut_by(prototypes, looked.rows, looked.some, group + 1, step_s, settings)
        waited = [int(np.argmin(np.append(each == group, False))) for each in cut_anew]
    return [np.append(np.full(count, group), own[count:]) for count, own in zip(waited, labels, strict=True)]


def _total(votes: Iterable[Floats]) -> Floats:
    """The sum of votes (G, G), of which two are held at a time."""
    return reduce(np.add, votes)


def cut_by(
    prototypes: GroupPrototypes,
    rows: Sequence[Floats],
    some: Collection,
    columns: int,
    step_s: float,
    settings: CorrespondSettings,
) -> list[Labels]:
    """ProCut's cut of each recording's rows (T, d): t-links 1 - u, n-links of frames near in time."""
    change_s = settings.change * step_s
    links = LinkSettings(change_s, radius_s=change_s, decay_s=change_s / 2)
    return settle_all(
        (1.0 - prototypes.memberships(each, columns, settings.fuzzifier), build_links(times, some.rate, links))
        for each, times in zip(rows, some.times, strict=True)
    )


def memberships_by_others(
    rows: Sequence[Floats], labels: Sequence[Labels], settings: CorrespondSettings
) -> Iterator[Floats]:
    """Memberships (T, C) of each recording's rows (T, d) in the prototypes of the others, of labels 0..C-1."""
    columns = int(max(each.max() for each in labels)) + 1
    for each, learned in zip(rows, leave_each_out(rows, labels, settings.shrinkage), strict=True):
        yield GroupPrototypes.of(learned).memberships(each, columns, settings.fuzzifier)


def shared_information(rows: Sequence[Floats], labels: Sequence[Labels], k: int) -> float:
    """Mutual information of labels 0..k and what the other recordings make of the rows, weighed by presence."""
    counts = np.zeros((k + 1, k + 1))
    for each, judged in zip(labels, memberships_by_others(rows, labels, CorrespondSettings()), strict=True):
        np.add.at(counts, each, np.pad(judged, ((0, 0), (0, k + 1 - judged.shape[1]))))
    joint = counts / counts.sum()
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    positive = joint > 0
    shared = float((joint[positive] * np.log(joint[positive] / apart[positive])).sum())
    visits = np.array([_visits(each, k + 1) for each in labels])[:, 1:]
    return float(shared * (visits > 0).mean() * max(visits.mean(), 1.0) ** -VISIT_POWER)


def _visits(labels: Labels, columns: int) -> Labels:
    """How often each column is begun, (C,)."""
    return np.asarray(np.bincount(labels[np.r_[True, labels[1:] != labels[:-1]]], minlength=columns))


def _side_by_side(apart: tuple[list[Floats], list[Floats]]) -> list[Floats]:
    return [np.concatenate(both, axis=1) for both in zip(*apart, strict=True)]


def _centred(embedding: Features) -> Floats:
    return np.asarray(embedding.astype(np.float64) - embedding.mean(0))
