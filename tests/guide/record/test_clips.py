"""Clips: true times, odd and changing sizes, and a file that plays after kill -9."""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Image
from guide.ingest.files import VideoFile
from guide.record import clips
from guide.record.clips import H264, VP9, Clip, Encoding, choose_encoding
from tests.synth import grey_levels

ROOT = Path(__file__).parents[3]
TIMES = [3.0, 3.21, 3.4, 3.4, 3.9, 5.25, 5.3, 6.0]


def film(path: Path, encoding: Encoding, images: list[Image]) -> Path:
    with Clip(path, encoding) as clip:
        for image, at in zip(images, TIMES, strict=True):
            clip.push(image, at)
    return clip.path


@pytest.mark.parametrize("encoding", [H264, VP9], ids=lambda one: one.codec)
def test_frames_keep_their_times_and_their_looks(tmp_path: Path, encoding: Encoding) -> None:
    images = grey_levels(len(TIMES))
    frames = list(VideoFile(film(tmp_path / "a", encoding, images)))
    wanted = np.array(TIMES) - TIMES[0]
    assert np.abs(np.array([frame.at for frame in frames]) - wanted).max() <= 1.5 / encoding.ticks_per_s
    for frame, image in zip(frames, images, strict=True):
        assert abs(float(frame.image.mean()) - float(image.mean())) < 6


def test_odd_huge_and_changing_sizes_are_fitted(tmp_path: Path) -> None:
    sizes = [(1081, 1921), (47, 63), (1, 1), (1081, 1921), (3, 5), (48, 64), (1000, 10), (7, 7)]
    images = [np.full((*size, 3), 90, np.uint8) for size in sizes]
    frames = list(VideoFile(film(tmp_path / "a", H264, images)))
    assert len(frames) == len(TIMES)
    assert {frame.image.shape for frame in frames} == {(540, 960, 3)}


def test_the_better_encoder_is_taken_and_its_absence_lived_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_encoding() is H264
    strange = Encoding("libnothing", ".mp4", 1, {}, {})
    monkeypatch.setattr(clips, "H264", strange)
    assert choose_encoding() is VP9
    monkeypatch.setattr(clips, "VP9", strange)
    assert choose_encoding() is None


def test_a_full_disk_is_an_os_error_and_the_file_plays_as_far_as_it_came(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    noise = np.random.default_rng(0).integers(0, 255, (96, 128, 3), np.uint8)
    clip = Clip(tmp_path / "a", H264)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, before[1]))

    def push_all() -> None:
        for number in range(60):
            clip.push(np.roll(noise, number, 1), 0.2 * number)

    try:
        with pytest.raises(OSError, match="File too large"):
            push_all()
        with contextlib.suppress(OSError):  # the trailer may or may not fit
            clip.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert 5 <= len(list(VideoFile(clip.path))) < 60


CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from guide.record.clips import Clip, VP9, H264
clip = Clip(Path(sys.argv[1]), VP9 if sys.argv[2] == "vp9" else H264)
for number in range(10**6):
    clip.push(np.full((48, 64, 3), 10 + number % 200, np.uint8), number * 0.2)
    print(number, flush=True)
    time.sleep(0.002)
"""


@pytest.mark.parametrize("kind", ["h264", "vp9"])
def test_a_killed_process_leaves_a_clip_that_plays(tmp_path: Path, kind: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "a"), kind], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert child.stdout is not None
    while int(child.stdout.readline()) < 57:
        pass
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    (path,) = tmp_path.iterdir()
    frames = list(VideoFile(path))
    assert len(frames) >= 50, "at most the last fragment of a second is lost"
    assert frames[49].at == pytest.approx(49 * 0.2, abs=1e-3)
