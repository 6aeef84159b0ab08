"""What a method finds in a task: its embedder trained where it needs one, its labels kept between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from guide.teach.collection import Collection, Found
from guide.teach.spread import Spread
from offline.config import Recipe
from offline.keysteps.base import Finder
from offline.keysteps.choose import choose_k
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut
from offline.keysteps.registry import finder
from offline.study.evaluation.embedders import Embedders, TrainingProgress
from offline.study.evaluation.methods import BLIND, RAW, Method
from offline.study.evaluation.task import LabelledTask
from offline.study.keep import Kept, content_key, source_hash

SOURCES: Final = (
    "offline.keysteps", "guide.fading", "guide.label", "guide.perceive.appearance", "guide.teach.collection",
    "guide.teach.consensus", "guide.teach.lesson", "guide.teach.reorder", "guide.teach.spread", "guide.teach.subsample",
    "guide.teach.view", "offline.losses", "offline.paper", "offline.study.evaluation.task", "offline.features",
)  # fmt: skip
"""The code that decides what is found; a test sees to it that none is forgotten."""


@dataclass(frozen=True, slots=True)
class Search:
    """Finds key-steps by any method; `recipe` is what embedders are trained by, but for loss and number of steps."""

    recipe: Recipe
    embedders: Embedders

    @property
    def kept(self) -> Kept:
        return Kept(self.embedders.folder / "found")

    def find(
        self,
        task: LabelledTask,
        method: Method,
        k: int,
        seed: int,
        tell: TrainingProgress,
        trained_for: int | None = None,
    ) -> Found:
        """Labels of the method with that seed: what it found the last time, if numbers and code are the same.

        Its embedder is trained for k key-steps too, unless for another number, as before k was chosen.
        """
        if method.clusterer in BLIND:
            return finder(method.clusterer).find(task.collection(), k, seed)
        steps = trained_for or k
        seen = self.embedding_key(task, method.loss, steps, seed)
        parts = (method.name, k, seed, self.recipe.fuzzifier, seen, source_hash(*SOURCES))
        key = content_key(task.recordings, *parts)
        found = self._read(key, len(task.recordings))
        if found is None:
            found = self._finder(method).find(self.collection(task, method.loss, steps, seed, tell), k, seed)
            self._write(key, found)
        return found

    def choose(self, task: LabelledTask, loss: str, tell: Callable[[str], None]) -> tuple[int, str]:
        """The number of key-steps chosen without labels, as training chooses it, and why; kept like what is found.

        In the embedding of one loss: a number for all methods, so that they compare.
        """
        kept, k = Kept(self.embedders.folder / "chosen"), self.recipe.steps
        key = content_key(task.recordings, "choose", self.embedding_key(task, loss, k, 0), source_hash(*SOURCES))
        arrays = kept.read(key)
        if arrays is None or not {"k", "reason"} <= set(arrays):
            seen = self.collection(task, loss, k, 0, lambda _, words: tell(f"training for that, {words}"))
            choice = choose_k(seen, 0, report=lambda k, value: tell(f"{k} say {value:.2f} nats of each other"))
            arrays = {"k": np.array(choice.k), "reason": np.array(choice.reason)}
            kept.write(key, arrays)
        return int(arrays["k"]), f"K = {arrays['k']} chosen: {arrays['reason']}"

    def carry(self, task: LabelledTask, labelled: Sequence[int]) -> Found:
        """Labels of all recordings from the true ones of those that are labelled, with their step numbers."""
        given = [truth if number in labelled else None for number, truth in enumerate(task.truth)]
        said = hashlib.sha256(b"".join(each.tobytes() for each in given if each is not None)).hexdigest()
        key = content_key(task.recordings, "spread", sorted(labelled), said, source_hash(*SOURCES))
        found = self._read(key, len(task.recordings))
        if found is None:
            found = Spread().spread(task.seen(), given)
            self._write(key, found)
        return found

    def collection(self, task: LabelledTask, loss: str | None, k: int, seed: int, tell: TrainingProgress) -> Collection:
        """The task in the embedding of a loss; without one, as the trunk sees it."""
        if loss is None or loss == RAW:
            return task.collection()
        return task.collection(self.embedders.embeddings(task.recordings, self._recipe(loss, k), seed, tell))

    def embedding_key(self, task: LabelledTask, loss: str | None, k: int, seed: int) -> str:
        """Names the embedding of a loss; empty where there is none."""
        if loss is None or loss == RAW:
            return ""
        return self.embedders.key(task.recordings, self._recipe(loss, k), seed)

    def _recipe(self, loss: str, k: int) -> Recipe:
        return replace(self.recipe, loss=loss, k=k)  # type: ignore[arg-type]  # names were checked when they came in

    def _finder(self, method: Method) -> Finder:
        if method.clusterer == "pcm":
            return ProCut(FuzzySettings(self.recipe.fuzzifier))
        return finder(method.clusterer)

    def _write(self, key: str, found: Found) -> None:
        labels = {f"labels_{number}": each for number, each in enumerate(found.labels)}
        self.kept.write(key, {"notes": np.array(found.notes, dtype=np.str_), **labels})

    def _read(self, key: str, count: int) -> Found | None:
        arrays = self.kept.read(key)
        if arrays is None or len(arrays) != count + 1:
            return None
        notes = tuple(str(note) for note in arrays["notes"])
        return Found(tuple(arrays[f"labels_{number}"] for number in range(count)), notes=notes)
