"""Videos are found by their names; clips are short, small, and what browsers play."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from guide.ingest.files import VideoFile
from guide.teach.videos import CLIP_S, cut_clip, find_videos, picture_at, playable
from tests.synth import write_task_video


@pytest.fixture
def video(tmp_path: Path) -> Path:
    write_task_video(tmp_path / "01.mp4", (1, 2, 3))
    return tmp_path / "01.mp4"


def test_earlier_places_win_and_strangers_are_passed_over(video: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for name in ("01.mkv", "02.txt", "09.mp4"):
        (tmp_path / "other" / name).write_bytes(b"x")
    found = find_videos(["01", "02"], [tmp_path, tmp_path / "other", tmp_path / "no such"])
    assert found == {"01": video}
    assert find_videos(["01"], [video]) == {"01": video}


def test_a_clip_shows_its_moment(video: Path, tmp_path: Path) -> None:
    clip = cut_clip(video, 3.0, tmp_path / "clips" / "one")
    assert clip is not None
    with av.open(str(clip)) as container:
        frames = [frame.time for frame in container.decode(video=0)]
        assert container.streams.video[0].codec_context.name in ("h264", "vp9")
    assert len(frames) > 1
    assert frames[-1] - frames[0] <= CLIP_S
    stamp = clip.stat().st_mtime_ns
    assert cut_clip(video, 3.0, tmp_path / "clips" / "one") == clip
    assert clip.stat().st_mtime_ns == stamp


def test_a_picture_is_that_of_its_moment_or_of_none(video: Path) -> None:
    for at in (0.0, 1.5, 2.5):
        frame = next(frame for frame in VideoFile(video) if frame.at >= at)
        found = picture_at(video, at)
        assert found is not None
        assert np.abs(found.astype(int) - frame.image).mean() < 2
    assert picture_at(video, 1000.0) is None


def test_what_is_no_video_gives_no_clip(tmp_path: Path) -> None:
    (tmp_path / "01.mp4").write_text("not a video")
    assert cut_clip(tmp_path / "01.mp4", 1.0, tmp_path / "clip") is None
    assert picture_at(tmp_path / "01.mp4", 1.0) is None
    assert playable(tmp_path / "01.mp4", tmp_path / "whole") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01.mp4"]


def test_a_whole_video_can_be_played(video: Path, tmp_path: Path) -> None:
    shown = playable(video, tmp_path / "whole")
    assert shown is not None
    with av.open(str(shown)) as container:
        assert container.streams.video[0].codec_context.name in ("h264", "vp9")
