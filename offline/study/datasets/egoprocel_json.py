"""EgoProceL's step sequences from one JSON file: 16 tasks without pixels.

The folder holds `egoprocel.json`, for each task the lists `handles`, `hdl_actions`, `hdl_start_times` and
`hdl_end_times`, and `egoprocel-id2action.txt` with the steps' names. Times are frame numbers at ten a second
(the recordings then add up to 61 hours, and with the three MECCANO videos the file lacks to the paper's 62), step "0"
is background.

For the CMU tasks the sequences hold every camera's view, one after the other, while `handles` names one camera only:
the two are never zipped. Neighbouring sequences with the same steps and the same times, up to a constant shift and a
cut at the end, are views of one recording. Which camera each of them is, the file does not say: they have no view's
name. The other tasks have one camera, on the head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from guide.teach.label_rows import LATEST_S, clean_name, shown
from offline.study.datasets.sequence import StepSequence, TaskSequences, find_file, read_json, read_lines
from offline.study.datasets.views import EGO

JSON_FILE: Final = "egoprocel.json"
NAMES_FILE: Final = "egoprocel-id2action.txt"
FRAMES_PER_SECOND: Final = 10.0
NAME_LINE: Final = re.compile(r"\s*([0-9]{1,9})\s+(\S.*)", re.DOTALL)
WHOLE: Final = re.compile("[0-9]{1,12}")
LISTS: Final = ("hdl_actions", "hdl_start_times", "hdl_end_times")
SHIFT_TOLERANCE: Final = 2
"""Frames by which the shift between two views may vary: they were cut by hand."""
SUBSETS: Final = {".cmu": "CMU-MMAC", ".egtea": "EGTEA Gaze+", "meccano": "MECCANO", "tent": "EPIC-Tents"}


@dataclass(frozen=True, slots=True)
class Track:
    """One sequence of the file: action numbers with first and end frames, background among them."""

    actions: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def end(self) -> int:
        return self.ends[-1]

    def is_view_of(self, other: Track) -> bool:
        """Whether both could show one performance: same actions as far as the shorter one goes, at one time shift."""
        common = min(len(self.actions), len(other.actions))
        shifts = [a - b for a, b in zip(self.starts[1:common], other.starts[1:common], strict=True)]
        is_steady = not shifts or max(shifts) - min(shifts) <= SHIFT_TOLERANCE
        return self.actions[:common] == other.actions[:common] and is_steady


def read_tasks(folder: Path) -> dict[str, TaskSequences]:
    """Every task of the file by its name; raises InputError where file or contents are not as described."""
    path = find_file(folder, JSON_FILE)
    names = read_names(folder / NAMES_FILE)
    content = read_json(path)
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path} should hold an object with a key for each task: fetch the file again.")
    return {task: _task(path, task, lists, names) for task, lists in content.items()}


def read_names(path: Path) -> dict[int, str]:
    """Step names by number from lines `number name_with_underscores`, as `--steps` takes them too."""
    if not path.is_file():
        raise InputError(f"{path} was expected and is missing: it names the steps, a line `number name` each.")
    names: dict[int, str] = {}
    for place, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        found = NAME_LINE.fullmatch(line)
        if found is None or not clean_name(found[2]):
            raise InputError(f"{path} line {place} should be a number and a name, got {shown(line)}: correct the line.")
        if int(found[1]) in names:
            raise InputError(f"{path} line {place} names step {int(found[1])} a second time: keep one of the two.")
        names[int(found[1])] = clean_name(found[2].replace("_", " "))
    if not names:
        raise InputError(f"{path} should name the steps, a line `number name` each, and names none: fill it.")
    return names


def subset_of(task: str) -> str:
    """The sub-set of EgoProceL a task of the file belongs to; a task of its own otherwise."""
    return next((subset for ending, subset in SUBSETS.items() if task.endswith(ending)), task)


def group_views(tracks: list[Track]) -> list[list[Track]]:
    """Neighbouring tracks that show one performance, together; each is compared with the group's longest."""
    groups: list[list[Track]] = []
    for track in tracks:
        if groups and track.is_view_of(most_segmented(groups[-1])):
            groups[-1].append(track)
        else:
            groups.append([track])
    return groups


