"""Data sets as features or labels: clean recordings by default, overlaps and missing files told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.errors import InputError
from offline.study.datasets.label_folder import ReadOptions
from offline.study.evaluation.feature_tasks import read_feature_tasks
from tests.made_datasets import make_egoprocel, make_egoprocel_json


def recording(name: str, recipe: int, is_error: bool, *steps: tuple[int, float, float]) -> dict[str, Any]:
    annotations = [{"step_id": n, "description": f"step {n}", "start_time": a, "end_time": b} for n, a, b in steps]
    return {"recording_id": name, "activity_id": recipe, "is_error": is_error, "step_annotations": annotations}


@pytest.fixture
def cooking(tmp_path: Path) -> Path:
    content = [
        recording("3_1", 3, False, (30, 4.2, 6.6), (28, 0.9, 4.6)),
        recording("3_2", 3, True, (30, 1.0, 3.0)),
        recording("3_3", 3, False, (28, 1.0, 3.0)),
        recording("5_1", 5, False, (7, 0.0, 3.0)),
    ]
    (tmp_path / "error_annotations.json").write_text(json.dumps(content))
    names = {"3_1": {"activity_id": 3, "activity_name": "Mug Pizza"}, "5_1": {"activity_id": 5, "activity_name": "Tea"}}
    (tmp_path / "complete_step_annotations.json").write_text(json.dumps(names))
    (tmp_path / "omnivore_f16").mkdir()
    for name in ("3_1", "3_2", "5_1"):
        np.save(tmp_path / "omnivore_f16" / f"{name}.npy", np.ones((8, 1024), np.float16))
    return tmp_path


def test_clean_recordings_overlaps_and_missing_files(cooking: Path) -> None:
    (task,) = read_feature_tasks(cooking, ["3"], include_errors=False)
    assert (task.title, task.k, [seen.id for seen in task.recordings]) == ("3 Mug Pizza", 2, ["3_1"])
    assert task.notes == (
        "1 overlaps of steps resolved: the step listed later wins",
        "1 recordings with mistakes left out (--include-errors takes them)",
        "1 recordings without a feature file left out: 3_3",
    )
    assert task.truth[0].tolist() == [1, 1, 1, 1, 1, 2, 2, 0]


def test_recordings_with_mistakes_can_be_taken(cooking: Path) -> None:
    (task,) = read_feature_tasks(cooking, ["mug pizza"], include_errors=True)
    assert [seen.id for seen in task.recordings] == ["3_1", "3_2"]


def test_all_tasks_where_none_is_named_and_an_unknown_one_is_refused(cooking: Path) -> None:
    assert [task.word for task in read_feature_tasks(cooking, [], False)] == ["3", "5"]
    assert [task.word for task in read_feature_tasks(cooking, ["5", "3", "5"], False)] == ["5", "3"]
    with pytest.raises(InputError, match=r"no task '7' here, there are 3 \(Mug Pizza\), 5 \(Tea\)"):
        read_feature_tasks(cooking, ["3", "7"], False)


def test_a_data_set_without_pictures(tmp_path: Path) -> None:
    (read,) = read_feature_tasks(make_egoprocel_json(tmp_path), [], False)
    assert (read.is_seen, read.subset, read.truth[0].tolist()) == (False, "PC Assembly", [0, 0, 1, 1, 1, 1])


def test_labels_of_unknown_length_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('0,2,"1 open"\n')
    (read,) = read_feature_tasks(tmp_path, [], False)
    assert read.notes[-1].startswith("the length of 1 of 1 recordings is not known: they are taken to end with")


def test_cooking_has_no_views(cooking: Path) -> None:
    with pytest.raises(InputError, match="has one camera, on the head, and no view 'top': leave --view out"):
        read_feature_tasks(cooking, ["3"], False, view="top")


def test_a_list_of_steps_is_for_label_files(cooking: Path, tmp_path: Path) -> None:
    listed = ReadOptions(steps=tmp_path / "steps.txt")
    (tmp_path / "steps.txt").write_text("1 stir\n9 salt\n")
    (tmp_path / "soup").mkdir()
    (tmp_path / "soup" / "first.csv").write_text("0,1,1 stir\n1,2,9 salt\n")
    assert read_feature_tasks(tmp_path / "soup", [], False, listed)[0].k == 2
    for place in (cooking, make_egoprocel_json(tmp_path / "json")):
        with pytest.raises(InputError, match="names its steps itself: leave --steps out"):
            read_feature_tasks(place, [], False, listed)


def test_one_camera_of_several(tmp_path: Path) -> None:
    make_egoprocel(tmp_path)
    (top,) = read_feature_tasks(tmp_path, ["Brownie.cmu"], False, view="top")
    assert (top.view, [seen.id for seen in top.recordings]) == ("top", ["S07_Brownie_7151020-11"])
    assert any("S08_Brownie has no view top" in note for note in top.notes)
    (third,) = read_feature_tasks(tmp_path, [], False, view="third")
    assert len(third.recordings) == 5
    assert third.notes[-1].startswith("5 tasks without the view third left out: ")
    with pytest.raises(InputError, match="has no view 'top', the views are ego"):
        read_feature_tasks(tmp_path, ["meccano"], False, view="top")
    with pytest.raises(InputError, match="no task here has a view 'left'"):
        read_feature_tasks(tmp_path, [], False, view="left")
