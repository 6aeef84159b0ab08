"""Label files: which key-step was done when, as comma-separated rows `start,end,"3 fit board"` in seconds.

No header; background has no rows. Reading is strict and names every problem with file and line; lenient reading
repairs what it can and lists what it changed.
"""

from __future__ import annotations

import csv
import logging
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guide.domain import BACKGROUND, Labels, Segment, Times
from guide.errors import InputError, OutputError
from offline.videos import RecordingFacts

log = logging.getLogger(__name__)

# Files hold milliseconds, so a boundary may lie half of one off the frame it belongs to.
ROUNDING_S = 6e-4
END_SLACK_S = 0.5  # people round the end of the last step up
LABEL = re.compile(r"\s*(\d{1,6})(?:\s+(.*\S))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of one recording: segments in order of time, the steps' names, and what lenient reading changed.

    >>> LabelFile((Segment(1, 0.0, 2.0),), {1: "open box"}).names
    {1: 'open box'}
    """

    segments: tuple[Segment, ...]
    names: Mapping[int, str]
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    segment: Segment
    name: str


class _Problems:
    """Collects what is wrong, each with its place, and in lenient reading what was done about it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sentences: list[str] = []
        self.changes: list[str] = []

    def add(self, line: int, what: str, repair: str) -> None:
        self.sentences.append(f"{self.path} line {line}: {what}")
        self.changes.append(f"{self.sentences[-1]}: {repair}")


def read_labels(
    path: str | Path,
    duration_s: float | None = None,
    steps: Collection[int] | None = None,
    lenient: bool = False,
) -> LabelFile:
    """The labels in a file, checked against the recording's length and the known step numbers where given.

    Raises InputError naming every problem with its line; `lenient` repairs instead and lists the changes.
    """
    labels, problems = _read(Path(path), duration_s, steps)
    if problems.sentences and not lenient:
        raise InputError(_summary(problems.sentences))
    return labels


def read_label_folder(
    folder: str | Path,
    facts: Sequence[RecordingFacts],
    steps: Collection[int] | None = None,
    lenient: bool = False,
) -> dict[str, LabelFile]:
    """The labels of those recordings that have a file `<id>.csv` in `folder`, by recording id.

    Raises InputError with the problems of all files together, or when no file belongs to any recording.
    """
    if not Path(folder).is_dir():
        raise InputError(f"--labels must name a folder of CSV files, but {folder} is not a folder: check the path.")
    read: dict[str, LabelFile] = {}
    sentences: list[str] = []
    for fact in facts:
        path = Path(folder) / f"{fact.recording.id}.csv"
        if path.is_file():
            labels, problems = _read(path, fact.duration_s + 1 / fact.rate, steps)
            read[fact.recording.id] = labels
            sentences += problems.sentences
    if not read:
        raise InputError(
            f"--labels needs at least one CSV file named like a recording, such as "
            f"{facts[0].recording.id + '.csv' if facts else 'NAME.csv'}, but {folder} has none."
        )
    if sentences and not lenient:
        raise InputError(_summary(sentences))
    _require_one_name_a_step(read)
    return read


def write_labels(path: str | Path, segments: Iterable[Segment], names: Mapping[int, str]) -> None:
    """Writes a label file; a step without a name is `3 step 3`. Background and unknown activity get no rows."""
    rows = [
        f"{segment.start:.3f},{segment.end:.3f},{_quoted(segment.step, names)}\n"
        for segment in segments
        if segment.step > BACKGROUND
    ]
    try:
        Path(path).write_text("".join(rows), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"labels cannot be written to {path} ({error.strerror}): free space there.") from error


def segments_to_labels(segments: Iterable[Segment], times: Times) -> Labels:
    """The label of each frame, (T,): the step whose segment holds its time (start <= t < end), else background.

    >>> segments_to_labels([Segment(2, 0.5, 1.5)], np.array([0.0, 0.5, 1.0, 1.5])).tolist()
    [0, 2, 2, 0]
    """
    labels = np.full(len(times), BACKGROUND, np.int64)
    moments = np.asarray(times) + ROUNDING_S
    for segment in segments:
        first, last = np.searchsorted(moments, (segment.start, segment.end))
        labels[first:last] = segment.step
    return labels


def labels_to_segments(labels: Labels, times: Times, rate: float) -> list[Segment]:
    """The runs of equal labels other than background; a run lasts until the next frame, the last one for a tick.

    >>> labels_to_segments(np.array([0, 2, 2, 1]), np.array([0.0, 0.5, 1.0, 1.5]), rate=2.0)
    [Segment(step=2, start=0.5, end=1.5), Segment(step=1, start=1.5, end=2.0)]
    """
    if len(labels) == 0:
        return []
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    moments = np.r_[times, times[-1] + 1 / rate]
    ends = np.r_[starts[1:], len(labels)]
    return [
        Segment(int(labels[start]), float(moments[start]), float(moments[end]))
        for start, end in zip(starts, ends, strict=True)
        if labels[start] != BACKGROUND
    ]


def _read(path: Path, duration_s: float | None, steps: Collection[int] | None) -> tuple[LabelFile, _Problems]:
    problems = _Problems(path)
    rows: list[_Row] = []
    for line, cells in _cells(path):
        row = _parse(line, cells, problems)
        row = row and _check_step(row, steps, problems)
        row = row and _check_end(row, duration_s, problems)
        if row:
            rows.append(row)
    rows = _without_overlaps(sorted(rows, key=lambda row: (row.segment.start, row.line)), problems)
    names = _names(rows, problems)
    if not rows:
        log.warning("%s labels no key-step: the whole recording counts as background.", path)
    return LabelFile(tuple(row.segment for row in rows), names, tuple(problems.changes)), problems


def _cells(path: Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file with their line numbers, without blank lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except FileNotFoundError as error:
        raise InputError(f"a label file was expected, but {path} does not exist: check the path.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"a label file was expected, but {path} cannot be read as UTF-8 text with commas ({error}): save it as CSV."
        ) from error


def _parse(line: int, cells: list[str], problems: _Problems) -> _Row | None:
    if len(cells) != 3:
        problems.add(line, f'expected start,end,"number name", got {len(cells)} values', "row left out")
        return None
    try:
        start, end = float(cells[0]), float(cells[1])
    except ValueError:
        start = end = math.nan
    if not (math.isfinite(start) and math.isfinite(end) and start >= 0):
        problems.add(line, f"start and end must be seconds from 0 on, got {cells[0]} and {cells[1]}", "row left out")
        return None
    label = LABEL.fullmatch(cells[2])
    if label is None or int(label[1]) < 1:
        problems.add(
            line, f'a step is a number from 1 on and a name, such as "3 fit board", got {cells[2]!r}', "row left out"
        )
        return None
    number, name = int(label[1]), " ".join((label[2] or "").split())
    if not name:
        name = f"step {number}"
        problems.add(line, f"step {number} has no name", f"called {name}")
    if end <= start:
        return _turned(_Row(line, Segment(number, min(start, end), max(start, end)), name), problems)
    return _Row(line, Segment(number, start, end), name)


def _turned(row: _Row, problems: _Problems) -> _Row | None:
    low, high = row.segment.start, row.segment.end
    if low == high:
        problems.add(row.line, f"the step starts and ends at {low:g} s", "row left out")
        return None
    problems.add(row.line, f"the step ends at {low:g} s, before it starts at {high:g} s", "start and end exchanged")
    return row


def _check_step(row: _Row, steps: Collection[int] | None, problems: _Problems) -> _Row | None:
    if steps is None or row.segment.step in steps:
        return row
    known = ", ".join(str(step) for step in sorted(steps))
    problems.add(row.line, f"step {row.segment.step} is unknown, the steps are {known}", "row left out")
    return None


def _check_end(row: _Row, duration_s: float | None, problems: _Problems) -> _Row | None:
    segment = row.segment
    if duration_s is None or segment.end <= duration_s:
        return row
    if segment.end > duration_s + END_SLACK_S:
        what = f"the step ends at {segment.end:g} s, past the recording's end at {duration_s:.1f} s"
        problems.add(row.line, what, "row left out" if segment.start >= duration_s else "cut at the end")
    if segment.start >= duration_s:
        return None
    return _Row(row.line, Segment(segment.step, segment.start, duration_s), row.name)


def _without_overlaps(rows: list[_Row], problems: _Problems) -> list[_Row]:
    """Rows in order of time, each ending before the next starts."""
    kept: list[_Row] = []
    for row in rows:
        if kept and row.segment.start < kept[-1].segment.end - ROUNDING_S:
            last = kept.pop()
            what = f"the step starts at {row.segment.start:g} s, before the one in line {last.line} ends"
            is_hidden = row.segment.start <= last.segment.start
            problems.add(row.line, what, f"line {last.line} " + ("left out" if is_hidden else "cut short"))
            if not is_hidden:
                kept.append(
                    _Row(last.line, Segment(last.segment.step, last.segment.start, row.segment.start), last.name)
                )
        kept.append(row)
    return kept


def _names(rows: list[_Row], problems: _Problems) -> dict[int, str]:
    names: dict[int, str] = {}
    for row in sorted(rows, key=lambda row: row.line):
        name = names.setdefault(row.segment.step, row.name)
        if name != row.name:
            problems.add(
                row.line, f"step {row.segment.step} is called {row.name!r} here and {name!r} before", f"called {name}"
            )
    return dict(sorted(names.items()))


def _require_one_name_a_step(read: Mapping[str, LabelFile]) -> None:
    seen: dict[int, tuple[str, str]] = {}
    for recording, labels in read.items():
        for step, name in labels.names.items():
            first, where = seen.setdefault(step, (name, recording))
            if first != name:
                raise InputError(
                    f"a step has one name in all label files, but step {step} is {first!r} for {where} and {name!r} "
                    f"for {recording}: make them equal."
                )


def _quoted(step: int, names: Mapping[int, str]) -> str:
    name = " ".join(names.get(step, f"step {step}").split())
    return '"' + f"{step} {name}".replace('"', '""') + '"'


def _summary(sentences: Sequence[str]) -> str:
    count = f"{len(sentences)} problems in the labels" if len(sentences) > 1 else "a problem in the labels"
    return f"{count}: {'; '.join(sentences)}. Correct them, or read them leniently."
