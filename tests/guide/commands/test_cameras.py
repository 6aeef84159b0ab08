"""Listing cameras: a line each, a still on demand, a sentence for none."""

from __future__ import annotations

from pathlib import Path

import cv2
import pytest

from guide.commands import cameras
from guide.commands.cameras import CamerasOptions, camera_lines
from guide.commands.entry import entry
from guide.errors import OutputError
from guide.ingest.base import Device, SourceLostError
from guide.ingest.camera import CameraEntry
from tests.fake_camera import FakeCamera, FakeClock, noisy

ENTRIES = [CameraEntry(0, "HD Webcam"), CameraEntry(1, "HD Webcam"), CameraEntry(2, "Head [camera]")]


class Machine:
    """Camera 0 works, 1 is a node without pictures, 2 gives damaged ones first."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.devices = {
            0: FakeCamera(self.clock, [noisy(30)], rate=30.0),
            2: FakeCamera(self.clock, [[None, None, *noisy(30)]], rate=10.0),
        }

    def open(self, number: int) -> Device:
        if number not in self.devices:
            raise SourceLostError("it gives no pictures", "close other programs that use it")
        return self.devices[number].open()


def test_each_camera_has_a_line(tmp_path: Path) -> None:
    machine = Machine()
    lines = camera_lines(ENTRIES, tmp_path / "stills", machine.open, machine.clock)
    assert lines == [
        f"0  HD Webcam  64x48  30.0 frames/s  {tmp_path}/stills/camera-0.jpg",
        "1  HD Webcam: it gives no pictures; close other programs that use it.",
        f"2  Head [camera]  64x48  10.0 frames/s  {tmp_path}/stills/camera-2.jpg",
        "Next: python -m guide watch 0 --bundle exported/NAME",
    ]
    still = cv2.imread(str(tmp_path / "stills" / "camera-2.jpg"))
    assert still is not None
    assert still.shape == (48, 64, 3)
    assert all(device.opened == device.closed for device in machine.devices.values())


def test_without_a_folder_nothing_is_written() -> None:
    machine = Machine()
    assert camera_lines(ENTRIES[:1], None, machine.open, machine.clock)[0] == "0  HD Webcam  64x48  30.0 frames/s"


def test_a_camera_that_gives_only_damaged_pictures_says_so() -> None:
    clock = FakeClock()
    lines = camera_lines(ENTRIES[:1], None, lambda _: FakeCamera(clock, [[None] * 30]).open(), clock)
    assert len(lines) == 1
    assert "no picture that can be decoded" in lines[0]


def test_none_is_a_sentence_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cameras, "list_cameras", list)
    entry(CamerasOptions, cameras.main, args=[])
    told = capsys.readouterr().out
    assert told.startswith("No camera was found: plug one in")
    assert told.count("\n") == 1


def test_a_still_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    machine = Machine()
    with pytest.raises(OutputError, match="choose another folder"):
        camera_lines(ENTRIES, tmp_path / "taken", machine.open, machine.clock)
