"""Video files: true times, true orientation, and one clear sentence for whatever is not a video."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from guide.domain import Image
from guide.errors import InputError
from guide.ingest import files
from guide.ingest.files import VideoFile, _Clock
from guide.perceive.pace import Pace
from tests.synth import grey_levels, plain, steady, turn_metadata, write_video


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", "libx264"), ("a.mov", "libx264"), ("a.mkv", "libx265"), ("a.webm", "libsvtav1"), ("a.mp4", "libsvtav1")],
)
@pytest.mark.parametrize("rate", [29.97, 59.94])
def test_times_are_true_to_the_millisecond(tmp_path: Path, name: str, codec: str, rate: float) -> None:
    times = steady(20, rate)
    path = write_video(tmp_path / name, grey_levels(20), times, codec)
    frames = list(VideoFile(path))
    assert [frame.number for frame in frames] == list(range(20))
    np.testing.assert_allclose([frame.at for frame in frames], times, atol=1.01e-3)


def test_mpeg4_in_avi(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.avi", grey_levels(12), steady(12, 30), "mpeg4")
    np.testing.assert_allclose([frame.at for frame in VideoFile(path)], steady(12, 30), atol=1e-6)


def test_a_varying_rate_keeps_each_frames_own_time(tmp_path: Path) -> None:
    times = [0.0, 0.04, 0.2, 0.21, 0.9, 1.0, 3.0]
    frames = list(VideoFile(write_video(tmp_path / "a.mp4", grey_levels(7), times)))
    np.testing.assert_allclose([frame.at for frame in frames], times, atol=1e-4)
    levels = [float(frame.image.mean()) for frame in frames]
    np.testing.assert_allclose(levels, [10 + 200 * i // 7 for i in range(7)], atol=4)


def test_time_starts_at_the_first_frame(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_video(tmp_path / "late.mkv", grey_levels(5), [5.0 + at for at in steady(5, 10)])
    np.testing.assert_allclose([frame.at for frame in VideoFile(path)], steady(5, 10), atol=1.01e-3)
    assert not caplog.text


def test_only_wanted_frames_are_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(30), steady(30, 29.97))
    every = list(VideoFile(path))
    converted: list[Any] = []
    original = files.to_rgb

    def counted(decoded: Any, reformatter: Any) -> Image:
        converted.append(decoded)
        return original(decoded, reformatter)

    monkeypatch.setattr(files, "to_rgb", counted)
    wanted = list(VideoFile(path).frames(Pace(5.0).push))
    assert len(converted) == len(wanted) == 5
    for frame in wanted:
        np.testing.assert_array_equal(frame.image, every[frame.number].image)
        assert frame.at == every[frame.number].at


UNEVEN_S = np.cumsum(np.random.default_rng(5).uniform(0.01, 0.2, 60)).tolist()


@pytest.mark.parametrize(
    ("name", "codec", "options", "flags", "times"),
    [
        ("a.mp4", "libx264", {"g": "9", "bf": "3"}, "", steady(60, 30)),
        ("a.mp4", "libx264", {"g": "9", "bf": "3", "x264-params": "open-gop=1"}, "", steady(60, 29.97)),
        ("a.mp4", "libx264", {"x264-params": "intra-refresh=1:keyint=20"}, "", steady(60, 30)),  # key frames come late
        ("a.mp4", "libx264", {"g": "9", "bf": "3"}, "", [5.0 + at for at in UNEVEN_S]),
        ("a.mp4", "libx264", {"g": "9"}, "frag_keyframe+empty_moov", steady(60, 30)),
        ("a.mov", "libx265", None, "", steady(60, 30)),
        ("a.mp4", "libsvtav1", None, "", UNEVEN_S),
    ],
)
def test_a_picture_that_is_sought_is_the_one_that_comes_in_order(
    tmp_path: Path, name: str, codec: str, options: dict[str, str] | None, flags: str, times: list[float]
) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (60, 48, 64, 3), dtype=np.uint8)
    video = VideoFile(write_video(tmp_path / name, list(noise), times, codec, options=options, flags=flags))
    assert video.has_index()
    frames = list(video)
    ats = [frame.at for frame in frames]
    for moment in (-1.0, 0.0, ats[9], ats[18], ats[33], *np.random.default_rng(1).uniform(0, ats[-1], 12).tolist()):
        found = video.picture_at(moment)
        assert found is not None
        np.testing.assert_array_equal(found, next(frame.image for frame in frames if frame.at >= moment))
    assert video.picture_at(ats[-1] + 0.01) is None
    assert video._container is None


def test_a_late_picture_needs_no_early_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(90), steady(90, 30), options={"g": "10", "preset": "ultrafast"})
    decoded = []
    read = _Clock.read

    def counted(clock: _Clock, frame: Any) -> float:
        decoded.append(frame)
        return read(clock, frame)

    monkeypatch.setattr(_Clock, "read", counted)
    assert VideoFile(path).picture_at(2.5) is not None
    assert len(decoded) < 15


@pytest.mark.parametrize("name", ["a.mkv", "a.avi", "a.ts"])
def test_files_whose_times_may_go_back_have_no_index(tmp_path: Path, name: str) -> None:
    path = write_video(tmp_path / name, grey_levels(12), steady(12, 30), "mpeg4")
    assert not VideoFile(path).has_index()


def test_nothing_is_sought_where_nothing_can_be_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(8), steady(8, 5))
    monkeypatch.setattr("guide.MOST_PIXELS", 64 * 48 - 1)
    with pytest.raises(InputError, match="not one frame"):
        VideoFile(path).picture_at(1.0)


@pytest.mark.parametrize("quarter_turns", [0, 1, 2, 3])
def test_rotation_is_applied(tmp_path: Path, quarter_turns: int) -> None:
    image = plain((20, 20, 20), 64, 32)
    image[:16, :16] = (240, 240, 240)  # a bright patch in the upper left corner
    path = write_video(tmp_path / "a.mp4", [image] * 3, steady(3, 10))
    turn_metadata(path, quarter_turns)
    shown = next(iter(VideoFile(path))).image
    expected = np.rot90(image, -quarter_turns)
    assert shown.shape == expected.shape
    assert np.abs(shown.astype(int) - expected).mean() < 6


def test_facts_without_decoding(tmp_path: Path) -> None:
    facts = VideoFile(write_video(tmp_path / "a.mp4", grey_levels(31), steady(31, 30))).facts()
    assert (facts.frames, facts.width_px, facts.height_px) == (31, 64, 48)
    assert facts.duration_s == pytest.approx(1.0)
    assert facts.rate == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "does not exist"),
        (b"", r"is empty \(0 bytes\)"),
        (b"this is no video at all" * 50, "cannot be read as one"),
        (b"0,1,1 open box\n", "cannot be read as one"),
    ],
)
def test_what_is_not_a_video_is_refused(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "bad.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        list(VideoFile(path))
    with pytest.raises(InputError, match=r"bad\.mp4"):
        VideoFile(path).facts()


def test_a_video_without_frames_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(10), steady(10, 10))
    data = path.read_bytes()
    first, last = data.index(b"mdat") + 4, data.index(b"moov") - 4
    path.write_bytes(data[:first] + bytes(last - first) + data[last:])  # the index stays, the pictures go
    with pytest.raises(InputError, match="not one frame"):
        list(VideoFile(path))
    with pytest.raises(InputError, match="not one frame"):
        VideoFile(path).facts()


def test_an_mp4_cut_off_before_its_index_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(30), steady(30, 30))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match="cut off, damaged or of another kind"):
        list(VideoFile(path))


def test_a_video_that_ends_in_the_middle_is_lived_through(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (90, 48, 64, 3), dtype=np.uint8)
    path = write_video(tmp_path / "a.mkv", list(noise), steady(90, 30))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with caplog.at_level(logging.WARNING):
        frames = list(VideoFile(path))
    assert 20 < len(frames) < 60
    assert "cut off" in caplog.text


def test_damage_that_the_decoder_hides_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A decoder makes up what it cannot read, and a container finds its way again: frames are lost without an error."""
    path = write_video(tmp_path / "a.mkv", grey_levels(90), steady(90, 30))
    data = bytearray(path.read_bytes())
    quarter = len(data) // 4
    data[quarter : 2 * quarter] = np.random.default_rng(0).integers(0, 255, quarter, dtype=np.uint8).tobytes()
    path.write_bytes(bytes(data))
    with caplog.at_level(logging.WARNING):
        frames = list(VideoFile(path))
    assert len(frames) < 90
    assert "a.mkv is damaged or cut off" in caplog.text


