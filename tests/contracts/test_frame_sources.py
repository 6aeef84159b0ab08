"""What every source of frames promises; a new source only joins the list."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
import pytest

from guide.domain import Frame
from guide.ingest.files import VideoFile
from guide.ingest.stills import StillFolder
from tests.synth import grey_levels, steady, write_video

COUNT = 20


class Source(Protocol):
    def __iter__(self) -> Iterator[Frame]: ...

    def frames(self, wanted: Callable[[float], bool] | None = None) -> Iterator[Frame]: ...


def video(folder: Path) -> Source:
    return VideoFile(write_video(folder / "a.mp4", grey_levels(COUNT), steady(COUNT, 29.97)))


def stills(folder: Path) -> Source:
    for number, image in enumerate(grey_levels(COUNT)):
        cv2.imwrite(str(folder / f"{number}.png"), image)
    return StillFolder(folder, rate=5.0)


@pytest.fixture(params=[video, stills], ids=lambda make: make.__name__)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    made: Source = request.param(tmp_path)
    return made


def test_frames_come_in_order_from_time_0(source: Source) -> None:
    frames = list(source)
    assert [frame.number for frame in frames] == list(range(COUNT))
    assert frames[0].at == 0.0
    assert all(a.at < b.at for a, b in itertools.pairwise(frames))
    brightness = [float(frame.image.mean()) for frame in frames]
    np.testing.assert_allclose(brightness, [10 + 200 * i // COUNT for i in range(COUNT)], atol=4)


def test_the_choice_is_asked_once_for_each_frame_in_order(source: Source) -> None:
    every = [frame.at for frame in source]
    asked: list[float] = []

    def wanted(at: float) -> bool:
        asked.append(at)
        return len(asked) % 3 == 1

    chosen = list(source.frames(wanted))
    assert asked == every
    assert [frame.number for frame in chosen] == list(range(0, COUNT, 3))


def test_a_source_can_be_read_again(source: Source) -> None:
    first, second = list(source), list(source)
    assert all(np.array_equal(a.image, b.image) for a, b in zip(first, second, strict=True))
