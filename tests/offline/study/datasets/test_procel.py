"""ProceL: made MATLAB files in the published layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.procel import find_tasks, read_tasks
from tests.made_datasets import cells, make_procel

STRICT = ReadOptions()
NAMES = "http://a\tcpr_0001\t0\t10\nhttp://b\tcpr_0041\t0\t9\nhttp://c\tcpr_0002\t5\t17\n"


def change(folder: Path, **variables: Any) -> None:
    path = folder / "ProceL_dataset" / "perform_cpr" / "data.mat"
    content = {name: value for name, value in loadmat(path).items() if not name.startswith("__")}
    content = {name: value for name, value in (content | variables).items() if value is not None}
    savemat(path, content)


def test_steps_times_and_lengths(tmp_path: Path) -> None:
    task = read_tasks(make_procel(tmp_path), STRICT)["perform_cpr"]
    assert [step.label for step in task.steps] == ["1 check breathing", "2 press chest"]
    first, second = task.recordings
    assert first.segments == (Segment(1, 0.5, 2.0), Segment(2, 2.0, 3.0), Segment(1, 6.0, 7.5))
    assert (second.id, second.segments, second.duration_s) == ("cpr_0002", (Segment(2, 1.0, 4.0),), 12.0)
    assert (first.view, first.has_length, task.missing) == ("third", True, ())


def test_the_video_known_to_lack_its_data_is_named(tmp_path: Path) -> None:
    task = read_tasks(make_procel(tmp_path, NAMES), STRICT)["perform_cpr"]
    assert [one.id for one in task.recordings] == ["cpr_0001", "cpr_0002"]
    assert task.missing == ("step times of cpr_0041",)


def test_older_copies_call_the_cover_otherwise_and_some_have_none(tmp_path: Path) -> None:
    make_procel(tmp_path)
    change(tmp_path, segment_time=None, superframe_time=cells([np.array([[0.0, 11.0]]), np.array([[0.0, 13.0]])]))
    assert read_tasks(tmp_path, STRICT)["perform_cpr"].recordings[0].duration_s == 11.0
    change(tmp_path, superframe_time=None)
    recording = read_tasks(tmp_path, STRICT)["perform_cpr"].recordings[0]
    assert (recording.duration_s, recording.has_length) == (7.5, False)


def test_without_a_readme_videos_are_numbered(tmp_path: Path) -> None:
    make_procel(tmp_path)
    (tmp_path / "ProceL_dataset" / "perform_cpr" / "readme.txt").unlink()
    task = read_tasks(tmp_path, STRICT)["perform_cpr"]
    assert [one.id for one in task.recordings] == ["perform_cpr_0001", "perform_cpr_0002"]
    assert task.missing == ("readme.txt, its videos' names",)


def test_times_that_cannot_be_right_are_named_and_left_out_leniently(tmp_path: Path) -> None:
    make_procel(tmp_path)
    first = cells([np.array([[3.0, 2.0], [4.0, 5.0]]), np.array([1.0, 2.0, 3.0])])
    change(tmp_path, key_steps_time=cells([first, cells([np.zeros((0, 0)), np.array([[np.nan, 1.0]])])]))
    sentence = r"data\.mat video 1: cpr_0001, step 1: it lasts from 3 to 2 s; .*step 2: a table.*video 2: .*from nan"
    with pytest.raises(InputError, match=f"3 steps cannot be right: .*{sentence}"):
        read_tasks(tmp_path, STRICT)
    task = read_tasks(tmp_path, ReadOptions(lenient=True))["perform_cpr"]
    assert task.recordings[0].segments == (Segment(1, 4.0, 5.0),)
    assert len(task.changes) == 3


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("http://a\tcpr_0001\n", "names 1 videos, data.mat holds 2"),
        ("http://a\tcpr_0001\nhttp://b cpr_0002\n", "line 2: expected an address and a name with a tab"),
    ],
)
def test_a_readme_that_does_not_fit_is_named(tmp_path: Path, names: str, sentence: str) -> None:
    with pytest.raises(InputError, match=rf"readme\.txt {sentence}"):
        read_tasks(make_procel(tmp_path, names), STRICT)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    make_procel(tmp_path)
    change(tmp_path, grammar=None)
    with pytest.raises(InputError, match="should hold cells called grammar"):
        read_tasks(tmp_path, STRICT)
    change(tmp_path, grammar=cells(["a", "b", "c"]))
    with pytest.raises(InputError, match="video cpr_0001 has 2 key-steps, 3 are named"):
        read_tasks(tmp_path, STRICT)


def test_the_folder_may_be_given_at_any_height(tmp_path: Path) -> None:
    make_procel(tmp_path)
    for name in ("", "ProceL_dataset", "ProceL_dataset/perform_cpr"):
        assert [place.name for place in find_tasks(tmp_path / name)] == ["perform_cpr"]
