"""Folders of pictures: natural order, stated rate, and damaged pictures lived through."""

from __future__ import annotations

import logging
from pathlib import Path

import cv2
import numpy as np
import pytest

from guide.errors import InputError
from guide.ingest.stills import StillFolder
from guide.perceive.pace import Pace
from tests.synth import plain


def write_stills(folder: Path, count: int, name: str = "frame{}.png") -> None:
    for number in range(count):
        cv2.imwrite(str(folder / name.format(number)), plain((number, 100, 200), 8, 6)[:, :, ::-1])


def test_natural_order_true_colours_and_times(tmp_path: Path) -> None:
    write_stills(tmp_path, 12)  # frame2 must come before frame10
    (tmp_path / "notes.txt").write_text("not a picture")
    frames = list(StillFolder(tmp_path, rate=5.0))
    np.testing.assert_allclose([frame.at for frame in frames], np.arange(12) / 5)
    assert [tuple(frame.image[0, 0]) for frame in frames] == [(number, 100, 200) for number in range(12)]


def test_unwanted_pictures_are_not_read(tmp_path: Path) -> None:
    write_stills(tmp_path, 10)
    (tmp_path / "frame1.png").write_bytes(b"damaged, but never looked at")
    folder = StillFolder(tmp_path, rate=5.0)
    assert [frame.number for frame in folder.frames(Pace(1.0).push)] == [0, 5]
    assert folder.damaged == 0


def test_a_damaged_picture_is_lived_through(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_stills(tmp_path, 4)
    (tmp_path / "frame1.png").write_bytes(b"damaged")
    (tmp_path / "frame2.png").write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        assert [frame.at for frame in StillFolder(tmp_path, rate=2.0)] == [0.0, 1.5]
    assert "frame1.png cannot be read" in caplog.text


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_senseless_rate_is_refused(tmp_path: Path, rate: float) -> None:
    with pytest.raises(InputError, match="positive number"):
        StillFolder(tmp_path, rate)


def test_a_folder_without_readable_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds none"):
        StillFolder(tmp_path, 5.0)
    (tmp_path / "a.jpg").write_bytes(b"damaged")
    with pytest.raises(InputError, match="not one of them can be read"):
        list(StillFolder(tmp_path, 5.0))