def test_damage_in_the_middle_is_lived_through(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (60, 48, 64, 3), dtype=np.uint8)
    path = write_video(tmp_path / "a.mp4", list(noise), steady(60, 30))
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    data[third : third + 9000] = bytes(9000)
    path.write_bytes(bytes(data))
    with caplog.at_level(logging.WARNING):
        frames = list(VideoFile(path))
    assert len(frames) > 20
    assert all(a.at <= b.at for a, b in itertools.pairwise(frames))
    assert "a.mp4 is damaged or cut off" in caplog.text


def test_a_recording_appended_to_itself_goes_back_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_video(tmp_path / "a.ts", grey_levels(60), steady(60, 30))
    alone = len(list(VideoFile(path)))
    path.write_bytes(2 * path.read_bytes())
    with caplog.at_level(logging.WARNING):
        frames = list(VideoFile(path))
    assert len(frames) > alone
    assert all(a.at < b.at for a, b in itertools.pairwise(frames))
    assert "1 timestamp went back in time and was held" in caplog.text


def stamped(*stamps: int | None) -> list[Any]:
    return [SimpleNamespace(pts=stamp, dts=None) for stamp in stamps]


CLOCK_STREAM = SimpleNamespace(
    time_base=0.001, duration=None, average_rate=10, container=SimpleNamespace(duration=None)
)


