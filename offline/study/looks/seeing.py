"""What the trunk sees of a recording by each of several looks, kept between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from guide.domain import Image, Times
from guide.perceive import preprocess, region
from guide.perceive.preprocess import to_network_input
from guide.perceive.region import MovingRegion, RegionSettings, closer, crop
from guide.teach.annotations import segments_to_labels
from offline.extraction import Extractor
from offline.features import RecordingFeatures
from offline.progress import progress
from offline.study.evaluation.task import LabelledTask
from offline.study.keep import Kept, source_hash
from offline.study.looks.sources import Labelled, LabelledSet, Pictures

WHOLE: Final = "whole"
CROP: Final = "crop"
LOOKS: Final[Mapping[str, RegionSettings]] = {
    CROP: RegionSettings(),
    "crop .35": RegionSettings(side=0.35),
    "crop .7": RegionSettings(side=0.7),
    "crop, held": RegionSettings(hold=0.12),
    "crop, slow": RegionSettings(smoothing_s=1.5),
    "centre": RegionSettings(smoothing_s=np.inf),
}
"""Second looks by name; `centre` never moves: what the larger picture alone brings."""
VERSIONS: Final = (region.VERSION, preprocess.VERSION)


@dataclass(frozen=True, slots=True)
class SeenSet:
    """A set as the trunk sees it: of each recording times (T,) and by each look pooled features (T, P)."""

    of: LabelledSet
    arrays: tuple[Mapping[str, NDArray[Any]], ...]
    mean_width: int = 0
    """How many of the first look's columns are means; all where it is 0."""

    def task(self, looks: Sequence[str]) -> LabelledTask:
        """The set seen by these looks side by side, each of unit length."""
        seen = tuple(
            RecordingFeatures(
                one.id,
                self.of.rate,
                own["times"],
                np.concatenate([_unit(own[x]) for x in looks], 1),
                mean_width=self.mean_width,
            )
            for one, own in zip(self.of.recordings, self.arrays, strict=True)
        )
        truth = tuple(
            segments_to_labels(one.segments, own["times"])
            for one, own in zip(self.of.recordings, self.arrays, strict=True)
        )
        steps = {int(step): f"step {step}" for step in np.unique(np.concatenate(truth)) if step > 0}
        return LabelledTask(self.of.title, self.of.title, steps, seen, truth)


class Seer:
    """Looks at recordings through a trunk; what it saw before it reads."""

    def __init__(self, extractor: Extractor, folder: Path) -> None:
        self._extractor, self._kept = extractor, Kept(folder)

    @property
    def mean_width(self) -> int:
        return self._extractor.trunk.spec.mean_width

    def see(self, recording: Labelled, rate: float, looks: Sequence[str]) -> dict[str, NDArray[Any]]:
        """The times (T,) of a recording, and by each look what is pooled (T, P); one pass over what is lacking."""
        keys = {look: self._key(recording, rate, look) for look in looks}
        kept = {look: self._kept.read(key) for look, key in keys.items()}
        lacking = [look for look, arrays in kept.items() if arrays is None]
        if lacking:
            times, rows = self.look(recording.pictures(), lacking)
            for look in lacking:
                kept[look] = {"times": times, "pooled": rows[look]}
                self._kept.write(keys[look], {"times": times, "pooled": rows[look]})
        found = {look: arrays for look, arrays in kept.items() if arrays is not None}
        return {"times": found[looks[0]]["times"]} | {look: arrays["pooled"] for look, arrays in found.items()}

    def _key(self, recording: Labelled, rate: float, look: str) -> str:
        how = (
            recording.key,
            rate,
            LOOKS.get(look),
            self._extractor.weights_hash,
            VERSIONS,
            source_hash("offline.demo"),
        )
        return hashlib.sha256(repr(how).encode()).hexdigest()[:24]

    def look(self, pictures: Pictures, looks: Sequence[str]) -> tuple[Times, dict[str, NDArray[Any]]]:
        """The times of the pictures, and by each look what the trunk pools of them."""
        regions = {look: MovingRegion(LOOKS[look]) for look in looks if look != WHOLE}
        times: list[float] = []
        rows: dict[str, list[NDArray[Any]]] = {look: [] for look in looks}
        for at, image in pictures:
            times.append(at)
            parts = [crop(image, regions[look].push(image, at)) if look in regions else image for look in looks]
            for look, part in zip(looks, parts, strict=True):
                rows[look].append(self._pool(part, LOOKS.get(look)))
        return np.array(times), {look: np.stack(some) for look, some in rows.items()}

    def _pool(self, image: Image, settings: RegionSettings | None) -> NDArray[Any]:
        whole = self._extractor.preprocessing
        how = whole if settings is None else closer(whole, settings)
        [pooled] = self._extractor.runner.pool(to_network_input(image, how)[None])
        return np.asarray(pooled)


def see_set(one: LabelledSet, seer: Seer, looks: Sequence[str], console: Console) -> SeenSet:
    """All recordings of a set by these looks."""
    arrays = []
    with progress(console, one.title, len(one.recordings)) as advance:
        for number, recording in enumerate(one.recordings):
            arrays.append(seer.see(recording, one.rate, looks))
            advance(number + 1, recording.id)
    return SeenSet(one, tuple(arrays), seer.mean_width)


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), np.float32)
