"""Frames to measure on: a video's, over and over, or drawn ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from guide.domain import Frame, Image
from guide.errors import InputError
from guide.ingest.files import VideoFile

Wanted = Callable[[float], bool]

SCENE_S = 8.0  # a drawn scene changes as often as a step does
HEIGHT_PX, WIDTH_PX = 240, 320
SCENES = 10


def frames_of(video: Path | None, rate: float, count: int, wanted: Wanted) -> Iterator[Frame]:
    """`count` frames that `wanted` approves, of a video played again and again, or drawn at `rate`."""
    if video is not None and not video.is_file():
        raise InputError(f"a video was expected, but {video} does not exist: check the path.")
    return islice(drawn_frames(rate, wanted) if video is None else _played(video, wanted), count)


def drawn_frames(rate: float, wanted: Wanted, seed: int = 0) -> Iterator[Frame]:
    """Frames without end: coloured scenes that change now and then, a patch that moves, and noise."""
    rng = np.random.default_rng(seed)
    scenes = [_scene(rng) for _ in range(SCENES)]
    noise = rng.integers(0, 24, (2 * HEIGHT_PX, 2 * WIDTH_PX, 3), dtype=np.uint8)
    number = 0
    while True:
        at = number / rate
        if wanted(at):
            yield Frame(number, at, _picture(scenes[int(at / SCENE_S) % SCENES], noise, at, rng))
        number += 1


def _scene(rng: np.random.Generator) -> Image:
    coarse = rng.integers(30, 190, (4, 5, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_CUBIC), np.uint8)


def _picture(scene: Image, noise: Image, at: float, rng: np.random.Generator) -> Image:
    down, right = (int(place) for place in rng.integers(0, (HEIGHT_PX, WIDTH_PX)))
    image = scene + noise[down : down + HEIGHT_PX, right : right + WIDTH_PX]
    left = int((1 + np.sin(at)) * (WIDTH_PX - 60) / 2)
    image[90:150, left : left + 60] = 240
    return image


def _played(video: Path, wanted: Wanted) -> Iterator[Frame]:
    """The video's frames again and again, each time later, so that time never turns back."""
    begin, number = 0.0, 0
    while True:
        last = begin
        for frame in VideoFile(video).frames(lambda at, begin=begin: wanted(begin + at)):  # type: ignore[misc]
            last = begin + frame.at
            yield replace(frame, number=number, at=last)
            number += 1
        if last == begin and number == 0:
            return
        begin = last + 1.0
