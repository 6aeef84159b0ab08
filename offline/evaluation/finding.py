"""What a method finds in a task: its embedder trained where it needs one, its labels kept between runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from offline.config import Recipe
from offline.evaluation.embedders import Embedders, Telling
from offline.evaluation.keep import Kept, content_key, source_hash
from offline.evaluation.methods import BLIND, RAW, Method
from offline.evaluation.task import LabelledTask
from offline.keysteps.base import Collection, Finder, Found
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut
from offline.keysteps.registry import finder

SOURCES: Final = ("offline.keysteps", "guide.label", "guide.perceive.appearance")


@dataclass(frozen=True, slots=True)
class Search:
    """Finds key-steps by any method; `recipe` is what embedders are trained by, but for loss and number of steps."""

    recipe: Recipe
    embedders: Embedders

    @property
    def kept(self) -> Kept:
        return Kept(self.embedders.folder / "found")

    def find(self, task: LabelledTask, method: Method, k: int, seed: int, tell: Telling) -> Found:
        """Labels of the method with that seed: what it found the last time, if numbers and code are the same."""
        if method.clusterer in BLIND:
            return finder(method.clusterer).find(task.collection(), k, seed)
        key = self._key(task, method, k, seed)
        found = self._read(key, len(task.recordings))
        if found is None:
            found = self._finder(method).find(self.collection(task, method.loss, k, seed, tell), k, seed)
            labels = {f"labels_{number}": each for number, each in enumerate(found.labels)}
            self.kept.write(key, {"notes": np.array(found.notes, dtype=np.str_), **labels})
        return found

    def collection(self, task: LabelledTask, loss: str | None, k: int, seed: int, tell: Telling) -> Collection:
        """The task in the embedding of a loss; without one, as the trunk sees it."""
        if loss is None or loss == RAW:
            return task.collection()
        return task.collection(self.embedders.embeddings(task.recordings, self._recipe(loss, k), seed, tell))

    def _recipe(self, loss: str, k: int) -> Recipe:
        return replace(self.recipe, loss=loss, k=k)  # type: ignore[arg-type]  # names were checked when they came in

    def _finder(self, method: Method) -> Finder:
        if method.clusterer == "pcm":
            return ProCut(FuzzySettings(self.recipe.fuzzifier))
        return finder(method.clusterer)

    def _key(self, task: LabelledTask, method: Method, k: int, seed: int) -> str:
        seen = ""
        if method.loss is not None and method.loss != RAW:
            seen = self.embedders.key(task.recordings, self._recipe(method.loss, k), seed)
        parts = (method.name, k, seed, self.recipe.fuzzifier, seen, source_hash(*SOURCES))
        return content_key(task.recordings, *parts)

    def _read(self, key: str, count: int) -> Found | None:
        arrays = self.kept.read(key)
        if arrays is None or len(arrays) != count + 1:
            return None
        notes = tuple(str(note) for note in arrays["notes"])
        return Found(tuple(arrays[f"labels_{number}"] for number in range(count)), notes=notes)
