"""Cameras of this machine, from made-up device folders: no camera is needed."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from guide.ingest.base import SourceLostError
from guide.ingest.camera import CameraEntry, OpenCvCamera, find_camera, list_cameras


def make_nodes(folder: Path, names: dict[int, str | None]) -> tuple[Path, Path]:
    """Folders like /sys/class/video4linux and /dev; a name of None is missing."""
    system, nodes = folder / "names", folder / "dev"
    nodes.mkdir()
    for number, name in names.items():
        (nodes / f"video{number}").write_bytes(b"")
        if name is not None:
            (system / f"video{number}").mkdir(parents=True)
            (system / f"video{number}" / "name").write_text(name + "\n", encoding="utf-8")
    return system, nodes


def test_cameras_are_listed_by_number_with_their_names(tmp_path: Path) -> None:
    names, nodes = make_nodes(tmp_path, {10: "Head camera", 2: "HD Webcam: HD Webcam", 3: None})
    (nodes / "videodev").write_bytes(b"")
    assert list_cameras(names, nodes) == [
        CameraEntry(2, "HD Webcam: HD Webcam"),
        CameraEntry(3, "no name"),
        CameraEntry(10, "Head camera"),
    ]


def test_no_camera_is_an_empty_list(tmp_path: Path) -> None:
    assert list_cameras(tmp_path / "none", tmp_path / "none") == []


CAMERAS = [CameraEntry(0, "HD Webcam"), CameraEntry(1, "HD Webcam"), CameraEntry(4, "HD Webcam Pro")]


@pytest.mark.parametrize(("name", "number"), [("hd webcam", 0), ("pro", 4), ("HD Webcam Pro", 4)])
def test_a_camera_is_found_by_part_of_its_name(name: str, number: int) -> None:
    assert find_camera(name, CAMERAS).number == number


@pytest.mark.parametrize(("name", "words"), [("cam", "several cameras"), ("ir", "are: HD Webcam, HD Webcam Pro")])
def test_a_name_that_fits_none_or_several_is_refused(name: str, words: str) -> None:
    with pytest.raises(SourceLostError, match=words):
        find_camera(name, CAMERAS)


def test_what_is_no_camera_is_refused_quietly(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, nodes = make_nodes(tmp_path, {0: "HD Webcam"})
    with pytest.raises(SourceLostError, match="gives no pictures or is in use"):
        OpenCvCamera(0, nodes)
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use everything")
def test_a_camera_of_others_says_so(tmp_path: Path) -> None:
    _, nodes = make_nodes(tmp_path, {0: "HD Webcam"})
    (nodes / "video0").chmod(0)
    with pytest.raises(SourceLostError, match="this user may not use"):
        OpenCvCamera(0, nodes)


class Device:
    """As much of OpenCV's camera as is used: a picture in pieces, a whole one, then nothing."""

    def __init__(self, *_: object) -> None:
        self.reads = iter([cv2.error("a JPEG in pieces"), (True, np.full((2, 2, 3), (10, 20, 30), np.uint8))])

    def isOpened(self) -> bool:  # noqa: N802
        return True

    def set(self, *_: object) -> None:
        pass

    def release(self) -> None:
        pass

    def read(self) -> object:
        found = next(self.reads, (False, None))
        if isinstance(found, cv2.error):
            raise found
        return found


def test_a_picture_in_pieces_is_damaged_and_the_camera_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "video0").write_text("")
    monkeypatch.setattr(cv2, "VideoCapture", Device)
    camera = OpenCvCamera(0, tmp_path)
    assert camera.read() is None
    shot = camera.read()
    assert shot is not None
    assert shot.picture()[0, 0].tolist() == [30, 20, 10]
    with pytest.raises(SourceLostError, match="no pictures any more"):
        camera.read()
