"""Drawn recordings as the trunk sees them: pictures go from the painter to the trunk without a video in between."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from guide.domain import Labels
from guide.perceive.preprocess import Preprocessing, to_network_input
from offline.backbones import Trunk, load_trunk
from offline.config import resolve
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.demo.truth import known_at, named_at
from offline.evaluation.keep import Kept, source_hash
from offline.features import RecordingFeatures
from offline.flags import Planted
from offline.progress import progress

RATE: Final = 5.0
SOURCES: Final = ("guide.perceive.preprocess", "offline.demo", "offline.trial.worlds")
"""The code that decides what is kept, beside the trunk; a test compares it with what is imported."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A recording as the trunk saw it, with its truth."""

    features: RecordingFeatures
    labels: Labels
    planted: Planted


@dataclass(frozen=True, slots=True)
class Seen:
    """A drawn recording that is kept under a key."""

    recording: Recording
    key: str


class Worlds:
    """Drawn recordings, kept in a folder: drawing thirty takes minutes, following them seconds.

    >>> Worlds(Path("nowhere")).look([], Console())
    []
    """

    def __init__(self, folder: Path) -> None:
        self.kept = Kept(folder)

    def look(self, recordings: Sequence[Recording], console: Console) -> list[Seen]:
        """Every recording drawn and seen through the default trunk, in order; those seen before are not drawn again."""
        if not recordings:
            return []
        trunk = load_trunk(resolve("default", None, {}).backbone)
        mark = f"{trunk.weights_hash()} {source_hash(*SOURCES)} {RATE}"
        seen = [Seen(one, _key(one, mark)) for one in recordings]
        lacking = [one for one in seen if self._read(one) is None]
        if lacking:
            means = trunk.spec.mean_width
            for one, (rows, labels) in zip(lacking, _draw_all(lacking, trunk, console), strict=True):
                self.kept.write(one.key, {"rows": rows, "labels": labels, "means": np.array(means)})
        return seen

    def read(self, seen: Seen) -> Drawn:
        """A recording that `look` gave."""
        drawn = self._read(seen)
        assert drawn is not None, f"{seen.recording.name} was seen"
        return drawn

    def _read(self, seen: Seen) -> Drawn | None:
        arrays = self.kept.read(seen.key)
        if arrays is None or not {"rows", "labels", "means"} <= arrays.keys():
            return None
        rows, times = arrays["rows"], np.arange(len(arrays["rows"])) / RATE
        features = RecordingFeatures(seen.recording.name, RATE, times, rows, mean_width=int(arrays["means"]))
        return Drawn(features, arrays["labels"], _planted(seen.recording))


def _key(recording: Recording, mark: str) -> str:
    return hashlib.sha256(f"{recording!r} {mark}".encode()).hexdigest()[:24]


def _planted(recording: Recording) -> Planted:
    script = recording.script
    fault = script.fault
    return Planted(fault.kind, fault.step, fault.before, known_at(script), named_at(script))


def _draw_all(lacking: Sequence[Seen], trunk: Trunk, console: Console) -> Iterator[tuple[NDArray[np.float32], Labels]]:
    """What the trunk sees of each recording (T, P), and its labels."""
    from offline.extraction import Extractor  # here: what only learns from features needs no ONNX Runtime

    jobs = [(one.recording, trunk.spec.preprocessing) for one in lacking]
    context = multiprocessing.get_context("spawn")
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(os.cpu_count() or 1, context) as pool,
        progress(console, "drawing", len(lacking)) as advance,
    ):
        extractor = Extractor(trunk, Path(folder))  # on a CPU by ONNX Runtime, which is several times as fast as torch
        size = extractor.batch_size
        for number, (pictures, labels) in enumerate(pool.map(_draw, jobs)):
            parts = [
                extractor.runner.pool(pictures[begin : begin + size].astype(np.float32))
                for begin in range(0, len(pictures), size)
            ]
            advance(number + 1, lacking[number].recording.name)
            yield np.concatenate(parts), labels


def _draw(job: tuple[Recording, Preprocessing]) -> tuple[NDArray[Any], Labels]:
    """Network inputs (T, 3, S, S) of a recording at the working rate, and its labels."""
    recording, preprocessing = job
    cv2.setNumThreads(1)
    stride = round(RATE_HZ / RATE)
    pictures = [picture for number, picture in enumerate(recording.pictures()) if number % stride == 0]
    labels = np.zeros(len(pictures), np.int64)
    for event in recording.script.events:
        labels[[frame // stride for frame in event.frames if frame % stride == 0 and frame // stride < len(labels)]] = (
            event.step
        )
    return np.stack([to_network_input(each, preprocessing) for each in pictures]).astype(np.float16), labels
