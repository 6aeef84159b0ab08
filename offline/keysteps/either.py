"""Either: what our two finders find, and of the two what makes more sense as a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from guide.domain import BACKGROUND
from guide.teach.collection import Collection, Found
from guide.teach.refine import RefineSettings
from guide.teach.subsample import fewer
from guide.teach.view import look_again
from offline.keysteps.base import Finder, average_step_s, check_k
from offline.keysteps.consistency import sense
from offline.keysteps.matched import LEAST_RECORDINGS, Matched
from offline.keysteps.ours import Ours


@dataclass(frozen=True, slots=True)
class Either:
    """Finds with time (`ours`) and by looks (`matched`), and keeps what the recordings recognise in each other.

    Where steps look different and come in many orders, pairing off finds what a clock would blur; where steps look
    alike and only their place tells them apart, it is the other way round. Which it is nobody says beforehand.

    >>> embedding = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> Either().find(Collection.at_rate([embedding] * 3, 2.0), k=2, seed=0).labels[0][[0, -1]]
    array([1, 2])
    """

    finders: tuple[tuple[str, Finder], ...] = (("looking again", Ours()), ("pairing off", Matched()))
    """By the names that the note about them has."""
    settings: RefineSettings = field(default_factory=RefineSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        (name, first), *others = self.finders
        found = {name: first.find(collection, k, seed)}
        if len(collection.times) < LEAST_RECORDINGS:
            return found[name]
        found |= {other: finder.find(collection, k, seed) for other, finder in others}
        worths = self._worths(collection, found, k, seed)
        best = max(found, key=lambda name: worths[name])
        told = ", ".join(f"{name} {share:.2f}" for name, (_, share) in worths.items())
        return replace(
            found[best], notes=(*found[best].notes, f"key-steps by {best} (how much sense they make: {told})")
        )

    def _worths(
        self, collection: Collection, found: Mapping[str, Found], k: int, seed: int
    ) -> dict[str, tuple[int, float]]:
        """How many steps label any frame, and how much sense they make."""
        step_s = average_step_s(collection, k)
        few = fewer(collection, k, seed)
        some = few.collection()
        rows = look_again(some.features or some.embeddings, some.times, step_s, self.settings)
        worths = {}
        for name, one in found.items():
            labels = [few.thin(one.labels[number]) for number in few.numbers]
            used = len(np.setdiff1d(np.concatenate(one.labels), [BACKGROUND]))
            worths[name] = used, sense(rows, labels, k, self.settings)
        return worths
