"""EgoProceL's folders: made files in the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.egoprocel_folder import find_subsets, read_tasks
from offline.study.datasets.label_folder import ReadOptions
from tests.made_datasets import make_egoprocel, write

STRICT = ReadOptions()


def test_every_subset_is_read_under_the_words_of_the_json_file(tmp_path: Path) -> None:
    tasks = read_tasks(make_egoprocel(tmp_path), STRICT)
    assert set(tasks) == {"Brownie.cmu", "Pizza.egtea", "tent", "meccano", "pc_assembly", "pc_disassembly"}
    assert tasks["tent"].recordings[0].id == "01.tent.090617.gopro"
    assert {one.view for word in ("tent", "meccano", "Pizza.egtea") for one in tasks[word].recordings} == {"ego"}


def test_numbers_with_dots_and_gaps(tmp_path: Path) -> None:
    task = read_tasks(make_egoprocel(tmp_path), STRICT)["Pizza.egtea"]
    assert [step.label for step in task.steps] == ["1 cut onion", "2 bake"]
    assert task.recordings[0].segments == (Segment(1, 1.0, 2.0), Segment(2, 3.0, 4.0))


def test_cameras_are_views_of_one_performance_and_missing_ones_are_named(tmp_path: Path) -> None:
    task = read_tasks(make_egoprocel(tmp_path), STRICT)["Brownie.cmu"]
    assert [(one.id, one.view) for one in task.recordings] == [("S07_Brownie", "ego"), ("S08_Brownie", "ego")]
    assert len(task.views) == 7
    assert [view.view for view in task.views][:5] == ["back", "ego", "top", "rhs", "lhs"]
    assert task.missing == (
        "S08_Brownie has no view back", "S08_Brownie has no view top", "S08_Brownie has no view lhs",
    )  # fmt: skip


def test_a_camera_nobody_knows_is_called_by_its_number(tmp_path: Path) -> None:
    make_egoprocel(tmp_path)
    path = tmp_path / "annotations" / "CMU-MMAC" / "Brownie" / "S07_Brownie_Video" / "S07_Brownie_8421131-11.csv"
    write(path, "1,2,1 break egg\n")
    assert read_tasks(tmp_path, STRICT)["Brownie.cmu"].views[-3].view == "8421131"
    write(path.with_name("brownie.csv"), "1,2,1 break egg\n")
    with pytest.raises(InputError, match=r"brownie\.csv: it tells the camera"):
        read_tasks(tmp_path, STRICT)


@pytest.mark.parametrize("name", ["", "annotations", "annotations/CMU-MMAC"])
def test_the_folder_may_be_given_at_any_height(tmp_path: Path, name: str) -> None:
    assert "CMU-MMAC" in find_subsets(make_egoprocel(tmp_path) / name)
    assert find_subsets(tmp_path / "annotations" / "CMU-MMAC" / "Brownie") == {}


def test_a_task_without_labels_is_named(tmp_path: Path) -> None:
    (make_egoprocel(tmp_path) / "annotations" / "EGTEA_Gaze+" / "GreekSalad").mkdir()
    task = read_tasks(tmp_path, STRICT)["GreekSalad.egtea"]
    assert (task.recordings, task.missing) == ((), ("its label files",))


def test_faults_of_all_tasks_are_told_together_and_repaired_leniently(tmp_path: Path) -> None:
    folder = make_egoprocel(tmp_path) / "annotations"
    write(folder / "MECCANO" / "0004.csv", "5,4,1 take bar\n")
    write(folder / "pc_assembly" / "Head_7.csv", "")
    with pytest.raises(
        InputError, match=r"0004\.csv line 1: the step ends.*Head_7\.csv line 1: the file is empty.*--len"
    ):
        read_tasks(tmp_path, STRICT)
    tasks = read_tasks(tmp_path, ReadOptions(lenient=True))
    assert tasks["meccano"].recordings[1].segments == (Segment(1, 4.0, 5.0),)
    assert (
        "0004.csv line 1: the step ends at 4 s, before it starts at 5 s: start and end" in tasks["meccano"].changes[0]
    )
