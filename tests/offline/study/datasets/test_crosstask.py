"""CrossTask: made files in the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.crosstask import read_task_list, read_tasks
from offline.study.datasets.label_folder import ReadOptions
from tests.made_datasets import make_crosstask, write

STRICT = ReadOptions()


def test_tasks_steps_and_videos(tmp_path: Path) -> None:
    tasks = read_tasks(make_crosstask(tmp_path), STRICT)
    task = tasks["23521"]
    assert task.name == "Make Jello Shots"
    assert [step.label for step in task.steps] == ["1 pour water", "2 stir"]
    assert [one.id for one in task.recordings] == ["a_B-1", "c"]
    assert task.recordings[0].segments == (Segment(1, 0.5, 2.25), Segment(2, 2.0, 4.0), Segment(1, 5.0, 6.0))
    assert (task.recordings[0].view, task.recordings[0].has_length) == ("third", False)


def test_what_is_listed_and_not_there_is_named_and_overlaps_are_counted(tmp_path: Path) -> None:
    tasks = read_tasks(make_crosstask(tmp_path), STRICT)
    assert tasks["23521"].missing == ("step times of the video lost",)
    assert tasks["16815"].missing == ("step times of the video gone",)
    assert "1 step starts before an earlier one has ended: the later one wins" in tasks["23521"].remarks()
    for name in ("videos.csv", "videos_val.csv"):
        (tmp_path / "crosstask_release" / name).unlink()
    tasks = read_tasks(tmp_path, STRICT)
    assert (tasks["23521"].missing, tasks["16815"].missing) == ((), ("its label files",))


FAULTS = [
    ("", "line 1: the file is empty"),
    ("1,2\n", "line 1: expected step,start,end, got 2 values"),
    ("3,1,2\n", "line 1: steps are numbered 1 to 2, got '3'"),
    ("x,1,2\n", "line 1: steps are numbered 1 to 2, got 'x'"),
    ("1,1,2\n1,3,2\n", "line 2: a step ends after it starts"),
    ("1,nan,2\n", "line 1: a step ends after it starts"),
]


@pytest.mark.parametrize(("text", "sentence"), FAULTS)
def test_rows_that_cannot_be_right_are_named_and_left_out_leniently(tmp_path: Path, text: str, sentence: str) -> None:
    place = make_crosstask(tmp_path) / "crosstask_release" / "annotations"
    write(place / "23521_c.csv", text)
    with pytest.raises(InputError, match=rf"23521_c\.csv {sentence}"):
        read_tasks(tmp_path, STRICT)
    task = read_tasks(tmp_path, ReadOptions(lenient=True))["23521"]
    assert sentence in task.changes[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "names no task"),
        ("1\nA\nu\n2\n", "line 1: a task has 5 lines"),
        ("\n1\nA\nu\n3\na,b\n", "line 5: '3' steps are announced, 2 follow"),
    ],
)
def test_a_damaged_task_list_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=rf"tasks\.txt {sentence}"):
        read_task_list(write(tmp_path / "tasks.txt", text))


def test_strange_files_and_missing_folders_are_named(tmp_path: Path) -> None:
    place = make_crosstask(tmp_path) / "crosstask_release"
    write(place / "annotations" / "999_x.csv", "1,1,2\n")
    with pytest.raises(InputError, match=r"999_x\.csv should be named after a task"):
        read_tasks(tmp_path, STRICT)
    write(place / "videos.csv", "23521\n")
    (place / "annotations" / "999_x.csv").unlink()
    with pytest.raises(InputError, match=r"videos\.csv line 1: expected task,video,address"):
        read_tasks(tmp_path, STRICT)
    with pytest.raises(InputError, match=r"should hold tasks_primary\.txt"):
        read_tasks(place / "annotations", STRICT)
    for path in (place / "annotations").iterdir():
        path.unlink()
    (place / "annotations").rmdir()
    with pytest.raises(InputError, match="should hold a folder annotations"):
        read_tasks(tmp_path, STRICT)
