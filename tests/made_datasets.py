"""Made data sets in the layouts of the published ones: two tasks or fewer, a few seconds each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

from guide.record.elan import Annotation, Tier, write_elan

BROWNIE = '0.5,2.0,"1 break egg"\n2.0,3.0,"2 mix eggs"\n4.0,5.5,"1 break egg"\n'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def make_egoprocel(folder: Path) -> Path:
    """S07 with the five cameras of CMU-MMAC, S08 without the one above; every other sub-set with a video or two."""
    cameras = {"S07": ("6510211", "7150991", "7151020", "7151062", "8421130"), "S08": ("7150991", "7151062")}
    for subject, numbers in cameras.items():
        for camera in numbers:
            place = folder / "annotations" / "CMU-MMAC" / "Brownie" / f"{subject}_Brownie_Video"
            write(place / f"{subject}_Brownie_{camera}-11.csv", BROWNIE)
    write(folder / "annotations" / "EGTEA_Gaze+" / "Pizza" / "OP01-R07-Pizza.csv", "1,2,1. cut onion\n3,4,3. bake\n")
    write(folder / "annotations" / "EPIC-Tents" / "01.tent.090617.gopro.egoprocel.ann.csv", "1,2,1 spread tent\n")
    write(folder / "annotations" / "MECCANO" / "0003.csv", "1,2,1 take bar\n")
    write(folder / "annotations" / "pc_assembly" / "Head_5.csv", "1,2,1 fit board\n")
    write(folder / "annotations" / "pc_disassembly" / "Head_6.csv", "1,2,1 open case\n")
    return folder


def make_egoprocel_json(folder: Path) -> Path:
    lists: dict[str, Any] = {
        "handles": ["Head_5"],
        "hdl_actions": [["0", "5"]],
        "hdl_start_times": [[0, 10]],
        "hdl_end_times": [[10, 29]],
    }
    write(folder / "egoprocel.json", json.dumps({"pc_assembly": lists}))
    write(folder / "egoprocel-id2action.txt", "0 background\n5 fit_board\n")
    return folder


def make_captaincook(folder: Path) -> Path:
    steps = [{"step_id": 30, "description": "Pour", "start_time": 4.0, "end_time": 6.0}]
    recording = {"recording_id": "3_1", "activity_id": 3, "is_error": False, "step_annotations": steps}
    write(folder / "error_annotations_made.json", json.dumps([recording]))
    names = {"3_1": {"activity_id": 3, "activity_name": "Mug Pizza"}}
    write(folder / "complete_step_annotations_made.json", json.dumps(names))
    return folder


def make_crosstask(folder: Path) -> Path:
    """Two videos of one task with step times, one listed without, and a task nobody annotated."""
    place = folder / "crosstask_release"
    tasks = "23521\nMake Jello Shots\nhttp://a\n2\npour water,stir\n\n16815\nChange a Tire\nhttp://b\n1\njack up\n\n"
    write(place / "tasks_primary.txt", tasks)
    write(place / "videos.csv", "23521,a_B-1,http://x\n23521,lost,http://y\n16815,gone,http://z\n")
    write(place / "videos_val.csv", "23521,c,http://x\n")
    write(place / "annotations" / "23521_a_B-1.csv", "1,0.5,2.25\n2,2,4\n1,5,6\n")
    write(place / "annotations" / "23521_c.csv", "2,1,2\n")
    return folder


def cells(values: list[Any]) -> Any:
    """MATLAB's cells: a column of objects."""
    column = np.empty((len(values), 1), dtype=object)
    for number, value in enumerate(values):
        column[number, 0] = value
    return column


def make_procel(folder: Path, names: str = "http://a\tcpr_0001\t0\t10\nhttp://b\tcpr_0002\t5\t17\n") -> Path:
    """Two videos of one task: the first does step 1 twice and step 2 once, the second only step 2."""
    none = np.zeros((0, 0))
    first = cells([np.array([[6.0, 7.5], [0.5, 2.0]]), np.array([[2.0, 3.0]])])
    second = cells([none, np.array([[1.0, 4.0]])])
    content = {
        "grammar": cells(["check breathing", "press chest"]),
        "key_steps_time": cells([first, second]),
        "segment_time": cells([np.array([[0.0, 4.0], [4.0, 10.0]]), np.array([[0.0, 12.0]])]),
    }
    place = folder / "ProceL_dataset" / "perform_cpr"
    place.mkdir(parents=True)
    savemat(place / "data.mat", content)
    write(place / "readme.txt", names)
    return folder


def make_labels(folder: Path) -> Path:
    """A folder for each of two tasks: CSV and ELAN files, numbers with a gap, names alone."""
    write(folder / "shelf" / "first.csv", "0,1,1 open box\n1,2,4 fit board\n")
    rows = (Annotation(0.0, 1.5, "4 fit board"), Annotation(2.0, 3.0, "1 open box"))
    write_elan(folder / "shelf" / "second.eaf", [Tier("steps", rows)])
    (folder / "tea").mkdir()
    write_elan(
        folder / "tea" / "phone.eaf", [Tier("work", (Annotation(1.0, 2.0, "boil"), Annotation(2.0, 3.0, "pour")))]
    )
    return folder


MAKERS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "egoprocel": (make_egoprocel, "Brownie.cmu"),
    "egoprocel.json": (make_egoprocel_json, "pc_assembly"),
    "captaincook": (make_captaincook, "Mug Pizza"),
    "crosstask": (make_crosstask, "23521"),
    "procel": (make_procel, "perform_cpr"),
    "labels": (make_labels, "shelf"),
}
"""Each data set and one of its tasks."""
