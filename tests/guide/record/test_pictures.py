"""The pictures' thread: stills of the right moment, drops that are counted, a disk that refuses and relents."""

from __future__ import annotations

import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from guide.domain import Frame
from guide.ingest.files import VideoFile
from guide.record import pictures
from guide.record.pictures import PictureSettings, PictureWriter
from guide.record.snapshots import Snapshots, encode
from guide.record.values import StoredPicture
from tests.synth import grey_levels

PATIENT = PictureSettings(is_patient=True)


def frames(count: int) -> list[Frame]:
    return [Frame(number, 0.2 * number, image) for number, image in enumerate(grey_levels(count))]


def test_the_video_holds_every_frame_and_stills_show_their_moment(tmp_path: Path) -> None:
    stored: list[StoredPicture] = []
    writer = PictureWriter(tmp_path / "new", stored.append, PATIENT)
    for frame in frames(30):
        writer.push(frame)
    writer.want("step", 2, at=1.03)
    writer.want("alert", 7, at=5.0)
    writer.close()
    video, step, alert = stored
    assert (video.of, video.at, step.of, step.number, alert.number) == ("video", 0.0, "step", 2, 7)
    assert [step.at, alert.at] == pytest.approx([1.0, 5.0])
    assert len(list(VideoFile(tmp_path / "new" / video.file))) == 30
    for picture, number in ((step, 5), (alert, 25)):
        shown = cv2.imread(str(tmp_path / "new" / picture.file))
        assert shown is not None
        assert abs(float(shown.mean()) - float(frames(30)[number].image.mean())) < 4


def test_frames_that_come_too_fast_are_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    stored: list[StoredPicture] = []
    writer = PictureWriter(tmp_path, stored.append, PictureSettings(most_frames=3), told.append)
    with writer._changed:  # the thread cannot take anything meanwhile
        for frame in frames(30):
            writer.push(frame)
    writer.close()
    kept = len(list(VideoFile(tmp_path / stored[0].file)))
    assert writer.dropped == 30 - kept > 20
    assert "frames are missing in the video" in told[0]


def test_a_disk_that_refuses_is_told_of_and_a_new_clip_begins(tmp_path: Path) -> None:
    told: list[str] = []
    stored: list[StoredPicture] = []
    place = tmp_path / "session"
    place.write_text("a file stands in the way")
    writer = PictureWriter(place, stored.append, PictureSettings(is_patient=True, pause_s=0.0), told.append)
    for frame in frames(5):
        writer.push(frame)
    with writer._changed:
        writer._changed.wait_for(lambda: writer._waiting == 0, timeout=5.0)
    end = time.monotonic() + 20.0
    while not told:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    place.unlink()
    for frame in frames(10)[5:]:
        writer.push(frame)
    writer.close()
    assert "goes on without them" in told[0]
    assert told[-1] == "recording: pictures are stored again."
    assert 1 <= len(list(VideoFile(place / stored[-1].file))) <= 6


@pytest.mark.parametrize("has_video", [True, False])
def test_stills_that_a_disk_refused_are_written_when_it_relents(tmp_path: Path, has_video: bool) -> None:
    told: list[str] = []
    stored: list[StoredPicture] = []
    place = tmp_path / "session"
    place.write_text("a file stands in the way")
    settings = PictureSettings(has_video, is_patient=True, pause_s=0.0)
    writer = PictureWriter(place, stored.append, settings, told.append)
    writer.push(frames(1)[0])
    writer.want("alert", 3, at=0.0)
    writer.want("step", 2, at=0.0)
    end = time.monotonic() + 20.0
    while len(writer._kept) < 2:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    place.unlink()
    for frame in frames(300)[1:]:  # beyond those that are remembered
        writer.push(frame)
    writer.close()
    assert [(one.of, one.number, one.at) for one in stored if one.of != "video"] == [
        ("alert", 3, 0.0),
        ("step", 2, 0.0),
    ]
    assert all((place / one.file).read_bytes()[:2] == b"\xff\xd8" for one in stored if one.of != "video")
    assert told[-1] == "recording: pictures are stored again."


def test_stills_that_could_never_be_written_are_counted(tmp_path: Path) -> None:
    told: list[str] = []
    place = tmp_path / "session"
    place.write_text("a file stands in the way")
    writer = PictureWriter(place, [].append, PictureSettings(has_video=False), told.append)  # type: ignore[arg-type]
    writer.push(frames(1)[0])
    writer.want("step", 2, at=0.0)
    writer.close()
    assert told[-1] == "recording: 1 still of steps and alerts could not be stored."


def test_without_an_encoder_there_are_still_stills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(pictures, "choose_encoding", lambda: None)
    writer = PictureWriter(tmp_path, [].append, PATIENT, told.append)  # type: ignore[arg-type]
    writer.push(frames(1)[0])
    writer.want("step", 1, 0.0)
    writer.close()
    assert "without video" in told[0]
    assert [path.suffix for path in tmp_path.iterdir()] == [".jpg"]


def test_our_own_fault_reaches_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(picture: StoredPicture) -> None:
        raise ZeroDivisionError("a fault of ours")

    writer = PictureWriter(tmp_path, broken, PATIENT)
    writer.push(frames(1)[0])
    writer._thread.join(5.0)
    with pytest.raises(ZeroDivisionError):
        writer.push(frames(1)[0])
    with pytest.raises(ZeroDivisionError):
        writer.close()


def test_stills_are_small_and_few(tmp_path: Path) -> None:
    stills = Snapshots(most=3)
    assert stills.nearest(0.0) is None
    for at in range(5):
        stills.push(np.zeros((1080, 1920, 3), np.uint8), float(at))
    assert (stills.nearest(0.0) or (None,))[0] == 2.0
    assert len(encode(np.zeros((1080, 1920, 3), np.uint8))) < 20_000
    for shape in ((1, 1, 3), (1, 5000, 3), (5000, 1, 3)):
        assert encode(np.zeros(shape, np.uint8))[:2] == b"\xff\xd8"


def test_stills_of_a_slow_source_reach_no_further_back_than_labels_lag() -> None:
    stills = Snapshots()
    for at in range(0, 200, 10):
        stills.push(np.zeros((48, 64, 3), np.uint8), float(at))
    assert (stills.nearest(0.0) or (None,))[0] == 140.0
