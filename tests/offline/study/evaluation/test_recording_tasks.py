"""Folders of recordings with labels: what is a task, which labels hold, what is missing is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from guide.domain import Segment
from guide.errors import InputError
from guide.record.elan import Annotation, Tier, write_elan
from offline.config import Recipe
from offline.features import FeatureCache
from offline.study.evaluation.recording_tasks import Checked, LabelRequest, check_tasks, see_all, task_folders

GOOD = '0,5,"1 open"\n5,10,"2 close"\n'


def write(folder: Path, **labels: str | None) -> Path:
    """Recordings of 11 rows of features, one a second, and their label files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in labels.items():
        np.save(folder / f"{name}.npy", np.zeros((11, 2), np.float32))
        if text is not None:
            (folder / f"{name}.csv").write_text(text)
    return folder


def check(place: Path, **options: object) -> Checked:
    (checked,) = check_tasks(place, [], 1.0, LabelRequest(**options))  # type: ignore[arg-type]
    return checked


def test_a_folder_with_recordings_is_one_task(tmp_path: Path) -> None:
    checked = check(write(tmp_path / "tea", a=GOOD, b=GOOD))
    assert (checked.word, checked.names, checked.notes) == ("tea", {1: "open", 2: "close"}, ())
    assert checked.segments[0] == (Segment(1, 0.0, 5.0), Segment(2, 5.0, 10.0))


def test_a_folder_of_such_folders_has_a_task_in_each(tmp_path: Path) -> None:
    write(tmp_path / "tea", a=GOOD)
    write(tmp_path / "coffee", a=GOOD)
    (tmp_path / "empty").mkdir()
    assert list(task_folders(tmp_path)) == ["coffee", "tea"]
    tasks = check_tasks(tmp_path, ["tea"], 1.0, LabelRequest())
    assert [task.word for task in tasks] == ["tea"]
    with pytest.raises(InputError, match="no task 'milk' here, there are coffee, tea"):
        check_tasks(tmp_path, ["milk"], 1.0, LabelRequest())


def test_labels_may_lie_elsewhere_in_folders_of_the_same_names(tmp_path: Path) -> None:
    write(tmp_path / "videos" / "tea", a=None)
    labels = tmp_path / "labels" / "tea"
    labels.mkdir(parents=True)
    (labels / "a.csv").write_text(GOOD)
    assert check(tmp_path / "videos", folder=tmp_path / "labels").names == {1: "open", 2: "close"}


def test_performances_may_lie_in_folders_of_their_own_with_their_labels_likewise(tmp_path: Path) -> None:
    """As EgoProceL's CMU-MMAC does; its tents end their label files in their own way."""
    for subject in ("S07", "S08"):
        inner = f"Brownie/{subject}_Brownie_Video"
        (tmp_path / "labels" / inner).mkdir(parents=True)
        for camera in ("7150991", "7151020"):
            write(tmp_path / "videos" / inner, **{f"{subject}_Brownie_{camera}-1": None})
            (tmp_path / "labels" / inner / f"{subject}_Brownie_{camera}-1.csv").write_text(GOOD)
    checked = check(tmp_path / "videos", folder=tmp_path / "labels", view="top")
    assert checked.word == "Brownie"
    assert [fact.recording.id for fact in checked.facts] == ["S07_Brownie_7151020-1", "S08_Brownie_7151020-1"]
    assert checked.notes == ("2 recordings of other views left out",)
    tents = write(tmp_path / "tents", **{"01.tent": None})
    (tents / "01.tent.egoprocel.ann.csv").write_text(GOOD)
    assert check(tents).notes == ()
    (tents / "01.tent.csv").write_text(GOOD)
    with pytest.raises(InputError, match="keep one"):
        check(tents)


def test_what_is_missing_is_named_and_counted(tmp_path: Path) -> None:
    folder = write(tmp_path / "tea", a=GOOD, b=None, c=None)
    (folder / "d.csv").write_text(GOOD)
    checked = check(folder)
    assert [fact.recording.id for fact in checked.facts] == ["a"]
    assert checked.notes == (f"2 left out, no label file in {folder}: b, c", "1 left out, no recording: d.csv")


