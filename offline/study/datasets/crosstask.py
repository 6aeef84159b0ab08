"""CrossTask: the primary tasks of its release, whose videos have step times.

`tasks_primary.txt` has six lines a task: number, title, address, number of steps, the steps with commas, an empty line.
`annotations/<task>_<video>.csv` has rows `step,start,end` in seconds, steps numbered from 1; steps may overlap.
`videos.csv` and `videos_val.csv`, where they are, list `task,video,address`. Third-person videos of unknown length.

Written from the published layout and tested on made files; the originals were not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from guide.teach.label_rows import Problems, clean_name, parse_seconds, read_cells, shown
from offline.study.datasets.label_folder import ReadOptions, label_files
from offline.study.datasets.sequence import StepSequence, TaskSequences, read_lines
from offline.study.datasets.views import THIRD

TASKS_FILE: Final = "tasks_primary.txt"
RELEASE: Final = "crosstask_release"
ANNOTATIONS: Final = "annotations"
LISTS: Final = ("videos.csv", "videos_val.csv")
BLOCK: Final = 5
"""Lines of a task before the empty one."""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task as `tasks_primary.txt` describes it."""

    number: str
    title: str
    steps: tuple[str, ...]


def find_release(folder: Path) -> Path | None:
    """The folder with `tasks_primary.txt`: this one or its `crosstask_release`."""
    return next((place for place in (folder, folder / RELEASE) if (place / TASKS_FILE).is_file()), None)


def read_tasks(folder: Path, options: ReadOptions) -> dict[str, TaskSequences]:
    """Every primary task by its number; raises InputError with the problems of all files together."""
    place = find_release(folder)
    if place is None:
        raise InputError(f"{folder} should hold {TASKS_FILE}: check the path.")
    infos = read_task_list(place / TASKS_FILE)
    files = _annotation_files(place, infos)
    listed = _listed(place)
    problems: list[Problems] = []
    tasks = {info.number: _task(info, files[info.number], listed.get(info.number, []), problems) for info in infos}
    sentences = [sentence for one in problems for sentence in one.sentences]
    if sentences and not options.lenient:
        raise InputError(f"{len(sentences)} rows cannot be right: {'; '.join(sentences)}. Correct or use --lenient.")
    return tasks


def read_task_list(path: Path) -> list[TaskInfo]:
    """The tasks of `tasks_primary.txt`; raises InputError naming the line that is not as described."""
    lines = [line.strip() for line in read_lines(path)]
    infos: list[TaskInfo] = []
    start = 0
    while start < len(lines):
        if lines[start]:
            infos.append(_info(path, start + 1, lines[start : start + BLOCK]))
            start += BLOCK
        else:
            start += 1
    if not infos:
        raise InputError(f"{path} names no task: fetch it again.")
    if len({info.number for info in infos}) < len(infos):
        raise InputError(f"{path} names a task's number twice: fetch it again.")
    return infos


def _info(path: Path, line: int, block: list[str]) -> TaskInfo:
    if len(block) < BLOCK or not all((block[0], block[1], block[3], block[4])):
        raise InputError(
            f"{path} line {line}: a task has {BLOCK} lines, the last its steps, and an empty one after it."
        )
    steps = tuple(clean_name(step) or f"step {number}" for number, step in enumerate(block[4].split(","), start=1))
    if block[3] != str(len(steps)):
        raise InputError(f"{path} line {line + 3}: {shown(block[3])} steps are announced, {len(steps)} follow.")
    return TaskInfo(block[0], clean_name(block[1]), steps)


def _annotation_files(place: Path, infos: list[TaskInfo]) -> dict[str, dict[str, Path]]:
    """Label files by task and video; raises InputError where one belongs to no task."""
    files: dict[str, dict[str, Path]] = {info.number: {} for info in infos}
    if not (place / ANNOTATIONS).is_dir():
        raise InputError(f"{place} should hold a folder {ANNOTATIONS}, but it is missing: check the data set's layout.")
    for path in label_files(place / ANNOTATIONS, (".csv",)):
        task, _, video = path.stem.partition("_")
        if task not in files or not video:
            raise InputError(f"{path} should be named after a task of {TASKS_FILE} and a video, such as 16815_ID.csv.")
        files[task][video] = path
    return files


def _listed(place: Path) -> dict[str, list[str]]:
    """Videos by task as the lists name them; empty where there are no lists."""
    listed: dict[str, list[str]] = {}
    for path in (place / name for name in LISTS):
        for line, cells in read_cells(path) if path.is_file() else []:
            if len(cells) < 2:
                raise InputError(f"{path} line {line}: expected task,video,address, got {len(cells)} values.")
            listed.setdefault(cells[0], []).append(cells[1])
    return listed


def _task(info: TaskInfo, files: dict[str, Path], listed: list[str], problems: list[Problems]) -> TaskSequences:
    recordings: list[StepSequence] = []
    own: list[Problems] = []
    for video, path in files.items():
        found = Problems(path)
        own.append(found)
        recordings.append(_sequence(video, _segments(path, len(info.steps), found)))
    problems += own
    missing = [f"step times of the video {video}" for video in sorted(set(listed) - set(files))]
    return TaskSequences(
        name=info.title,
        steps=tuple(KeyStep(number, step) for number, step in enumerate(info.steps, start=1)),
        recordings=tuple(recordings),
        missing=tuple(missing) or (() if files else ("its label files",)),
        changes=tuple(change for one in own for change in one.changes),
    )


def _sequence(video: str, segments: list[Segment]) -> StepSequence:
    last = max((segment.end for segment in segments), default=0.0)
    return StepSequence(video, last, tuple(segments), view=THIRD, has_length=False)


def _segments(path: Path, steps: int, problems: Problems) -> list[Segment]:
    """The rows by start; a row that cannot be understood is left out and told."""
    rows = read_cells(path)
    if not rows:
        problems.add(1, "the file is empty, but a label file has a row for each step done", "no steps")
    found = (_segment(line, cells, steps, problems) for line, cells in rows)
    return sorted((one for one in found if one is not None), key=lambda one: (one.start, one.end))


def _segment(line: int, cells: list[str], steps: int, problems: Problems) -> Segment | None:
    if len(cells) != 3:
        problems.add(line, f"expected step,start,end, got {len(cells)} values", "row left out")
        return None
    step, start, end = cells[0].strip(), parse_seconds(cells[1]), parse_seconds(cells[2])
    if not (step.isascii() and step.isdigit() and len(step) < 7 and 1 <= int(step) <= steps):
        problems.add(line, f"steps are numbered 1 to {steps}, got {shown(cells[0])}", "row left out")
        return None
    if start is None or end is None or end <= start:
        what = f"a step ends after it starts, in seconds from 0 on, got {shown(cells[1])} to {shown(cells[2])}"
        problems.add(line, what, "row left out")
        return None
    return Segment(int(step), start, end)
