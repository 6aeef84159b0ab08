"""Recordings as pictures sorted by step: a folder a recording, in it a folder of stills for each step, in order.

`HeadTrace1/step03/frame_007.jpeg`: the number that a folder's name ends with is the step's. The pictures of all steps
one after another are the recording; nobody says how many a second there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from guide.domain import Image, Segment
from guide.errors import InputError
from guide.ingest.stills import StillFolder
from offline.study.datasets.phases import episode_of


@dataclass(frozen=True, slots=True)
class StepFolders:
    """One such recording: its folders of pictures by the step done in them."""

    id: str
    steps: tuple[tuple[int, StillFolder], ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The steps, which fill the recording."""
        lengths = [len(stills.pictures) / stills.rate for _, stills in self.steps]
        ends = list(accumulate(lengths))
        return tuple(
            Segment(step, end - length, end) for (step, _), length, end in zip(self.steps, lengths, ends, strict=True)
        )

    def pictures(self) -> Iterator[tuple[float, Image]]:
        """Every picture that can be read, with its time."""
        for (_, stills), segment in zip(self.steps, self.segments, strict=True):
            yield from ((segment.start + frame.at, frame.image) for frame in stills)


def read_step_folders(folder: Path, rate: float) -> list[StepFolders]:
    """The recordings in a folder; raises InputError where there are fewer than two."""
    found = [StepFolders(one.name, _steps(one, rate)) for one in _folders(folder)]
    found = [one for one in found if one.steps]
    if len(found) < 2:
        raise InputError(
            f"two recordings or more were expected in {folder}, as folders of step folders with pictures "
            f"(ANNA/step01/1.jpg), got {len(found)}: check the path."
        )
    return found


def _steps(folder: Path, rate: float) -> tuple[tuple[int, StillFolder], ...]:
    numbers = [(episode_of(step.name), step) for step in _folders(folder)]
    return tuple(sorted((number, StillFolder(step, rate)) for number, step in numbers if number))


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"a folder of recordings was expected, but {folder} is none: check the path.")
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
