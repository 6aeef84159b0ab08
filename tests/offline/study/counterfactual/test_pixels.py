"""Videos written anew: the right frames at the right times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.errors import OutputError
from guide.ingest.files import VideoFile
from offline.study.counterfactual.pieces import retime
from offline.study.counterfactual.pixels import read_times, write_spliced
from tests.synth import grey_levels, write_video

TIMES = [0.0, 0.1, 0.25, 0.3, 0.45, 0.5]


@pytest.fixture
def source(tmp_path: Path) -> VideoFile:
    return VideoFile(write_video(tmp_path / "source.mp4", grey_levels(6, 65 + 1, 48), TIMES))


def test_times_are_read_without_pictures(source: VideoFile) -> None:
    assert read_times(source) == pytest.approx(TIMES, abs=1e-4)


def test_frames_come_in_the_new_order_at_the_new_times(source: VideoFile, tmp_path: Path) -> None:
    index = np.array([3, 4, 0, 1, 1, 5])
    times = retime(index, read_times(source), rate=10.0)
    write_spliced(source, index, times, tmp_path / "new.mp4")
    frames = list(VideoFile(tmp_path / "new.mp4"))
    assert [frame.at for frame in frames] == pytest.approx(times, abs=1e-4)
    levels = [float(frame.image.mean()) for frame in frames]
    expected = [float(image.mean()) for image in grey_levels(6)]
    assert levels == pytest.approx([expected[number] for number in index], abs=4)


def test_a_folder_that_is_not_there(source: VideoFile, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        write_spliced(source, np.array([0]), np.zeros(1), tmp_path / "no" / "new.mp4")
