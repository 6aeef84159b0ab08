"""Folders of label files, and the videos that give them their lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import Segment
from guide.errors import InputError
from guide.teach.annotations import LabelFile
from offline.study.datasets.label_folder import ReadOptions, find_videos, read_tasks, usual_steps
from tests.made_datasets import make_labels, write
from tests.synth import grey_levels, steady, write_video

STRICT = ReadOptions()
LENIENT = ReadOptions(lenient=True)


def test_tasks_numbers_and_names(tmp_path: Path) -> None:
    tasks = read_tasks(make_labels(tmp_path), STRICT)
    assert set(tasks) == {"shelf", "tea"}
    assert [step.label for step in tasks["shelf"].steps] == ["1 open box", "2 fit board"]
    assert tasks["shelf"].recordings[1].segments == (Segment(2, 0.0, 1.5), Segment(1, 2.0, 3.0))
    assert [step.label for step in tasks["tea"].steps] == ["1 boil", "2 pour"]
    assert not any(one.has_length for one in tasks["shelf"].recordings)


def test_a_task_in_a_folder_of_its_own_name_is_not_lost(tmp_path: Path) -> None:
    write(tmp_path / "soup" / "first.csv", "0,1,1 stir\n")
    write(tmp_path / "soup" / "soup" / "second.csv", "0,1,1 stir\n")
    assert set(read_tasks(tmp_path / "soup", STRICT)) == {"soup", "soup/soup"}


def test_a_video_of_the_same_name_gives_the_length_and_a_missing_one_is_named(tmp_path: Path) -> None:
    write(tmp_path / "soup" / "first.csv", "0,1,1 stir\n")
    write(tmp_path / "soup" / "second.csv", "0,1,1 stir\n")
    (tmp_path / "films" / "deep").mkdir(parents=True)
    write_video(tmp_path / "films" / "deep" / "first.mp4", grey_levels(20), steady(20, 10.0))
    task = read_tasks(tmp_path / "soup", ReadOptions(videos=tmp_path / "films"))["soup"]
    assert task.recordings[0].duration_s == pytest.approx(2.0)
    assert (task.recordings[0].has_length, task.recordings[1].has_length) == (True, False)
    assert task.missing == ("the video of second",)
    write(tmp_path / "soup" / "first.csv", "0,9,1 stir\n")
    with pytest.raises(InputError, match=r"first\.csv line 1: the step ends at 9 s, past the recording's end"):
        read_tasks(tmp_path / "soup", ReadOptions(videos=tmp_path / "films"))
    with pytest.raises(InputError, match="a folder of videos was expected"):
        find_videos(tmp_path / "nowhere")


def test_the_usual_name_is_taken_where_files_differ(tmp_path: Path) -> None:
    for person, name in (("first", "stir"), ("second", "Stir it"), ("third", "stir")):
        write(tmp_path / f"{person}.csv", f"0,1,1 {name}\n")
    task = next(iter(read_tasks(tmp_path, STRICT).values()))
    assert task.step_name(1) == "stir"
    assert task.changes == ("step 1 has 2 names, 'stir' is taken, which 2 of 3 files use",)


def test_other_tables_and_hidden_files_are_no_labels_but_faulty_labels_are(tmp_path: Path) -> None:
    write(tmp_path / "ages.csv", "name,age,city\nann,3,rome\n")
    write(tmp_path / ".first.csv", "0,1,1 a\n")
    write(tmp_path / "header.csv", "start,end,step\n0,1,1 a\n")
    write(tmp_path / "empty.csv", "")
    with pytest.raises(InputError, match=r"(?s)empty\.csv line 1.*header\.csv line 1") as told:
        read_tasks(tmp_path, STRICT)
    assert "ages" not in str(told.value)
    assert ".first" not in str(told.value)
    (task,) = read_tasks(tmp_path, LENIENT).values()
    assert [one.id for one in task.recordings] == ["empty", "header"]
    assert task.remarks()[0] == "not read: ages.csv, another kind of table"


def test_labels_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"0,1,1 caf\xe9\n")
    with pytest.raises(InputError, match=r"latin\.csv cannot be read as UTF-8"):
        read_tasks(tmp_path, LENIENT)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("0.5;2;1 open box", "here by semicolons"),
        ("0.5\t2\t1 open box", "here by tabs"),
        ("0.5,2,open box", "a step is a number from 1 on and a name"),
        ("0.5,2,1 open box,in a hurry", "got 4 values"),
    ],
)
def test_labels_in_a_wrong_form_are_named_and_not_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, row: str, told: str
) -> None:
    write(tmp_path / "right.csv", "0,1,1 open box\n")
    write(tmp_path / "wrong.csv", f"{row}\n")
    with pytest.raises(InputError, match=rf"wrong\.csv line 1: .*{told}"):
        read_tasks(tmp_path, STRICT)
    assert not caplog.records
    (task,) = read_tasks(tmp_path, LENIENT).values()
    assert [len(one.segments) for one in task.recordings] == [1, 0]
    assert f"{tmp_path}/wrong.csv line 1" in task.changes[0]
    assert len(caplog.records) == 1


def test_a_table_named_like_a_video_is_meant_as_its_labels(tmp_path: Path) -> None:
    """Whatever is in it: nothing else would say that the recording has no labels."""
    write(tmp_path / "a.csv", "0,1,1 open box\n")
    write(tmp_path / "b.csv", "name,age,city\n")
    write_video(tmp_path / "b.mp4", grey_levels(4), steady(4, 10.0))
    with pytest.raises(InputError, match=r"b\.csv line 1"):
        read_tasks(tmp_path, STRICT)


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ([{1, 2}, {1, 2, 9}], {1, 2}),
        ([{1, 2, 9}, {1, 2, 9}], {1, 2, 9}),
        ([{1, 2, 3}, {1, 2}], {1, 2, 3}),
        ([{1, 9}], {1, 9}),
    ],
    ids=["a slip", "a gap all have", "a step one left out", "one file cannot tell"],
)
def test_numbers_that_are_steps(files: list[set[int]], known: set[int]) -> None:
    read = {str(n): LabelFile((), dict.fromkeys(steps, "x")) for n, steps in enumerate(files)}
    assert usual_steps(read) == known


def test_an_unknown_step_is_named_with_file_and_line_or_left_out(tmp_path: Path) -> None:
    for person in ("first", "second"):
        write(tmp_path / "soup" / f"{person}.csv", "0,1,1 stir\n1,2,2 salt\n")
    write(tmp_path / "soup" / "third.csv", "0,1,1 stir\n1,2,9 juggle\n")
    with pytest.raises(InputError, match=r"third\.csv line 2: step 9 is unknown, the steps are 1, 2"):
        read_tasks(tmp_path, STRICT)
    task = read_tasks(tmp_path, ReadOptions(lenient=True))["soup"]
    assert [step.label for step in task.steps] == ["1 stir", "2 salt"]
    assert task.changes[0].endswith("third.csv line 2: step 9 is unknown, the steps are 1, 2: row left out")


def test_a_list_of_steps_decides_which_are_known(tmp_path: Path) -> None:
    write(tmp_path / "soup" / "first.csv", "0,1,1 stir\n1,2,9 salt\n")
    listed = ReadOptions(steps=write(tmp_path / "steps.txt", "1 stir\n9 salt\n"))
    assert [step.label for step in read_tasks(tmp_path / "soup", listed)["soup"].steps] == ["1 stir", "2 salt"]
    write(tmp_path / "steps.txt", "1 stir\n")
    with pytest.raises(InputError, match=r"first\.csv line 2: step 9 is unknown, the steps are 1"):
        read_tasks(tmp_path / "soup", listed)