def most_segmented(views: list[Track]) -> Track:
    """The view with most segments, the first of them: cameras that stopped early miss the last steps."""
    return max(views, key=lambda view: len(view.actions))


def _task(path: Path, task: str, lists: Any, names: dict[int, str]) -> TaskSequences:
    tracks = _tracks(path, task, lists)
    actions = sorted({action for track in tracks for action in track.actions} - {0})
    unnamed = [action for action in actions if action not in names]
    if unnamed:
        raise InputError(f"{path}, task {task}: steps {unnamed} have no name in {NAMES_FILE}: add them.")
    numbers = {action: number for number, action in enumerate(actions, start=1)}
    handles = [clean_name(str(handle)) for handle in lists["handles"]]
    if len(set(handles)) < len(handles):
        raise InputError(f"{path}, task {task}: a recording's handle comes twice: fetch the file again.")
    is_single_view = len(handles) == len(tracks)
    groups = [[track] for track in tracks] if is_single_view else group_views(tracks)
    ids = handles if is_single_view else [f"{task}-{number:02d}" for number in range(1, len(groups) + 1)]
    return TaskSequences(
        name=task,
        steps=tuple(KeyStep(number, names[action]) for action, number in numbers.items()),
        recordings=tuple(
            replace(_sequence(id_, most_segmented(group), numbers), view=EGO if is_single_view else "")
            for id_, group in zip(ids, groups, strict=True)
        ),
        views=tuple(
            replace(_sequence(f"{id_}.{view}", track, numbers), recording=id_)
            for id_, group in zip(ids, groups, strict=True)
            for view, track in enumerate(group, start=1)
            if not is_single_view
        ),
        stated_videos=len(handles),
    )


def _sequence(id_: str, track: Track, numbers: dict[int, int]) -> StepSequence:
    segments = (
        Segment(numbers[action], start / FRAMES_PER_SECOND, end / FRAMES_PER_SECOND)
        for action, start, end in zip(track.actions, track.starts, track.ends, strict=True)
        if action != 0
    )
    return StepSequence(id_, track.end / FRAMES_PER_SECOND, tuple(segments))


def _tracks(path: Path, task: str, lists: Any) -> list[Track]:
    try:
        columns = [lists[name] for name in LISTS]
        handles = lists["handles"]
        tracks = [Track(*(tuple(map(_whole, column)) for column in row)) for row in zip(*columns, strict=True)]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}, task {task}: expected handles and the lists {', '.join(LISTS)} of one length ({error!r}): "
            "fetch the file again."
        ) from error
    if not isinstance(handles, list) or not handles:
        raise InputError(f"{path}, task {task}: expected a list of handles, got {handles!r}: fetch the file again.")
    for number, track in enumerate(tracks):
        _check(f"{path}, task {task}, sequence {number}", track)
    return tracks


def _whole(value: Any) -> int:
    """A whole number, which the file writes as a number or in quotes; raises ValueError for anything else."""
    if isinstance(value, bool) or not WHOLE.fullmatch(str(value)):
        raise ValueError(f"{shown(str(value))} is no whole number from 0 on")
    return int(value)


def _check(place: str, track: Track) -> None:
    """A track has no overlap, every stretch is at least one frame long, and the last one ends in finite time."""
    if not track.actions or not len(track.actions) == len(track.starts) == len(track.ends):
        raise InputError(f"{place}: expected as many actions as starts and ends, at least one: fetch the file again.")
    if any(end <= start for start, end in zip(track.starts, track.ends, strict=True)):
        raise InputError(f"{place}: a step ends before it starts: correct its times.")
    if any(start < end for (_, end), (start, _) in pairwise(zip(track.starts, track.ends, strict=True))):
        raise InputError(f"{place}: two steps overlap: correct their times.")
    if track.end > LATEST_S * FRAMES_PER_SECOND:
        raise InputError(f"{place}: it ends at frame {track.end}, more than {LATEST_S:g} s: correct its times.")
