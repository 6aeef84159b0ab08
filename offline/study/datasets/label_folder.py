"""Folders of label files, CSV or ELAN: one folder a task, or one folder with a folder for each task.

A recording is as long as the video of the same name; where there is none, it is taken to end with its last step.
Step numbers may have gaps in the files; a task's steps are numbered from 1 without gaps, in the same order.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.teach.annotations import SUFFIXES, LabelFile, LabelOptions, is_elan, read_label_files
from guide.teach.label_rows import is_label_row, parse_seconds, read_cells
from offline.study.datasets.egoprocel_json import read_names
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.videos import VIDEO_SUFFIXES

PEEKED_ROWS: Final = 3
"""Rows of a CSV file looked at to tell labels from other tables: the first may be a header by mistake."""
MOST_NAMED: Final = 5
"""Strays told by name; of more the number."""
LARGEST_BYTES: Final = 2**20
"""An hour of dense labels is about 100 kB."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a data set is read."""

    lenient: bool = False
    """Repair wrong labels and list what was changed, instead of refusing them."""
    videos: Path | None = None
    """Where the videos lie that give recordings their length; beside the labels where None."""
    tier: str | None = None
    """The tier of ELAN files that holds the steps."""
    steps: Path | None = None
    """A file of lines `number name` with the steps of the task: others in label files are then unknown."""


@dataclass(frozen=True, slots=True)
class LabelledVideo:
    """A label file and the video it is of: which camera, and of which recording where several filmed it."""

    id: str
    path: Path
    view: str = ""
    recording: str = ""


def read_tasks(folder: Path, options: ReadOptions) -> dict[str, TaskSequences]:
    """Every task of a folder of label files by its name; raises InputError with the problems of all files."""
    own = folder.resolve().name
    places = {own: folder} | {sub.name if sub.name != own else f"{own}/{own}": sub for sub in folders(folder)}
    videos = find_videos(options.videos or folder)
    meant = {name: [path for path in label_files(sub) if _is_meant(path, videos)] for name, sub in places.items()}
    groups = {name: [LabelledVideo(path.stem, path) for path in paths] for name, paths in meant.items() if paths}
    tasks = read_groups(groups, videos, options) if groups else {}
    tasks = {name: replace(task, unread=_unread(places[name], meant[name])) for name, task in tasks.items()}
    looked_at = [path for sub in places.values() for path in label_files(sub)]
    return with_strays(tasks, folder, looked_at, lambda path: is_label_file(path) and _is_meant(path, videos))


def read_groups(
    groups: Mapping[str, Sequence[LabelledVideo]], videos: Mapping[str, Path], options: ReadOptions
) -> dict[str, TaskSequences]:
    """Tasks from their label files; strict problems of all tasks are told together."""
    tasks: dict[str, TaskSequences] = {}
    problems: list[str] = []
    for name, labelled in groups.items():
        try:
            tasks[name] = read_task(name, labelled, videos, options)
        except InputError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise InputError(" ".join(problems))
    return tasks


def read_task(
    name: str, labelled: Sequence[LabelledVideo], videos: Mapping[str, Path], options: ReadOptions
) -> TaskSequences:
    """One task from the label files of its videos, each a recording of its own."""
    _require_own_names(labelled)
    durations = {one.id: _length(videos[one.id]) for one in labelled if one.id in videos}
    files = {one.id: one.path for one in labelled}
    known = set(read_names(options.steps)) if options.steps is not None else None
    if known is None:
        known = usual_steps(read_leniently(files, options.tier))
    read = read_label_files(files, durations, LabelOptions(known, options.lenient, options.tier))
    steps, renamed = usual_names(read)
    numbers = {step: number for number, step in enumerate(steps, start=1)}
    lacking = [one.id for one in labelled if one.id not in durations] if videos else []
    return TaskSequences(
        name=name,
        steps=tuple(KeyStep(number, steps[step]) for step, number in numbers.items()),
        recordings=tuple(_sequence(one, read[one.id], durations.get(one.id), numbers) for one in labelled),
        missing=tuple(f"the video of {id_}" for id_ in lacking),
        changes=tuple(change for one in labelled for change in read[one.id].changes) + tuple(renamed),
    )


def read_leniently(files: Mapping[str, Path], tier: str | None) -> dict[str, LabelFile]:
    """What label files say with all their faults: a step is no less a step for a slip in its times."""
    return read_label_files(files, {}, LabelOptions(lenient=True, tier=tier, is_first_look=True))


def usual_steps(read: Mapping[str, LabelFile]) -> set[int]:
    """The numbers that are steps of the task, where no list of them was given.

    Steps count 1, 2, 3 and so on. A number beyond a gap that only one of several recordings has is a slip of the pen.
    """
    counts = Counter(step for labels in read.values() for step in labels.names)
    counted = 0
    while counted + 1 in counts:
        counted += 1
    return {step for step, files in counts.items() if step <= counted or files > 1 or len(read) == 1}


