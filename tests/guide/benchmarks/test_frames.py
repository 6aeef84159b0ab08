"""Frames to measure on: as many as asked for, in time, the same each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.benchmarks.frames import frames_of
from guide.errors import InputError
from guide.perceive.pace import Pace
from tests.synth import grey_levels, steady, write_video


def test_a_short_video_is_played_again_and_time_goes_on(tmp_path: Path) -> None:
    video = write_video(tmp_path / "short.mp4", grey_levels(4), steady(4, 5.0))
    frames = list(frames_of(video, 5.0, 10, Pace(5.0).push))
    assert len(frames) == 10
    assert (np.diff([frame.at for frame in frames]) > 0).all()


def test_drawn_frames_are_the_same_each_time() -> None:
    one, two = (list(frames_of(None, 5.0, 3, lambda at: True)) for _ in range(2))
    assert [frame.at for frame in one] == [0.0, 0.2, 0.4]
    assert all((a.image == b.image).all() for a, b in zip(one, two, strict=True))
    assert one[0].image.shape == (240, 320, 3)


def test_a_video_that_is_not_there() -> None:
    with pytest.raises(InputError, match="does not exist"):
        frames_of(Path("missing.mp4"), 5.0, 1, lambda at: True)
