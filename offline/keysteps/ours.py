"""Ours: clusters of embedding and features together, then rounds of looking again at what the trunk saw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels
from guide.teach.collection import Collection, Found
from guide.teach.refine import (
    Floats,
    Lesson,
    RefineSettings,
    Shown,
    agreement,
    apart,
    doubtful,
    recognised,
    refine,
    teach,
)
from guide.teach.subsample import Fewer, fewer
from guide.teach.view import View, learn_view
from offline.keysteps.base import average_step_s, check_k, numbered, rows_of, unused
from offline.keysteps.hc import HardClusters
from offline.keysteps.opening import without_waiting


@dataclass(frozen=True, slots=True)
class Ours:
    """Finds with time, then looks again without it: what judges in each round sees no clock, only the prior does.

    How much of the history there is in the look of a step differs from task to task. So several starts mix embedding
    and features in different proportions, each is refined, and the one that makes most sense as a task is kept.

    >>> embedding = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> Ours().find(Collection.at_rate([embedding, embedding], 2.0), k=2, seed=0).labels[0][[0, -1]]
    array([1, 2])
    """

    settings: RefineSettings = field(default_factory=RefineSettings)
    embedding_weights: tuple[float, ...] = (0.5, 1.0, 2.0)
    """How strongly a start listens to the embedding, beside the features."""
    tries: int = 3
    """Starts of each kind: clustering ends in different places."""

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        step_s = average_step_s(collection, k)
        few = fewer(collection, k, seed)
        some = few.collection()
        view, rows = learn_view(some.features or some.embeddings, some.times, step_s, self.settings)
        best = self._best(some, rows, k, seed, step_s)
        found = numbered(best, _centres(some, best, k))
        columns = [each - 1 for each in found.labels]
        carrier = _Carrier(few, view, self.settings, self.settings.change * step_s * some.rate)
        labels = carrier.labels(rows, columns, k)
        if self.settings.background:
            labels = without_waiting(few, labels, step_s)
        return replace(found, labels=labels, notes=unused([each[each > BACKGROUND] for each in labels], k))

    def _best(self, collection: Collection, rows: list[Floats], k: int, seed: int, step_s: float) -> list[Labels]:
        candidates = [
            refine(rows, start, collection.rate, step_s, self.settings)
            for weight in self.embedding_weights
            for start in self._starts(_mixed(collection, rows, weight), k, seed)
        ]
        return max(candidates, key=lambda labels: agreement(rows, labels, k, self.settings))

    def _starts(self, mixed: Collection, k: int, seed: int) -> list[list[Labels]]:
        finder = HardClusters()
        return [
            [each - 1 for each in finder.find(mixed, k, self.tries * seed + attempt).labels]
            for attempt in range(self.tries)
        ]


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Takes labels of some recordings, in fewer frames, to all frames of all."""

    few: Fewer
    view: View
    settings: RefineSettings
    change: float

    def labels(self, rows: list[Floats], columns: list[Labels], k: int) -> tuple[Labels, ...]:
        """Labels 1..K of every frame, 0 where background is set apart; from columns 0..K-1 of some recordings."""
        agreed = recognised(rows, columns, self.settings) if self.settings.background else []
        doubt = doubtful(agreed, self.settings) if agreed else 0.0
        marked = [apart(each, seen, doubt, self.change) for each, seen in zip(columns, agreed, strict=bool(agreed))]
        every = dict(zip(self.few.numbers, marked or columns, strict=True))
        if self.few.others:
            lesson = teach([Shown.of(each) for each in rows], columns, k, self.settings)
            every |= {number: self._carried(number, lesson, doubt) for number in self.few.others}
        return tuple(self.few.all_frames(number, every[number] + 1) for number in sorted(every))

    def _carried(self, number: int, lesson: Lesson, doubt: float) -> Labels:
        """Labels of a recording that taught nothing."""
        row = rows_of(self.few, number, self.view)
        labels = lesson.label(row, self.change, self.settings)
        if not doubt:
            return labels
        agreed = lesson.probabilities(row, self.settings)[np.arange(len(labels)), labels]
        return apart(labels, agreed, doubt, self.change)


def _mixed(collection: Collection, rows: list[Floats], weight: float) -> Collection:
    """Rows and embeddings side by side, each of unit spread, the embeddings `weight` times."""
    spread, reach = float(np.concatenate(rows).std()) or 1.0, float(np.concatenate(collection.embeddings).std()) or 1.0
    pairs = zip(rows, collection.embeddings, strict=True)
    joint = [np.concatenate([row / spread, weight * embedding / reach], axis=1) for row, embedding in pairs]
    return Collection(tuple(each.astype(np.float32) for each in joint), collection.times, collection.rate)


def _centres(collection: Collection, labels: list[NDArray[np.int64]], k: int) -> NDArray[np.float64]:
    rows, columns = np.concatenate(collection.embeddings).astype(np.float64), np.concatenate(labels)
    return np.stack([rows[columns == n].mean(0) if (columns == n).any() else rows.mean(0) for n in range(k)])
