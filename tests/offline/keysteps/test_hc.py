"""Hard clusters: k-means labels, numbered by time."""

from __future__ import annotations

import numpy as np

from guide.teach.collection import Collection
from offline.keysteps.hc import HardClusters


def test_hard_clusters_number_steps_by_time() -> None:
    embedding = np.repeat([[9.0], [1.0], [5.0]], 10, axis=0).astype(np.float32)
    found = HardClusters().find(Collection.at_rate([embedding, embedding[:20]], 1.0), k=3, seed=0)
    assert found.labels[0].tolist() == [1] * 10 + [2] * 10 + [3] * 10
    assert found.labels[1].tolist() == [1] * 10 + [2] * 10
    assert found.centres is not None
    assert found.centres[:, 0].tolist() == [9.0, 1.0, 5.0]
