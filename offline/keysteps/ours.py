"""Ours: ProCut on the embeddings, then rounds of looking again at what the trunk saw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from offline.keysteps.base import Collection, Found, numbered
from offline.keysteps.pcm import ProCut
from offline.keysteps.refine import RefineSettings, look_again, refine, set_background_apart


@dataclass(frozen=True, slots=True)
class Ours:
    """Finds with time, then looks again without it: the recogniser of each round sees no clock, only the prior does.

    >>> embedding = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> Ours().find(Collection.at_rate([embedding, embedding], 2.0), k=2, seed=0).labels[0][[0, -1]]
    array([1, 2])
    """

    start: ProCut = field(default_factory=ProCut)
    settings: RefineSettings = field(default_factory=RefineSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        first = self.start.find(collection, k, seed)
        step_s = float(np.median([times[-1] - times[0] for times in collection.times])) / k
        rows = look_again(collection.features or collection.embeddings, collection.times, step_s, self.settings)
        labels = refine(rows, [each - 1 for each in first.labels], collection.rate, step_s, self.settings)
        found = numbered(labels, _centres(collection, labels, k), first.notes)
        if not self.settings.background:
            return found
        columns = [each - 1 for each in found.labels]
        apart = set_background_apart(rows, columns, collection.rate, step_s, self.settings)
        return replace(found, labels=tuple(each + 1 for each in apart))


def _centres(collection: Collection, labels: list[NDArray[np.int64]], k: int) -> NDArray[np.float64]:
    rows, columns = np.concatenate(collection.embeddings).astype(np.float64), np.concatenate(labels)
    return np.stack([rows[columns == n].mean(0) if (columns == n).any() else rows.mean(0) for n in range(k)])
