"""Labelled pictures to try looks on: videos with labels, stills sorted by step, drawn worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from guide.domain import Image, Segment
from guide.errors import InputError
from guide.perceive.pace import Pace
from offline.config import Recipe
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.features import FeatureCache
from offline.study.datasets.step_folders import StepFolders, read_step_folders
from offline.study.evaluation.recording_tasks import LabelRequest, check_tasks
from offline.study.jobs import read_seeds
from offline.videos import Recording as Recorded
from offline.videos import open_frames, working_rate

Pictures: TypeAlias = Iterable[tuple[float, Image]]  # with their times


@dataclass(frozen=True, slots=True)
class Labelled:
    """A recording to look at: what names its content, its pictures, and what is done in them."""

    id: str
    key: str
    pictures: Callable[[], Pictures]
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Recordings of one task at one working rate."""

    title: str
    rate: float
    recordings: tuple[Labelled, ...]


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """Which sets a command looks at."""

    videos: Path | None = None
    """A folder of recordings of one task with labels beside them, or of such folders."""
    stills: Path | None = None
    """A folder of recordings, each a folder of step folders with pictures."""
    rate: float = 5.0
    """Pictures a second in such folders."""
    seed: str = ""
    """Drawn worlds, such as 1003,1031."""
    recordings: int = 6
    """Demonstrations of a drawn world."""
    cache: Path = Path(".cache/cnc")
    """Where what is seen and done is kept between runs."""


def read_sets(options: SetOptions, recipe: Recipe) -> list[LabelledSet]:
    """The sets that are named; raises InputError where none is."""
    found = [] if options.videos is None else [*from_videos(options.videos, options.cache, recipe)]
    found += [] if options.stills is None else [from_stills(options.stills, options.rate, options.cache)]
    seeds = read_seeds(options.seed, "--seed") if options.seed else []
    found += [from_drawn(seed, options.recordings, recipe) for seed in seeds]
    if not found:
        raise InputError("labelled recordings were expected, none were named: give --videos, --stills or --seed.")
    return found


def from_videos(folder: Path, cache: Path, recipe: Recipe) -> Iterator[LabelledSet]:
    """The tasks in a folder of recordings with labels beside them."""
    features = FeatureCache(cache / "features")
    for task in check_tasks(folder, (), None, LabelRequest()):
        rate = working_rate(task.facts, recipe.fps, recipe.least_frames)
        made = [
            Labelled(fact.recording.id, features.content_hash(fact.recording), _paced(fact.recording, rate), segments)
            for fact, segments in zip(task.facts, task.segments, strict=True)
        ]
        yield LabelledSet(task.word, rate, tuple(made))


def from_stills(folder: Path, rate: float, cache: Path) -> LabelledSet:
    """Recordings whose pictures lie in a folder for each step."""
    features = FeatureCache(cache / "features")
    return LabelledSet(folder.name, rate, tuple(_stills(one, features) for one in read_step_folders(folder, rate)))


def from_drawn(seed: int, count: int, recipe: Recipe) -> LabelledSet:
    """The first demonstrations of a drawn world."""
    stride = round(RATE_HZ / recipe.fps)
    drawn = [Recording(seed, "train", number) for number in range(1, count + 1)]
    return LabelledSet(f"drawn {seed}", RATE_HZ / stride, tuple(_drawn(one, stride) for one in drawn))


def _paced(recording: Recorded, rate: float) -> Callable[[], Pictures]:
    return lambda: ((frame.at, frame.image) for frame in open_frames(recording).frames(Pace(rate).push))


def _stills(folders: StepFolders, features: FeatureCache) -> Labelled:
    parts = [Recorded(folders.id, stills.path, "stills") for _, stills in folders.steps]
    key = " ".join(map(features.content_hash, parts))
    return Labelled(folders.id, key, folders.pictures, folders.segments)


def _drawn(recording: Recording, stride: int) -> Labelled:
    segments = [Segment(event.step, event.start, event.end) for event in recording.script.events if event.step > 0]
    return Labelled(
        recording.name,
        repr(recording),
        lambda: ((n / RATE_HZ, picture) for n, picture in enumerate(recording.pictures()) if n % stride == 0),
        segments,
    )
