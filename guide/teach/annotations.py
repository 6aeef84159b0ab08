"""Label files: which key-step was done when, as comma-separated rows `start,end,"3 fit board"` in seconds.

No header; background has no rows. ELAN files (`.eaf`) serve as well: the tier of steps stands for the rows. Reading is
strict and names every problem with file and line; lenient reading repairs what it can and lists what it changed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from guide.domain import BACKGROUND, Labels, Segment, Times
from guide.errors import InputError, OutputError
from guide.record.elan import Annotation, Tier, read_elan, write_elan
from guide.teach import elan_labels as elan
from guide.teach.label_rows import Cells, Problems, Row, check_rows, clean_name, read_cells

log = logging.getLogger(__name__)

# Files hold milliseconds, so a boundary may lie half of one off the frame it belongs to.
ROUNDING_S: Final = 6e-4
SUFFIXES: Final = (".csv", elan.SUFFIX)
STEP_TIER: Final = "steps"


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
class LabelOptions:
    """How label files are read: the known steps (any where None), repairing or refusing, the tier of ELAN files.

    A file without steps is warned of, unless this is but a first look.

    >>> LabelOptions(lenient=True).tier is None
    True
    """

    steps: Collection[int] | None = None
    lenient: bool = False
    tier: str | None = None
    is_first_look: bool = False


def read_labels(
    path: str | Path,
    duration_s: float | None = None,
    steps: Collection[int] | None = None,
    lenient: bool = False,
) -> LabelFile:
    """The labels in a CSV or ELAN file, checked against the recording's length and the known step numbers where given.

    Raises InputError naming every problem with its line; `lenient` repairs instead and lists the changes.
    """
    durations = {} if duration_s is None else {"": duration_s}
    return read_label_files({"": Path(path)}, durations, LabelOptions(steps, lenient))[""]


def read_label_files(
    files: Mapping[str, Path], durations: Mapping[str, float], options: LabelOptions
) -> dict[str, LabelFile]:
    """The labels of several files together, by the ids they are given under, as the recordings' lengths are.

    Raises InputError with the problems of all files. ELAN files without numbers share one numbering, which follows
    the names in the CSV files where they have the same ones.
    """
    rows = {id_: read_cells(path) for id_, path in files.items() if not is_elan(path)}
    read = {id_: _checked(files[id_], rows[id_], durations.get(id_), options) for id_ in rows}
    known = {name: step for labels, _ in read.values() for step, name in labels.names.items()}
    elans = {id_: path for id_, path in files.items() if is_elan(path)}
    numbers = elan.number_names(elan.read_values(list(elans.values()), options.tier), known) if elans else {}
    read |= {id_: _read_elan(path, numbers, durations.get(id_), options) for id_, path in elans.items()}
    sentences = [sentence for id_ in files for sentence in read[id_][1].sentences]
    if sentences and not options.lenient:
        raise InputError(_summary(sentences))
    return {id_: read[id_][0] for id_ in files}


def read_label_folder(
    folder: str | Path, durations: Mapping[str, float], lenient: bool = False
) -> dict[str, LabelFile]:
    """The labels of those recordings that have a file `<id>.csv` or `<id>.eaf` in `folder`, by recording id.

    `durations` says for every recording by its id when it ends, in seconds.

    Raises InputError with the problems of all files together, or when no file belongs to any recording.
    """
    if not Path(folder).is_dir():
        raise InputError(f"--labels must name a folder of label files, but {folder} is not a folder: check the path.")
    found = {id_: find_label_file(Path(folder), id_) for id_ in durations}
    files = {id_: path for id_, path in found.items() if path is not None}
    if not files:
        raise InputError(
            f"--labels needs at least one CSV or ELAN file named like a recording, such as "
            f"{next(iter(durations), 'NAME')}.csv, but {folder} has none."
        )
    read = read_label_files(files, durations, LabelOptions(lenient=lenient))
    _require_one_name_a_step(read)
    return read


def find_label_file(folder: Path, id_: str) -> Path | None:
    """The label file of a recording, None where it has none; raises InputError where it has two."""
    found = [path for path in (folder / f"{id_}{suffix}" for suffix in SUFFIXES) if path.is_file()]
    if len(found) > 1:
        raise InputError(f"a recording has one label file, but {found[0]} and {found[1].name} both stand: keep one.")
    return found[0] if found else None


def is_elan(path: Path) -> bool:
    """Whether a label file is ELAN's by its name."""
    return path.suffix.lower() == elan.SUFFIX


def write_labels(path: str | Path, segments: Iterable[Segment], names: Mapping[int, str]) -> None:
    """Writes a label file, ELAN's where the name ends in .eaf; a step without a name is `3 step 3`.

    Background and unknown activity get no rows.
    """
    done = [segment for segment in segments if segment.step > BACKGROUND]
    if is_elan(Path(path)):
        rows = tuple(Annotation(one.start, one.end, _label(one.step, names)) for one in done)
        write_elan(path, [Tier(STEP_TIER, rows)])
        return
    text = "".join(f"{one.start:.3f},{one.end:.3f},{_quoted(_label(one.step, names))}\n" for one in done)
    try:
        Path(path).write_text(text, encoding="utf-8")
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


def _read_elan(
    path: Path, numbers: Mapping[str, int], duration_s: float | None, options: LabelOptions
) -> tuple[LabelFile, Problems]:
    file = read_elan(path)
    rows = elan.label_cells(file, path, options.tier, numbers)
    labels, problems = _checked(path, rows, duration_s, options, max(map(abs, file.offsets_s), default=0.0))
    return labels, problems


def _checked(
    path: Path, rows: Sequence[Cells], duration_s: float | None, options: LabelOptions, offset_s: float = 0.0
) -> tuple[LabelFile, Problems]:
    problems = Problems(path)
    if offset_s:
        what = f"the annotations are shifted by {offset_s:g} s against the video"
        problems.add(1, what, "times taken as they stand")
    checked = check_rows(rows, duration_s, options.steps, problems)
    names = _names(checked, problems)
    if not checked and (options.lenient or not problems.sentences) and not options.is_first_look:
        log.warning("%s labels no key-step: the whole recording counts as background.", path)
    return LabelFile(tuple(row.segment for row in checked), names, tuple(problems.changes)), problems


def _names(rows: Sequence[Row], problems: Problems) -> dict[int, str]:
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


def _label(step: int, names: Mapping[int, str]) -> str:
    return f"{step} {clean_name(names.get(step, '')) or f'step {step}'}"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _summary(sentences: Sequence[str]) -> str:
    count = f"{len(sentences)} problems in the labels" if len(sentences) > 1 else "a problem in the labels"
    return f"{count}: {'; '.join(sentences)}. Correct them, or give --lenient to have them repaired and listed."