@pytest.mark.parametrize(
    ("stamps", "expected", "turned_back"),
    [
        ((100, 200, 300), [0.0, 0.1, 0.2], 0),
        ((100, 300, 200, 400), [0.0, 0.2, 0.2, 0.3], 1),  # one frame out of place is held
        ((5000, 7000, 100, 200), [0.0, 2.0, 2.1, 2.2], 1),  # a clock set anew goes on where it stopped
        ((None, None, None), [0.0, 0.1, 0.2], 0),  # no times at all: the stated rate
    ],
)
def test_the_clock_never_goes_back(stamps: tuple[int | None, ...], expected: list[float], turned_back: int) -> None:
    clock = _Clock(CLOCK_STREAM)
    np.testing.assert_allclose([clock.read(frame) for frame in stamped(*stamps)], expected, atol=1e-9)
    assert clock.turned_back == turned_back


def test_the_file_is_let_go_of(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", grey_levels(10), steady(10, 10))
    with VideoFile(path) as video:
        assert next(iter(video)).number == 0
    assert video._container is None


def test_pictures_that_are_too_large_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """55 kB of H.264 hold pictures that take 2 GB."""
    path = write_video(tmp_path / "a.mp4", grey_levels(8), steady(8, 5))
    assert len(list(VideoFile(path))) == 8
    monkeypatch.setattr("guide.MOST_PIXELS", 64 * 48 - 1)
    with pytest.raises(InputError, match="not one frame"):
        list(VideoFile(path))


def test_a_one_pixel_video(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", [plain((200, 10, 10), 1, 1)] * 3, steady(3, 10), "ffv1", "bgr0")
    assert [frame.image.shape for frame in VideoFile(path)] == [(1, 1, 3)] * 3
