"""Moving pictures of the steps: cut from the demonstrations where their videos are at hand, found by the page."""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from guide.bundle import read_bundle
from guide.ui import clips
from guide.ui.live_clips import DONE, ClipKeeper, clips_folder, file_name
from tests.tiny import Learned, altered

PATIENCE_S = 60.0


@pytest.fixture
def exported(frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    altered(frames_task.bundle, tmp_path / "exported" / "box")
    for variable, name in (("CNC_RECORDINGS", "recordings"), ("CNC_CACHE", "cache"), ("CNC_DEMO", "demo")):
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path / "exported"


def videos_of(task: Learned, exported: Path) -> None:
    shutil.copytree(task.options.inputs[0], exported.parent / "recordings" / "box")


def test_every_step_gets_a_clip_that_moves(frames_task: Learned, exported: Path, tmp_path: Path) -> None:
    videos_of(frames_task, exported)
    bundle = read_bundle(exported / "box")
    found = {path.stem: path for path in (tmp_path / "recordings" / "box").glob("*.mp4")}
    steps = clips.make_clips(bundle, found, tmp_path / "clips")
    assert sorted(steps) == [1, 2, 3, 4]
    assert (tmp_path / "clips" / DONE).exists()
    with Pictures.open(tmp_path / "clips" / file_name(1)) as shown:
        assert shown.format == "WEBP"
        assert shown.width == clips.WIDTH_PX
        assert getattr(shown, "n_frames", 1) > 1


def test_without_videos_there_is_nothing_to_make(exported: Path, tmp_path: Path) -> None:
    assert clips.make_clips(read_bundle(exported / "box"), {}, tmp_path / "clips") == []
    assert [path.name for path in (tmp_path / "clips").iterdir()] == [DONE]


def test_pictures_follow_each_other() -> None:
    grey = [np.full((30, 40, 3), level, np.uint8) for level in (0, 128, 255)]
    with Pictures.open(io.BytesIO(clips.to_webp(iter(grey)))) as shown:
        assert (getattr(shown, "n_frames", 1), shown.size) == (3, (clips.WIDTH_PX, 150))
    assert clips.to_webp(iter(())) == b""


def test_only_clips_of_other_versions_are_forgotten(tmp_path: Path) -> None:
    names = ("box-0123456789ab", "box-ba9876543210", "box-2-0123456789ab", "box-notes")
    for name in names:
        (tmp_path / name).mkdir()
    clips.forget_others(tmp_path / names[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box-0123456789ab", "box-2-0123456789ab", "box-notes"]


def test_the_page_has_them_made_once_and_finds_them(frames_task: Learned, exported: Path, tmp_path: Path) -> None:
    videos_of(frames_task, exported)
    keeper = ClipKeeper(exported, tmp_path / "data")
    began = keeper.look("box")
    assert not began.pictures
    assert not began.is_done
    until = time.monotonic() + PATIENCE_S
    while not keeper.look("box").is_done:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert sorted(keeper.look("box").pictures) == [1, 2, 3, 4]
    assert sorted(ClipKeeper(exported, tmp_path / "data").look("box").pictures) == [1, 2, 3, 4]
    assert ClipKeeper(exported, tmp_path / "data").look("../box").pictures == {}


def test_a_maker_that_fails_is_not_begun_again(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Path] = []

    def begin(bundle: Path, folder: Path) -> None:
        begun.append(folder)

    monkeypatch.setattr("guide.ui.live_clips._begin", begin)
    keeper = ClipKeeper(exported, tmp_path / "data")
    assert keeper.look("box").is_done
    assert keeper.look("box").is_done
    assert begun == [clips_folder(tmp_path / "data", exported / "box")]


def test_what_is_too_large_stays_away(exported: Path, tmp_path: Path) -> None:
    folder = clips_folder(tmp_path / "data", exported / "box")
    folder.mkdir(parents=True)
    (folder / file_name(1)).write_bytes(b"RIFF")
    (folder / file_name(2)).write_bytes(b"0" * 200_001)
    (folder / DONE).touch()
    assert sorted(ClipKeeper(exported, tmp_path / "data").look("box").pictures) == [1]
