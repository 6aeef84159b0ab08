"""Stills: the right moment of the right recording, in few and small pictures."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from guide.domain import Image
from guide.teach.moments import WIDTH_PX
from offline.stills import draw_stills
from offline.videos import Recording
from tests.synth import COLOURS, write_task_video


def colour(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert image is not None
    assert image.shape[1] == WIDTH_PX
    return np.asarray(image.reshape(-1, 3).mean(0), np.uint8)


def test_each_picture_shows_its_step(tmp_path: Path) -> None:
    orders = ((1, 2, 0, 3), (3, 0, 1, 2))
    segments = [write_task_video(tmp_path / f"{name}.mp4", steps) for name, steps in zip("ab", orders, strict=True)]
    recordings = [Recording(name, tmp_path / f"{name}.mp4", "video") for name in "ab"]
    stills = draw_stills(recordings, segments)
    assert sorted(stills) == ["01_1.jpg", "01_2.jpg", "02_1.jpg", "02_2.jpg", "03_1.jpg", "03_2.jpg"]
    for name, picture in stills.items():
        np.testing.assert_allclose(colour(picture).astype(int), COLOURS[int(name[:2])], atol=12)


def test_steps_that_were_never_done_have_no_picture(tmp_path: Path) -> None:
    write_task_video(tmp_path / "a.mp4", (1,))
    assert draw_stills([Recording("a", tmp_path / "a.mp4", "video")], [[]]) == {}
