"""The number of key-steps chosen without labels: the same choice as training makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from offline.keysteps.choose import choose_k
from offline.study.evaluation.finding import SOURCES, Search
from offline.study.evaluation.task import LabelledTask
from offline.study.keep import Kept, content_key, source_hash

SEED: Final = 0


@dataclass(frozen=True, slots=True)
class ChosenCount:
    """A number of key-steps and why it was chosen.

    >>> ChosenCount(6, "beyond 6, more steps say little that is new").note
    'K = 6 chosen: beyond 6, more steps say little that is new'
    """

    k: int
    reason: str

    @property
    def note(self) -> str:
        return f"K = {self.k} chosen: {self.reason}"


def choose_count(search: Search, task: LabelledTask, loss: str, tell: Callable[[str], None]) -> ChosenCount:
    """The number chosen in the embedding of `loss`: one for all methods, so that they compare.

    What was chosen the last time, if numbers and code are the same.
    """
    kept = Kept(search.embedders.folder / "chosen")
    seen = search.embedding_key(task, loss, search.recipe.steps, SEED)
    key = content_key(task.recordings, "choose", seen, source_hash(*SOURCES))
    arrays = kept.read(key)
    if arrays is None or not {"k", "reason"} <= set(arrays):
        collection = search.collection(
            task, loss, search.recipe.steps, SEED, lambda _, words: tell(f"training for that, {words}")
        )
        choice = choose_k(collection, SEED, report=lambda k, value: tell(f"{k} say {value:.2f} nats of each other"))
        arrays = {"k": np.array(choice.k), "reason": np.array(choice.reason)}
        kept.write(key, arrays)
    return ChosenCount(int(arrays["k"]), str(arrays["reason"]))
