"""One task to score on: what was seen in its recordings, and what was truly done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from guide.domain import BACKGROUND, Features, Labels
from guide.errors import InputError
from guide.teach.collection import Collection
from offline.features import RecordingFeatures, collection_of


@dataclass(frozen=True, slots=True)
class LabelledTask:
    """Recordings of one task with their true labels, frame by frame.

    >>> seen = RecordingFeatures("a", 1.0, np.arange(3.0), np.zeros((3, 4), np.float32))
    >>> LabelledTask("1", "tea", {1: "boil"}, (seen,), (np.array([0, 1, 1]),)).k
    1
    """

    word: str
    """What the command line calls it."""
    name: str
    steps: Mapping[int, str]
    recordings: tuple[RecordingFeatures, ...]
    truth: tuple[Labels, ...]
    notes: tuple[str, ...] = ()
    """What was resolved, missing or changed while it was read."""
    subset: str | None = None
    """What the published tables call the data set, where it is one of theirs."""
    is_seen: bool = True
    """False where there are labels only: then nothing that looks can be scored."""
    view: str = ""
    """The camera, where one was asked for."""

    def __post_init__(self) -> None:
        lengths = [len(recording) for recording in self.recordings], [len(labels) for labels in self.truth]
        if lengths[0] != lengths[1]:
            raise ValueError(f"{self.word}: recordings of {lengths[0]} frames came with labels of {lengths[1]}")

    @property
    def k(self) -> int:
        """How many key-steps are truly done in these recordings."""
        return len(np.unique(np.concatenate([labels[labels > BACKGROUND] for labels in self.truth])))

    @property
    def frames(self) -> int:
        return sum(len(labels) for labels in self.truth)

    @property
    def title(self) -> str:
        title = self.name if self.name == self.word else f"{self.word} {self.name}"
        return f"{title}, view {self.view}" if self.view else title

    def collection(self, embeddings: tuple[Features, ...] | None = None) -> Collection:
        """The recordings as finders take them; without embeddings, the means stand in for them."""
        rows = embeddings or tuple(np.asarray(recording.means, np.float32) for recording in self.recordings)
        return collection_of(self.recordings, rows)

    def seen(self) -> Collection:
        """The recordings as labels are carried over them: all that was pooled counts."""
        pooled = tuple(recording.pooled for recording in self.recordings)
        rows = tuple(np.asarray(each, np.float32) for each in pooled)
        return Collection(rows, tuple(r.times for r in self.recordings), self.recordings[0].rate, pooled)


def require_steps(task: LabelledTask) -> LabelledTask:
    """The task itself; raises InputError where nothing in it is labelled."""
    if not task.recordings or task.k == 0:
        raise InputError(
            f"{task.title} should have recordings with true steps, got {len(task.recordings)} recordings with "
            f"{task.k if task.recordings else 0} steps: check its labels."
        )
    return task
