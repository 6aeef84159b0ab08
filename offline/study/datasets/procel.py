"""ProceL: a folder for each task with `data.mat` and `readme.txt`.

`readme.txt` has a line a video: its address, its name, and where it was cut, with tabs between them. `data.mat` holds
`grammar` (the names of the K key-steps), `key_steps_time` (for each video and key-step an n x 2 table of starts and
ends in seconds of the cut video) and `segment_time`, in older copies `superframe_time` (for each video a T x 2 table
that covers it). Third-person videos; key-steps may overlap.

Written from the published layout and tested on made files; the originals were not at hand. Known of them: the readme
of `perform_cpr` names one video, cpr_0041, that `data.mat` does not hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from guide.teach.label_rows import LATEST_S, Problems, clean_name
from offline.study.datasets.label_folder import ReadOptions, folders
from offline.study.datasets.matlab_file import Value, read_matlab
from offline.study.datasets.sequence import StepSequence, TaskSequences, read_lines
from offline.study.datasets.views import THIRD

DATA_FILE: Final = "data.mat"
NAMES_FILE: Final = "readme.txt"
DATASET: Final = "ProceL_dataset"
WITHOUT_DATA: Final = frozenset({"cpr_0041"})
COVERS: Final = ("segment_time", "superframe_time")


def find_tasks(folder: Path) -> list[Path]:
    """The tasks' folders in `folder` or in its `ProceL_dataset`, or `folder` itself where it is a task; else none."""
    for place in (folder, folder / DATASET):
        if place.is_dir():
            found = [sub for sub in folders(place) if (sub / DATA_FILE).is_file()]
            if found:
                return found
    return [folder] if (folder / DATA_FILE).is_file() else []


def read_tasks(folder: Path, options: ReadOptions) -> dict[str, TaskSequences]:
    """Every task by its folder's name; raises InputError with the problems of all tasks together."""
    problems: dict[str, Problems] = {}
    tasks: dict[str, TaskSequences] = {}
    for place in find_tasks(folder):
        problems[place.name] = Problems(place / DATA_FILE, unit="video")
        tasks[place.name] = read_task(place, problems[place.name])
    sentences = [sentence for one in problems.values() for sentence in one.sentences]
    if sentences and not options.lenient:
        raise InputError(f"{len(sentences)} steps cannot be right: {'; '.join(sentences)}. Use --lenient to go on.")
    return tasks


def read_task(folder: Path, problems: Problems) -> TaskSequences:
    """One task; steps that cannot be right go into `problems` and are left out."""
    path = folder / DATA_FILE
    content = read_matlab(path)
    names = [clean_name(name) if isinstance(name, str) else "" for name in _cells(content, "grammar", path)]
    steps = tuple(KeyStep(number, name or f"step {number}") for number, name in enumerate(names, start=1))
    videos = _cells(content, "key_steps_time", path)
    covers = next((content[name] for name in COVERS if name in content), None)
    ids, missing = _ids(folder, len(videos))
    recordings = []
    for place, (id_, cells) in enumerate(zip(ids, videos, strict=True)):
        if not isinstance(cells, list) or len(cells) != len(steps):
            count = len(cells) if isinstance(cells, list) else "no"
            raise InputError(f"{path}: video {id_} has {count} key-steps, {len(steps)} are named: fetch it again.")
        segments = _segments(id_, place + 1, cells, problems)
        cover = covers[place] if isinstance(covers, list) and place < len(covers) else None
        recordings.append(_sequence(id_, segments, _table(cover)))
    return TaskSequences(folder.name, steps, tuple(recordings), missing=missing, changes=tuple(problems.changes))


def _cells(content: dict[str, Value], name: str, path: Path) -> list[Value]:
    cells = content.get(name)
    if not isinstance(cells, list):
        raise InputError(f"{path} should hold cells called {name}: fetch it again.")
    return cells


def _ids(folder: Path, count: int) -> tuple[list[str], tuple[str, ...]]:
    """The videos' names in the order of the data, and what is missing."""
    path = folder / NAMES_FILE
    if not path.is_file():
        return [f"{folder.name}_{number:04d}" for number in range(1, count + 1)], (f"{NAMES_FILE}, its videos' names",)
    lines = [line for line in read_lines(path) if line.strip()]
    names = [_name(path, number, line) for number, line in enumerate(lines, start=1)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path} names the video {twice} twice: keep one.")
    lost = tuple(name for name in names if name in WITHOUT_DATA) if len(names) != count else ()
    kept = [name for name in names if name not in lost]
    if len(kept) != count:
        raise InputError(f"{path} names {len(kept)} videos, {DATA_FILE} holds {count}: make them agree.")
    return kept, tuple(f"step times of {name}" for name in lost)


def _name(path: Path, number: int, line: str) -> str:
    parts = line.split("\t")
    if len(parts) < 2 or not clean_name(parts[1]):
        raise InputError(f"{path} line {number}: expected an address and a name with a tab between them.")
    return clean_name(parts[1])


def _table(cell: Value) -> NDArray[np.float64] | None:
    """A table of starts and ends (n, 2); None where the cell holds something else."""
    if not isinstance(cell, np.ndarray):
        return None
    if cell.size == 0:
        return np.zeros((0, 2))
    return cell if cell.ndim == 2 and cell.shape[1] == 2 else None


def _segments(id_: str, number: int, cells: list[Value], problems: Problems) -> list[Segment]:
    segments: list[Segment] = []
    for step, cell in enumerate(cells, start=1):
        table = _table(cell)
        if table is None:
            problems.add(number, f"{id_}, step {step}: a table of starts and ends was expected", "step left out")
            continue
        for start, end in table.tolist():
            if 0 <= start < end <= LATEST_S:
                segments.append(Segment(step, start, end))
            else:
                problems.add(number, f"{id_}, step {step}: it lasts from {start:g} to {end:g} s", "left out")
    return sorted(segments, key=lambda one: (one.start, one.end))


def _sequence(id_: str, segments: list[Segment], cover: NDArray[np.float64] | None) -> StepSequence:
    last = max((segment.end for segment in segments), default=0.0)
    is_covered = cover is not None and cover.size > 0 and bool((np.isfinite(cover) & (cover <= LATEST_S)).all())
    length = float(cover.max()) if is_covered and cover is not None else last
    return StepSequence(id_, max(last, length), tuple(segments), view=THIRD, has_length=is_covered)