def usual_names(read: Mapping[str, LabelFile]) -> tuple[dict[int, str], list[str]]:
    """The usual name of each step over all files, by ascending number, and a sentence for each that has several."""
    words: dict[int, Counter[str]] = {}
    for labels in read.values():
        for step, name in labels.names.items():
            words.setdefault(step, Counter())[name] += 1
    usual = {step: words[step].most_common(1)[0][0] for step in sorted(words)}
    renamed = [
        f"step {step} has {len(words[step])} names, {usual[step]!r} is taken, which {words[step][usual[step]]} of "
        f"{words[step].total()} files use"
        for step in usual
        if len(words[step]) > 1
    ]
    return usual, renamed


def is_label_file(path: Path) -> bool:
    """Whether a file may hold labels by its ending."""
    return path.suffix.lower() in SUFFIXES


def label_files(folder: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The CSV and ELAN files lying in a folder, by name; raises InputError for a link that leads to none."""
    found = sorted(path for path in _entries(folder) if path.suffix.lower() in suffixes and not path.is_dir())
    lost = next((path for path in found if not path.exists()), None)
    if lost is not None:
        raise InputError(f"{lost} is a link to a file that is not there: mend the link or take it away.")
    return [path for path in found if path.is_file()]


def folders(folder: Path) -> list[Path]:
    """The folders lying in a folder, by name, hidden ones left out."""
    return sorted(path for path in _entries(folder) if path.is_dir())


def find_videos(folder: Path) -> dict[str, Path]:
    """Every video under a folder by its name without the ending; raises InputError where the folder is none.

    Of two videos of one name the first is taken, in order of their paths.
    """
    if not folder.is_dir():
        raise InputError(f"a folder of videos was expected, {folder} is none: check the path.")
    found: dict[str, Path] = {}
    for place, subfolders, names in os.walk(folder):
        subfolders.sort()
        for name in sorted(names):
            if Path(name).suffix.lower() in VIDEO_SUFFIXES:
                found.setdefault(Path(name).stem, Path(place) / name)
    return found


def _entries(folder: Path) -> Iterable[Path]:
    return (path for path in folder.iterdir() if not path.name.startswith("."))


def _is_meant(path: Path, videos: Mapping[str, Path]) -> bool:
    """Whether a file is meant as labels, right or wrong: by its name, or because a row near the top looks like it."""
    if is_elan(path) or path.stem in videos:
        return True
    try:
        rows = read_cells(path)
    except InputError:
        return True  # reading it as labels will say what is wrong
    return not rows or any(_is_like_labels(cells) for _, cells in rows[:PEEKED_ROWS])


def _is_like_labels(cells: Sequence[str]) -> bool:
    """Two times and then words, with whatever between them: reading such a row as labels says what is wrong.

    >>> _is_like_labels(["0.5;2;open box"]), _is_like_labels(["1", "2", "3.5"])
    (True, False)
    """
    start, end, *rest = [*re.split(r"[,;\t|]", ",".join(cells)), "", ""]
    are_times = all(parse_seconds(value.strip()) is not None for value in (start, end))
    return is_label_row(cells) or (are_times and any(character.isalpha() for character in "".join(rest)))


def _unread(folder: Path, meant: Sequence[Path]) -> tuple[str, ...]:
    return tuple(f"{path.name}, another kind of table" for path in label_files(folder) if path not in meant)


def _require_own_names(labelled: Sequence[LabelledVideo]) -> None:
    paths: dict[str, Path] = {}
    for one in labelled:
        first = paths.setdefault(one.id, one.path)
        if first is not one.path:
            raise InputError(f"a video has one label file, but {first} and {one.path} are both of {one.id}: keep one.")


def _length(video: Path) -> float:
    facts = VideoFile(video).facts()
    return facts.duration_s + (1 / facts.rate if facts.rate else 0.0)


def _sequence(
    labelled: LabelledVideo, labels: LabelFile, duration_s: float | None, numbers: Mapping[int, int]
) -> StepSequence:
    segments = tuple(Segment(numbers[one.step], one.start, one.end) for one in labels.segments)
    last = max((one.end for one in segments), default=0.0)
    sequence = StepSequence(labelled.id, last if duration_s is None else duration_s, segments)
    return replace(sequence, view=labelled.view, recording=labelled.recording, has_length=duration_s is not None)


def with_strays(
    tasks: dict[str, TaskSequences], folder: Path, read: Iterable[Path], is_label: Callable[[Path], bool]
) -> dict[str, TaskSequences]:
    """The tasks, the first of them saying which label files under `folder` are none of those that were `read`."""
    known = {path.resolve() for path in read}
    if not tasks:
        return tasks
    strays = [path for path in _files(folder) if path.resolve() not in known and _is_small(path) and is_label(path)]
    if not strays:
        return tasks
    words = [f"{path.relative_to(folder)}, which lies where no labels are looked for" for path in strays[:MOST_NAMED]]
    more = len(strays) - MOST_NAMED
    words += [f"{more} more such files"] if more > 0 else []
    first = next(iter(tasks))
    return tasks | {first: replace(tasks[first], unread=(*tasks[first].unread, *words))}


def _is_small(path: Path) -> bool:
    """Whether a file is as small as labels are: larger tables are not even opened."""
    return path.is_file() and path.stat().st_size <= LARGEST_BYTES


def _files(folder: Path) -> list[Path]:
    """Every file under a folder by its path; hidden ones and those behind linked folders left out."""
    found = []
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [Path(place) / name for name in names if not name.startswith(".")]
    return sorted(found)
