"""The right moments of the right recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.domain import Segment
from guide.ingest.files import VideoFile
from guide.teach.moments import STILLS_PER_STEP, Moment, choose_moments, pictures_at
from tests.synth import grey_levels, steady, write_video


def test_the_longest_segment_of_each_recording_and_the_longest_few_of_all() -> None:
    segments = [[Segment(1, 0.0, 1.0 + number), Segment(1, 50.0, 50.5), Segment(2, 60.0, 64.0)] for number in range(6)]
    moments = choose_moments(segments)
    first = [moment for moment in moments if moment.step == 1]
    assert first == [Moment(1, number, (1.0 + number) / 2) for number in (5, 4, 3, 2)]
    assert [moment.recording for moment in moments if moment.step == 2] == [0, 1, 2, 3]
    assert len(moments) == 2 * STILLS_PER_STEP


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_pictures_of_moments_come_in_the_order_of_time(tmp_path: Path, name: str) -> None:
    path = write_video(tmp_path / name, grey_levels(40), steady(40, 10))
    found = pictures_at(VideoFile(path), [3.05, 0.0, 3.05, 1.9, 8.0])
    np.testing.assert_allclose([image.mean() for image in found], [10, 105, 165, 165], atol=4)
