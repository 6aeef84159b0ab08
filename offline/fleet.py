"""Learning on several machines: recordings are seen and heads trained all over a Ray cluster, through one shared cache.

What is done elsewhere is put where one machine would have put it, and read from there: so a run ends with what it would
have ended with on one machine, and a run that was cut off goes on. Trying numbers of key-steps and rehearsing leave
nothing there: what these give comes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.console import Console

from guide.errors import InputError
from guide.perceive.region import RegionSettings
from offline.backbones import Trunk
from offline.cluster import join_cluster, require_shared
from offline.config import Recipe
from offline.embedding import Inputs
from offline.executor import Executor, open_executor, tracked
from offline.extraction import ExtractionDevice, Extractor
from offline.features import FeatureCache
from offline.training import head_folders, head_seeds, train_head
from offline.videos import Recording, RecordingFacts
from offline.views import View

if TYPE_CHECKING:
    from offline.ray_back import RayBack


@dataclass(frozen=True, slots=True)
class Seeing:
    """One recording seen into the shared cache, with a second look where `region` says how."""

    recording: Recording
    trunk: Trunk
    rate: float
    keep_maps: bool
    cache: Path
    device: ExtractionDevice
    region: RegionSettings | None = None
    is_trial: bool = False
    view: View | None = None

    def __call__(self) -> None:
        extractor = Extractor(self.trunk, trunks_folder(self.cache), self.device, threads=1)
        cache = FeatureCache(features_folder(self.cache))
        try:
            seen = cache.features(self.recording, extractor, self.rate, self.keep_maps, view=self.view)
            if self.region is not None:
                cache.look_twice(seen, self.recording, extractor, self.region, self.is_trial, view=self.view)
        except InputError:  # whoever reads the cache finds nothing, looks himself, and says what is wrong
            return


def features_folder(cache: Path) -> Path:
    return cache / "features"


def trunks_folder(cache: Path) -> Path:
    return cache / "trunks"


@dataclass(frozen=True, slots=True)
class Fleet:
    """The machines of a cluster, and the cache that all of them have under the same path."""

    executor: Executor
    back: RayBack
    cache: Path

    @property
    def device(self) -> ExtractionDevice:
        """What every task computes on."""
        return "cuda" if self.back.uses_gpu else "cpu"

    def see(
        self,
        facts: Sequence[RecordingFacts],
        trunk: Trunk,
        rate: float,
        console: Console,
        keep_maps: bool = False,
        region: RegionSettings | None = None,
        is_trial: bool = False,
        views: Sequence[View | None] = (None,),
    ) -> None:
        """Has recordings seen that are not in the cache yet; those that cannot be read are left to the caller."""
        recordings = [replace(fact.recording, path=fact.recording.path.resolve()) for fact in facts]
        require_shared(self.back, [one.path for one in recordings], self.cache)
        trunk = deepcopy(trunk).cpu()
        if self.device == "cpu":
            _ = Extractor(trunk, trunks_folder(self.cache), "cpu").runner  # exports it for all of them
        tasks = [
            Seeing(one, trunk, rate, keep_maps, self.cache, self.device, region, is_trial, view)
            for one in recordings
            for view in views
        ]
        what = "features" if region is None else "second look"
        sizes = [fact.duration_s for fact in facts for _ in views]
        for _ in tracked(self.executor.run(tasks), sizes, what, console):
            pass

    def train_heads(self, inputs: Inputs, recipe: Recipe, seed: int, folder: Path, console: Console) -> None:
        """Has the heads of an embedder trained, into the folders of the run. A head on maps is trained by torchrun."""
        if recipe.heads == 1 or recipe.head == "conv":
            return
        pairs = zip(head_seeds(recipe, seed), head_folders(folder.resolve(), recipe), strict=True)
        tasks = [partial(_train, slim(inputs), recipe, seed, self.device, place) for seed, place in pairs]
        for _ in tracked(self.executor.run(tasks), [1.0] * len(tasks), f"training ({recipe.loss})", console):
            pass


def _train(inputs: Inputs, recipe: Recipe, seed: int, device: ExtractionDevice, folder: Path) -> None:
    train_head(inputs, recipe, seed, torch.device(device), folder)


def slim(inputs: Inputs) -> Inputs:
    """What a head is trained on, without what it does not see: that would be gigabytes on their way."""
    recordings = tuple(replace(one, pooled=one.pooled[:, :0], maps=None) for one in inputs.recordings)
    return replace(inputs, recordings=recordings, copies=())


@contextmanager
def open_fleet(address: str | None, cache: Path, device: ExtractionDevice) -> Iterator[Fleet | None]:
    """The Ray cluster at an address, or nothing without one; raises InputError where it cannot do the work."""
    if address is None:
        yield None
        return
    back = join_cluster(address, cache, device)
    with open_executor(back) as executor:
        yield Fleet(executor, back, cache.resolve())
