"""The ProCut Module: fuzzy memberships give t-links 1 - u, the cut gives labels that hold together in time."""

from __future__ import annotations

from dataclasses import dataclass, field

from guide.label.cut import settle_all
from guide.label.energy import LinkSettings, build_links
from guide.label.membership import memberships
from guide.teach.collection import Collection, Found
from offline.keysteps.base import numbered
from offline.keysteps.fcm import FuzzySettings, fuzzy_clusters


@dataclass(frozen=True, slots=True)
class ProCut:
    """Fuzzy c-means over all recordings, then one cut a recording: no link runs from one recording to the next.

    >>> import numpy as np
    >>> embedding = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    >>> embedding[10] = 4.0  # a glimpse of the second step
    >>> ProCut().find(Collection.at_rate([embedding], 2.0), k=2, seed=0).labels[0][8:12]
    array([1, 1, 1, 1])
    """

    clusters: FuzzySettings = field(default_factory=FuzzySettings)
    links: LinkSettings = field(default_factory=LinkSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        found = fuzzy_clusters(collection, k, seed, self.clusters)
        links = self.links.capped(shortest_s(collection) / k)
        labels = settle_all(
            (
                1.0 - memberships(embedding, found.centres, self.clusters.fuzzifier),
                build_links(times, collection.rate, links),
            )
            for embedding, times in zip(collection.embeddings, collection.times, strict=True)
        )
        return numbered(labels, found.centres, found.notes)


def shortest_s(collection: Collection) -> float:
    """The shortest recording's length in seconds: steps must fit into it."""
    return min(collection.lengths) / collection.rate
