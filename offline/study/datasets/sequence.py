"""What the readers of data sets share: step sequences as their result, and files read with clear errors."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from guide.domain import BACKGROUND, KeyStep, Labels, Segment
from guide.errors import InputError
from guide.teach.label_rows import END_SLACK_S

# Times come as decimal seconds and rates as decimal numbers: 0.1 s x 10 must be frame 1, not frame 2.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class StepSequence:
    """The steps done in one recording, in seconds, by start; background has no segment.

    >>> sequence = StepSequence("a", 3.0, (Segment(2, 0.5, 1.5), Segment(1, 1.5, 2.0)))
    >>> sequence.labels(rate=2).tolist()
    [0, 2, 2, 1, 0, 0]
    """

    id: str
    duration_s: float
    segments: tuple[Segment, ...]
    mistakes: tuple[tuple[str, ...], ...] = ()
    """What went wrong in each segment; empty where the data set does not say."""
    skipped: tuple[int, ...] = ()
    """Steps the data set names as left out."""
    view: str = ""
    """The camera: `ego` is on the head, every other name is a third person's view; empty where nobody says."""
    recording: str = ""
    """The recording this is a view of; empty where it is one itself."""
    has_length: bool = True
    """Whether the recording's length is known; else `duration_s` is where the last step ends."""

    def __post_init__(self) -> None:
        if self.mistakes and len(self.mistakes) != len(self.segments):
            raise ValueError(
                f"{self.id}: {len(self.segments)} segments need as many mistakes, got {len(self.mistakes)}"
            )

    @property
    def overlaps(self) -> int:
        """How many segments start before one listed earlier has ended."""
        ends = np.maximum.accumulate([0.0, *(segment.end for segment in self.segments)])
        return sum(bool(one.start < end) for one, end in zip(self.segments, ends[:-1], strict=True))

    def labels(self, rate: float) -> Labels:
        """The step at each time i / rate before the end; where segments overlap the later one wins."""
        labels = np.full(_frame(self.duration_s, rate), BACKGROUND, dtype=np.int64)
        for segment in self.segments:
            labels[_frame(segment.start, rate) : _frame(segment.end, rate)] = segment.step
        return labels


@dataclass(frozen=True, slots=True)
class TaskSequences:
    """A task's steps, numbered from 1, and the sequences of its recordings.

    >>> task = TaskSequences("tea", (KeyStep(1, "boil water"),), (StepSequence("a", 3.0, (Segment(1, 0.0, 2.0),)),))
    >>> task.videos
    1
    """

    name: str
    steps: tuple[KeyStep, ...]
    recordings: tuple[StepSequence, ...]
    """One a recording."""
    views: tuple[StepSequence, ...] = ()
    """One a camera, where a recording was filmed by several."""
    stated_videos: int | None = None
    """How many videos the data set itself counts, where that differs from the recordings found."""
    missing: tuple[str, ...] = ()
    """What the data set names or should have and the folder lacks, a few words each."""
    changes: tuple[str, ...] = ()
    """What the reader changed or chose, a sentence each."""
    unread: tuple[str, ...] = ()
    """Files beside the labels that are none, a few words each."""

    @property
    def videos(self) -> int:
        return len(self.recordings) if self.stated_videos is None else self.stated_videos

    def step_name(self, number: int) -> str:
        """The name of the step with this number."""
        return self.steps[number - 1].name

    @property
    def sequences(self) -> tuple[StepSequence, ...]:
        """One a video: every camera's, where there were several."""
        return self.views or self.recordings

    def remarks(self) -> list[str]:
        """What a reader of figures should know: what is missing, not read, changed or overlaps, a line each."""
        found = [f"missing: {word}" for word in self.missing]
        found += [f"not read: {word}" for word in self.unread]
        found += [f"changed: {change}" for change in self.changes]
        overlaps = sum(sequence.overlaps for sequence in self.sequences)
        if overlaps:
            starts = "1 step starts" if overlaps == 1 else f"{overlaps} steps start"
            found.append(f"{starts} before an earlier one has ended: the later one wins")
        past = [
            one.id for one in self.sequences if any(step.end > one.duration_s + END_SLACK_S for step in one.segments)
        ]
        if past:
            found.append(f"steps go on after the end of {', '.join(past)}: cut there where frames are scored")
        return found


def _frame(at: float, rate: float) -> int:
    """The first frame i with i / rate at or after `at`."""
    return math.ceil(at * rate - _ROUNDING)


def find_file(folder: Path, pattern: str) -> Path:
    """The one file in `folder` that fits `pattern`; raises InputError where there is none or more than one."""
    if not folder.is_dir():
        raise InputError(f"a data set folder was expected, {folder} is none: check the path.")
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        came = ", ".join(file.name for file in files) or "none"
        raise InputError(f"{folder} should hold one file {pattern}, found {came}: check the data set's layout.")
    return files[0]


def read_lines(path: Path) -> list[str]:
    """The lines of a text; raises InputError where it cannot be read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} should hold UTF-8 text and cannot be read ({error}): fetch it again.") from error


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises InputError where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"{path} was expected and is missing: check the data set's layout.") from error
    except (ValueError, RecursionError) as error:  # wrong letters, wrong form, endless numbers, brackets in brackets
        raise InputError(f"{path} should hold JSON and cannot be read ({error}): fetch the file again.") from error
