"""Drawn recordings as the trunk sees them: pictures go from the painter to the trunk without a video in between."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from guide.domain import Labels
from guide.errors import InputError
from guide.perceive.preprocess import Preprocessing, to_network_input
from offline.backbones import Trunk, load_trunk
from offline.config import resolve
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.demo.truth import known_at, named_at
from offline.executor import Processes, open_executor, tracked
from offline.features import RecordingFeatures
from offline.study.flags import Planted
from offline.study.keep import Kept, source_hash

RATE: Final = 5.0
SOURCES: Final = (
    "guide.perceive.embedder", "guide.perceive.preprocess", "offline.backbones", "offline.demo", "offline.extraction",
    "offline.onnx_export", "offline.resize_batches", "offline.covariance_pooling",
    "offline.study.trial.worlds",
)  # fmt: skip
"""The code that decides what is kept; a test compares it with what is imported."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A recording as the trunk saw it, with its truth.

    >>> seen = RecordingFeatures("01", RATE, np.arange(2) / RATE, np.zeros((2, 3), np.float32))
    >>> Drawn(seen, np.array([0, 1]), Planted("none", None, None, None)).planted.kind
    'none'
    """

    features: RecordingFeatures
    labels: Labels
    planted: Planted


@dataclass(frozen=True, slots=True)
class Entry:
    """A drawn recording and the key under which what the trunk sees of it is kept.

    >>> Entry(Recording(1021, "live", 2), "key").recording.name
    '02_missed'
    """

    recording: Recording
    key: str


class Worlds:
    """Drawn recordings, kept in a folder: drawing thirty takes minutes, following them seconds.

    >>> Worlds(Path("nowhere")).entries([])
    []
    """

    def __init__(self, folder: Path) -> None:
        self.kept = Kept(folder)

    def entries(self, recordings: Sequence[Recording]) -> list[Entry]:
        """Where each recording is kept, whether it is drawn yet or not."""
        return [Entry(one, hashlib.sha256(f"{one!r} {self._mark}".encode()).hexdigest()[:24]) for one in recordings]

    def draw(self, entries: Sequence[Entry], console: Console) -> None:
        """Has every recording drawn and seen through the default trunk; those that are kept are not drawn again."""
        lacking = [one for one in entries if self._read(one) is None]
        if not lacking:
            return
        means = self._trunk.spec.mean_width
        for one, rows, labels in _draw_all(lacking, self._trunk, console):
            self.kept.write(one.key, {"rows": rows, "labels": labels, "means": np.array(means)})

    def read(self, entry: Entry) -> Drawn:
        """A recording that was drawn; raises InputError where it was taken away since."""
        drawn = self._read(entry)
        if drawn is None:
            raise InputError(
                f"the drawn recording {entry.recording.name} of world {entry.recording.seed} was expected in "
                f"{self.kept.folder}, but it is gone or damaged: run the command again."
            )
        return drawn

    def _read(self, entry: Entry) -> Drawn | None:
        arrays = self.kept.read(entry.key)
        if arrays is None or not {"rows", "labels", "means"} <= arrays.keys():
            return None
        rows, times = arrays["rows"], np.arange(len(arrays["rows"])) / RATE
        features = RecordingFeatures(entry.recording.name, RATE, times, rows, mean_width=int(arrays["means"]))
        return Drawn(features, arrays["labels"], _planted(entry.recording))

    @cached_property
    def _trunk(self) -> Trunk:
        return load_trunk(resolve("default", None, {}).backbone)

    @cached_property
    def _mark(self) -> str:
        """All that decides what the trunk sees of a recording; a GPU computes with other last digits."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return f"{self._trunk.weights_hash()} {device} {source_hash(*SOURCES)}"


def _planted(recording: Recording) -> Planted:
    script = recording.script
    fault = script.fault
    return Planted(fault.kind, fault.step, fault.before, known_at(script), named_at(script))


def _draw_all(
    lacking: Sequence[Entry], trunk: Trunk, console: Console
) -> Iterator[tuple[Entry, NDArray[np.float32], Labels]]:
    """What the trunk sees of each recording (T, P), and its labels, as they are drawn."""
    from offline.extraction import Extractor  # here: what only learns from features needs no ONNX Runtime

    tasks = [partial(_draw, one.recording, trunk.spec.preprocessing) for one in lacking]
    titles = [f"{one.recording.seed}, {one.recording.name}" for one in lacking]
    with TemporaryDirectory() as folder, open_executor(Processes(os.cpu_count() or 1)) as executor:
        extractor = Extractor(trunk, Path(folder))  # on a CPU by ONNX Runtime, which is several times as fast as torch
        size = extractor.batch_size
        drawn = tracked(executor.run(tasks), [1.0] * len(tasks), "drawing", console, titles)
        for number, (pictures, labels) in drawn:
            parts = [
                extractor.runner.pool(pictures[begin : begin + size].astype(np.float32))
                for begin in range(0, len(pictures), size)
            ]
            yield lacking[number], np.concatenate(parts), labels


def _draw(recording: Recording, preprocessing: Preprocessing) -> tuple[NDArray[Any], Labels]:
    """Network inputs (T, 3, S, S) of a recording at the working rate, and its labels."""
    stride = round(RATE_HZ / RATE)
    pictures = [picture for number, picture in enumerate(recording.pictures()) if number % stride == 0]
    labels = np.zeros(len(pictures), np.int64)
    for event in recording.script.events:
        labels[[frame // stride for frame in event.frames if frame % stride == 0 and frame // stride < len(labels)]] = (
            event.step
        )
    return np.stack([to_network_input(each, preprocessing) for each in pictures]).astype(np.float16), labels
