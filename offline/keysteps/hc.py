"""Hard clustering: k-means on the embeddings, each frame to its nearest centre (the paper's "HC" ablation)."""

from __future__ import annotations

from dataclasses import dataclass, field

from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, numbered
from offline.keysteps.kmeans import KMeansSettings, kmeans, nearest, sample


@dataclass(frozen=True, slots=True)
class HardClusters:
    """k-means without any link between frames.

    >>> import numpy as np
    >>> embedding = np.array([[0.0], [0.1], [5.0], [5.1]], np.float32)
    >>> HardClusters().find(Collection.at_rate([embedding], 1.0), k=2, seed=0).labels[0]
    array([1, 1, 2, 2])
    """

    settings: KMeansSettings = field(default_factory=KMeansSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        centres = kmeans(sample(collection, self.settings.most_frames, seed), k, seed, self.settings)
        return numbered([nearest(embedding, centres)[0] for embedding in collection.embeddings], centres)
