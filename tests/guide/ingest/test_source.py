"""One way to write a source: each form gives its kind, each mistake a sentence."""

from __future__ import annotations

from pathlib import Path

import cv2
import pytest

from guide.errors import InputError
from guide.ingest.capture import CaptureSettings
from guide.ingest.files import VideoFile
from guide.ingest.live import LiveSource
from guide.ingest.pushed import Headsets, PushedFrames
from guide.ingest.source import SourceOptions, length_of, open_source
from guide.ingest.stills import StillFolder
from tests.synth import grey_levels, plain, steady, write_video


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("0", LiveSource, "camera 0"),
        ("12", LiveSource, "camera 12"),
        ("name:HD Webcam", LiveSource, "name:HD Webcam"),
        ("rtsp://user:secret@host/x", LiveSource, "rtsp://***@host/x"),
        ("HTTPS://host/video", LiveSource, "HTTPS://host/video"),
        ("headset:helmet", PushedFrames, "headset:helmet"),
        ("folder/a.mp4", VideoFile, "folder/a.mp4"),
        ("./0", VideoFile, "./0"),
        ("name:", VideoFile, "name:"),
        ("week:3.mp4", VideoFile, "week:3.mp4"),
    ],
)
def test_each_form_gives_its_kind(text: str, kind: type, name: str) -> None:
    headsets = Headsets()
    headsets.register("helmet")
    source = open_source(text, SourceOptions(headsets=headsets))
    assert type(source) is kind
    assert source.name == name
    assert source.is_live == (kind is not VideoFile)


def test_a_folder_of_stills_needs_its_rate(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1.png"), plain((1, 2, 3)))
    assert isinstance(open_source(str(tmp_path), SourceOptions(rate=5.0)), StillFolder)
    for rate in (None, 0.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="with --rate"):
            open_source(str(tmp_path), SourceOptions(rate=rate))


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no pictures: name one video"):
        open_source(str(tmp_path))


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_source(text: str) -> None:
    with pytest.raises(InputError, match="got nothing"):
        open_source(text)


@pytest.mark.parametrize("text", ["9" * 5000, "x" * 5000])
def test_a_name_out_of_all_proportion_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a source was expected") as caught:
        next(iter(open_source(text)), None)
    assert len(str(caught.value)) < 400


def test_a_headset_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match="headset:helmet was expected"):
        open_source("headset:helmet")


@pytest.mark.parametrize("text", ["77", "name:No such camera"])
def test_a_camera_that_is_not_there_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="python -m guide cameras"):
        list(open_source(text))


@pytest.mark.parametrize("wrong", [{"silent_s": 0.0}, {"give_up_s": -1.0}, {"freeze_s": float("nan")}])
def test_senseless_times_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="times above 0 s"):
        CaptureSettings(**wrong)


def test_a_recording_knows_how_long_it_is_once_it_is_read(tmp_path: Path) -> None:
    video = VideoFile(write_video(tmp_path / "a.mp4", grey_levels(30), steady(30, 10)))
    next(iter(video))
    assert length_of(video) == pytest.approx(3.0, abs=0.11)
    for number in range(6):
        cv2.imwrite(str(tmp_path / f"{number}.png"), plain((9, 9, 9), 32, 32))
    assert length_of(StillFolder(tmp_path, rate=2.0)) == 3.0
    assert length_of(open_source("0")) == 0.0