@pytest.mark.parametrize(
    ("row", "word", "change"),
    [
        ('4,7,"3 wipe"', "before the one in line 1 ends", "cut short"),
        ('10,99,"3 wipe"', "past the recording's end", "cut at the end"),
        ('10.9,10.2,"3 wipe"', "before it starts", "exchanged"),
        ('10,10.5,"42 wipe"', "step 42 is unknown", "row left out"),
    ],
    ids=["overlap", "past the end", "end before start", "unknown step"],
)
def test_wrong_labels_are_named_with_file_and_line_or_repaired(
    tmp_path: Path, row: str, word: str, change: str
) -> None:
    folder = write(tmp_path / "tea", a=GOOD + row + "\n", b=GOOD)
    with pytest.raises(InputError, match=rf"a\.csv line [23]: .*{word}"):
        check(folder)
    checked = check(folder, lenient=True)
    assert checked.notes[0].startswith("lenient reading changed ")
    assert any(f"changed: {folder}/a.csv line" in note and change in note for note in checked.notes)


def test_the_problems_of_all_tasks_are_told_together(tmp_path: Path) -> None:
    write(tmp_path / "tea", a='5,2,"1 open"\n')
    write(tmp_path / "coffee", z="0,banana\n")
    with pytest.raises(InputError, match=r"(?s)z\.csv line 1.*a\.csv line 1"):
        check_tasks(tmp_path, [], 1.0, LabelRequest())


def test_a_list_of_steps_decides_which_are_known(tmp_path: Path) -> None:
    folder = write(tmp_path / "tea", a=GOOD)
    (tmp_path / "steps.txt").write_text("1 open\n")
    with pytest.raises(InputError, match="step 2 is unknown, the steps are 1"):
        check(folder, steps=tmp_path / "steps.txt")


def test_a_step_that_is_only_past_the_end_is_told_as_that(tmp_path: Path) -> None:
    folder = write(tmp_path / "tea", a=GOOD + '20,30,"3 wipe"\n', b=GOOD)
    with pytest.raises(InputError, match=r"a\.csv line 3: the step ends at 30 s, past the recording's end") as told:
        check(folder)
    assert "unknown" not in str(told.value)


def test_phases_give_the_labels_of_grasping_recordings(tmp_path: Path) -> None:
    write(tmp_path / "g", episode_000003=None, episode_000005=None)
    (tmp_path / "g" / "phases.csv").write_text("episode,hand_open,grasp_closed,release_open\n3,30,60,90\n8,1,2,3\n")
    checked = check(tmp_path / "g")
    assert [segment.step for segment in checked.segments[0]] == [1, 2, 3, 4]
    assert checked.segments[0][-1] == Segment(4, 3.0, 11.0)
    assert "1 left out, no line in phases.csv: episode_000005" in checked.notes
    assert "1 left out, no recording: 8" in checked.notes


def test_a_recording_that_cannot_be_read_is_refused_or_left_out_by_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "tea", a=GOOD, b=GOOD, c=GOOD)
    (folder / "b.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"b\.npy.*--skip-bad"):
        check(folder)
    checked = check(folder, skip_bad=True)
    assert [fact.recording.id for fact in checked.facts] == ["a", "c"]
    assert any(note.startswith("1 left out that cannot be used: ") and "b.npy" in note for note in checked.notes)
    assert not any("no label file" in note for note in checked.notes)
    for name in ("a", "c"):
        (folder / f"{name}.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"a\.npy"):
        check(folder, skip_bad=True)


def test_labels_go_with_the_recordings_that_gave_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out only when it is looked at takes its labels with it, and is named."""
    checked = check(write(tmp_path / "tea", a='0,5,"2 close"\n', b=GOOD, c=GOOD), skip_bad=True)
    cache = FeatureCache(tmp_path / "cache")

    def without_first(facts: list, *_: object) -> tuple:  # type: ignore[type-arg]
        return tuple(cache.features(fact.recording, None, fact.rate) for fact in facts[1:])

    monkeypatch.setattr("offline.study.evaluation.recording_tasks.see_task", without_first)
    (task,) = see_all([checked], Recipe(), tmp_path / "cache", Console())
    assert [recording.id for recording in task.recordings] == ["b", "c"]
    assert [labels.tolist() for labels in task.truth] == [[1] * 5 + [2] * 5 + [0]] * 2
    assert task.notes[-1] == "1 left out, too few frames: a"


def test_the_tier_of_elan_files_can_be_chosen(tmp_path: Path) -> None:
    folder = write(tmp_path / "tea", a=None)
    tiers = [Tier("left", (Annotation(0, 5, "1 open"),)), Tier("right", (Annotation(5, 10, "1 close"),))]
    write_elan(folder / "a.eaf", tiers)
    with pytest.raises(InputError, match="--tier"):
        check(folder)
    assert check(folder, tier="right").names == {1: "close"}


@pytest.mark.parametrize("folder", ["none", "empty"])
def test_a_folder_without_recordings_is_refused(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"folder of recordings|should hold recordings"):
        check(tmp_path / folder)
