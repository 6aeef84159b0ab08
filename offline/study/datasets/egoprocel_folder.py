"""EgoProceL as published: a folder of label files for each sub-set, CMU-MMAC with its camera views.

    annotations/CMU-MMAC/Brownie/S07_Brownie_Video/S07_Brownie_7150991-1431.csv    one file a camera
    annotations/EGTEA_Gaze+/BaconAndEggs/OP01-R03-BaconAndEggs.csv
    annotations/EPIC-Tents/01.tent.090617.gopro.egoprocel.ann.csv
    annotations/MECCANO/0003.csv
    annotations/pc_assembly/Head_5.csv
    annotations/pc_disassembly/Head_6.csv

Written from the published layout and tested on made files; the originals were not at hand. The files hold no lengths:
videos saved in the same folders, as the data set's authors advise, give them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from guide.errors import InputError
from offline.study.datasets.label_folder import (
    LabelledVideo,
    ReadOptions,
    find_videos,
    folders,
    is_label_file,
    label_files,
    read_groups,
    with_strays,
)
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import CMU_VIEWS, EGO

ANNOTATIONS: Final = "annotations"
SUBSETS: Final = {
    "cmummac": "CMU-MMAC",
    "cmukitchens": "CMU-MMAC",
    "egteagaze": "EGTEA Gaze+",
    "egteagazep": "EGTEA Gaze+",
    "egteagazeplus": "EGTEA Gaze+",
    "epictents": "EPIC-Tents",
    "epictent": "EPIC-Tents",
    "meccano": "MECCANO",
    "pcassembly": "PC Assembly",
    "pcdisassembly": "PC Disassembly",
}
"""Sub-sets by the letters of their folder's name: the paper, the archive and the code spell them differently."""
SINGLE_TASKS: Final = {
    "EPIC-Tents": "tent",
    "MECCANO": "meccano",
    "PC Assembly": "pc_assembly",
    "PC Disassembly": "pc_disassembly",
}
"""The one task of each sub-set that has one; the words are those of the JSON file."""
ENDINGS: Final = {"CMU-MMAC": ".cmu", "EGTEA Gaze+": ".egtea"}
"""What follows a task's name where two sub-sets have tasks of one name (Pizza)."""
CMU_FILE: Final = re.compile(r"(S\d+_[^_]+)_(\d+)(?:-\d+)?")
TENT_SUFFIX: Final = ".egoprocel.ann"


def find_subsets(folder: Path) -> dict[str, Path]:
    """The sub-sets' folders in `folder`, in its `annotations`, or `folder` itself where it is one; none otherwise."""
    for place in (folder, folder / ANNOTATIONS):
        if place.is_dir():
            found = {subset: sub for sub in folders(place) if (subset := _subset(sub))}
            if found:
                return found
    own = _subset(folder)
    return {own: folder} if own and folder.is_dir() else {}


def read_tasks(folder: Path, options: ReadOptions) -> dict[str, TaskSequences]:
    """Every task found by the word the JSON file uses for it, such as `Pizza.cmu`.

    What is not there is named: a task's folder without labels, a performance one of the cameras did not film.
    """
    groups: dict[str, list[LabelledVideo]] = {}
    subsets = find_subsets(folder)
    for subset, place in subsets.items():
        groups |= _groups(subset, place)
    tasks = read_groups(
        {word: labelled for word, labelled in groups.items() if labelled},
        find_videos(options.videos or folder),
        options,
    )
    tasks = {word: _with_views(task) if word.endswith(ENDINGS["CMU-MMAC"]) else task for word, task in tasks.items()}
    empty = {word: TaskSequences(word, (), (), missing=("its label files",)) for word in groups if not groups[word]}
    top = folder if folder in subsets.values() else next(iter(subsets.values())).parent
    read = [one.path for labelled in groups.values() for one in labelled]
    return with_strays(tasks | empty, top, read, is_label_file)


def cmu_video(path: Path) -> LabelledVideo:
    """A CMU-MMAC label file: its performance and camera stand in its name; raises InputError where they do not.

    >>> cmu_video(Path("S07_Brownie_7150991-1431.csv")).recording, cmu_video(Path("S07_Brownie_7151020-1.csv")).view
    ('S07_Brownie', 'top')
    """
    match = CMU_FILE.fullmatch(path.stem)
    if match is None:
        raise InputError(f"a name such as S07_Brownie_7150991-1431.csv was expected, got {path}: it tells the camera.")
    return LabelledVideo(path.stem, path, CMU_VIEWS.get(match[2], match[2]), match[1])


def _groups(subset: str, place: Path) -> dict[str, list[LabelledVideo]]:
    if subset in SINGLE_TASKS:
        return {SINGLE_TASKS[subset]: [_head_video(path) for path in label_files(place)]}
    ending = ENDINGS[subset]
    if subset == "CMU-MMAC":
        files = {task: [path for sub in (task, *folders(task)) for path in label_files(sub)] for task in folders(place)}
        return {task.name + ending: [cmu_video(path) for path in paths] for task, paths in files.items()}
    return {task.name + ending: [_head_video(path) for path in label_files(task)] for task in folders(place)}


def _head_video(path: Path) -> LabelledVideo:
    return LabelledVideo(path.stem.removesuffix(TENT_SUFFIX), path, EGO)


def _with_views(task: TaskSequences) -> TaskSequences:
    """A task of several cameras: the recordings are seen from the head where that camera filmed them."""
    performances: dict[str, list[StepSequence]] = {}
    for view in task.recordings:
        performances.setdefault(view.recording, []).append(view)
    recordings = tuple(replace(_best(views), id=id_, recording="") for id_, views in performances.items())
    return replace(task, recordings=recordings, views=task.recordings, missing=task.missing + _unseen(performances))


def _best(views: list[StepSequence]) -> StepSequence:
    return next((view for view in views if view.view == EGO), max(views, key=lambda view: len(view.segments)))


def _unseen(performances: Mapping[str, list[StepSequence]]) -> tuple[str, ...]:
    return tuple(
        f"{id_} has no view {view}"
        for id_, views in performances.items()
        for view in CMU_VIEWS.values()
        if view not in {one.view for one in views}
    )


def _subset(folder: Path) -> str:
    return SUBSETS.get(re.sub("[^a-z]", "", folder.resolve().name.lower()), "")
