"""The real sets in a data directory, with true labels: recipes as features, g1 and lego_head with pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from rich.console import Console

from guide.domain import Image
from guide.errors import InputError
from guide.teach.moments import to_jpeg
from offline.config import resolve
from offline.study.evaluation.feature_tasks import read_feature_tasks
from offline.study.evaluation.recording_tasks import LabelRequest, check_tasks, see_all
from offline.study.evaluation.task import LabelledTask
from offline.study.fault_trial.mistakes import without_clean

if TYPE_CHECKING:  # who reads features alone starts neither trunk nor ONNX Runtime
    from offline.study.looks.sources import Pictures

Film: TypeAlias = "Callable[[], Pictures]"

COOKING: Final = "captaincook4d"
GRASPS: Final = "g1"
BRICKS: Final = "lego_head"
SETS: Final = (COOKING, GRASPS, BRICKS)
BRICKS_RATE: Final = 5.0
"""Its pictures a second: nobody says how many there were."""


@dataclass(frozen=True, slots=True)
class RealSet:
    """One task: its clean recordings, those with real mistakes, and how its pictures are read where there are any."""

    task: LabelledTask
    mistaken: LabelledTask | None = None
    films: Mapping[str, Film] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """Where sets are read from, which of their tasks are wanted (all where none is named), and the trunk's weights."""

    folder: Path
    words: tuple[str, ...]
    cache: Path
    weights: Path | None = None

    def wants(self, word: str) -> bool:
        return not self.words or word in self.words


def read_sets(reading: Reading, console: Console) -> tuple[list[RealSet], list[str]]:
    """The sets that are there, and a sentence on each that is not; raises InputError where none is."""
    if not reading.folder.is_dir():
        raise InputError(f"a folder with {', '.join(SETS)} was expected, {reading.folder} is none: check the path.")
    there = [name for name in SETS if (reading.folder / name).is_dir()]
    readers = {COOKING: _cooking, GRASPS: _grasps, BRICKS: _bricks}
    found = [one for name in there for one in readers[name](reading, console)]
    if not found:
        wanted = f"tasks called {', '.join(reading.words)}" if there else f"at least one of {', '.join(SETS)}"
        raise InputError(f"{wanted} were expected in {reading.folder}, none is there: check the path and --task.")
    lacking = [name for name in SETS if name not in there]
    return found, [f"{name} is not in {reading.folder} and is left out." for name in lacking]


def _cooking(reading: Reading, _: Console) -> Iterator[RealSet]:
    numbers = [word for word in reading.words if word not in (GRASPS, BRICKS)]
    if reading.words and not numbers:
        return
    clean, everything = (read_feature_tasks(reading.folder / COOKING, numbers, errors) for errors in (False, True))
    for task, whole in zip(clean, everything, strict=True):
        mistaken = without_clean(whole, task)
        yield RealSet(task, mistaken if mistaken.recordings else None)


def _grasps(reading: Reading, console: Console) -> Iterator[RealSet]:
    if not reading.wants(GRASPS):
        return
    from offline.study.looks.sources import from_videos

    folder, recipe = reading.folder / GRASPS, resolve("default", None, {})
    seen = see_all(check_tasks(folder, (), None, LabelRequest()), recipe, reading.cache, console, reading.weights)
    for task, shown in zip(seen, from_videos(folder, reading.cache, recipe), strict=True):
        yield RealSet(task, films={one.id: one.pictures for one in shown.recordings})


def _bricks(reading: Reading, console: Console) -> Iterator[RealSet]:
    if not reading.wants(BRICKS):
        return
    from offline.extraction import open_extractor
    from offline.study.looks.seeing import WHOLE, Seer, see_set
    from offline.study.looks.sources import from_stills

    shown = from_stills(reading.folder / BRICKS, BRICKS_RATE, reading.cache)
    trunk = open_extractor(resolve("default", None, {}).backbone, reading.cache / "trunks", reading.weights)
    seen = see_set(shown, Seer(trunk, reading.cache / "looks"), [WHOLE], console)
    yield RealSet(seen.task([WHOLE]), films={one.id: one.pictures for one in shown.recordings})


def pictures_at(film: Film, moments: Sequence[float]) -> dict[float, bytes]:
    """The picture nearest to each moment, as a small JPEG; the film is read once."""
    nearest: dict[float, tuple[float, Image]] = {}
    for at, image in film():
        for moment in moments:
            if abs(at - moment) < nearest.get(moment, (np.inf, None))[0]:
                nearest[moment] = abs(at - moment), image
    return {moment: to_jpeg(image) for moment, (_, image) in nearest.items()}
