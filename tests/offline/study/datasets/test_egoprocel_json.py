"""EgoProceL's JSON: made files in its layout, and the real one where it is at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.egoprocel_json import Track, group_views, read_tasks, subset_of

SHARED = os.environ.get("CNC_SHARED_DATA")

TASK = {
    "handles": ["Head_1", "Head_2"],
    "hdl_actions": [["0", "7", "0", "5"], ["5", "0"]],
    "hdl_start_times": [[0, 10, 20, 30], [0, 15]],
    "hdl_end_times": [[10, 20, 30, 49], [15, 39]],
}
CMU = {
    "handles": ["S07", "S08"],
    "hdl_actions": [["0", "7", "0"], ["0", "7"], ["0", "7", "0"], ["0", "7", "0"], ["0", "7", "0"]],
    "hdl_start_times": [[0, 10, 20], [0, 10], [0, 4, 14], [0, 30, 70], [0, 30, 70]],
    "hdl_end_times": [[10, 20, 29], [10, 19], [4, 14, 29], [30, 70, 89], [30, 70, 85]],
}


def write(folder: Path, **tasks: Any) -> Path:
    (folder / "egoprocel.json").write_text(json.dumps(tasks))
    (folder / "egoprocel-id2action.txt").write_text("0 background\n5 add_salt\n7 chop_vegetables\n")
    return folder


def test_times_names_and_numbers(tmp_path: Path) -> None:
    task = read_tasks(write(tmp_path, soup=TASK))["soup"]
    assert [step.label for step in task.steps] == ["1 add salt", "2 chop vegetables"]
    assert [recording.id for recording in task.recordings] == ["Head_1", "Head_2"]
    assert task.recordings[0].segments == (Segment(2, 1.0, 2.0), Segment(1, 3.0, 4.9))
    assert task.recordings[0].duration_s == 4.9
    assert task.recordings[1].labels(2.0).tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_camera_views_are_never_zipped_with_handles(tmp_path: Path) -> None:
    """Five views of two performances: one cut short, one shifted, then another performance of the same steps."""
    task = read_tasks(write(tmp_path, **{"Soup.cmu": CMU}))["Soup.cmu"]
    assert [recording.id for recording in task.recordings] == ["Soup.cmu-01", "Soup.cmu-02"]
    assert [view.id for view in task.views][:4] == ["Soup.cmu-01.1", "Soup.cmu-01.2", "Soup.cmu-01.3", "Soup.cmu-02.1"]
    assert task.recordings[1].segments == (Segment(1, 3.0, 7.0),)
    assert task.videos == 2


def test_views_shift_by_a_constant_only() -> None:
    first = Track((0, 1, 0, 2), (0, 10, 20, 30), (10, 20, 30, 40))
    shifted = Track((0, 1, 0, 2), (0, 4, 13, 24), (4, 13, 24, 34))
    other = Track((0, 1, 0, 2), (0, 10, 25, 40), (10, 25, 40, 44))
    assert [len(group) for group in group_views([first, shifted, other])] == [2, 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hdl_actions": [["0", "7", "0", "9"], ["5", "0"]]}, r"steps \[9\] have no name"),
        ({"hdl_actions": [["0", "7", "0"], ["5", "0"]]}, "sequence 0: expected as many actions"),
        ({"hdl_actions": [["0", "x", "0", "5"], ["5", "0"]]}, "of one length"),
        ({"hdl_end_times": [[10, 20, 30, 49]]}, "of one length"),
        ({"hdl_end_times": [[10, 20, 30, 30], [15, 39]]}, "ends before it starts"),
        ({"hdl_end_times": [[10, 22, 30, 49], [15, 39]]}, "two steps overlap"),
        ({"handles": None}, "a list of handles"),
    ],
)
def test_damaged_tasks_are_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        read_tasks(write(tmp_path, soup=TASK | change))
    assert "task soup" in str(refused.value)


def test_a_folder_without_names_is_refused(tmp_path: Path) -> None:
    write(tmp_path, soup=TASK)
    (tmp_path / "egoprocel-id2action.txt").unlink()
    with pytest.raises(InputError, match=r"id2action\.txt was expected"):
        read_tasks(tmp_path)


def test_names_that_are_no_utf_8_are_refused(tmp_path: Path) -> None:
    write(tmp_path, soup=TASK)
    (tmp_path / "egoprocel-id2action.txt").write_bytes(b"0 background\n1 cr\xe8me\n")
    with pytest.raises(InputError, match=r"id2action\.txt should hold UTF-8 text"):
        read_tasks(tmp_path)


@pytest.mark.parametrize(
    ("task", "subset"), [("Pizza.cmu", "CMU-MMAC"), ("Pizza.egtea", "EGTEA Gaze+"), ("pc_assembly", "pc_assembly")]
)
def test_subsets(task: str, subset: str) -> None:
    assert subset_of(task) == subset


@pytest.mark.skipif(SHARED is None, reason="CNC_SHARED_DATA does not point to the real data")
def test_the_real_file() -> None:
    """At ten frames a second the recordings add up to the paper's 62 hours, less 3 MECCANO videos of 20 minutes."""
    tasks = read_tasks(Path(str(SHARED)) / "egoprocel")
    assert len(tasks) == 16
    assert {n: len(t.recordings) for n, t in tasks.items() if n.endswith(".cmu")} == {
        "Sandwich.cmu": 31,
        "Salad.cmu": 34,
        "Eggs.cmu": 33,
        "Brownie.cmu": 33,  # two neighbouring performances carry the same labels
        "Pizza.cmu": 33,
    }
    hours = sum(recording.duration_s for task in tasks.values() for recording in task.recordings) / 3600
    assert hours == pytest.approx(62 - 1, abs=0.5)
