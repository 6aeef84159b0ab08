"""The moments that show a key-step best, and pictures of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from guide.domain import Image, Segment
from guide.ingest.base import FrameSource
from guide.ingest.files import VideoFile

STILLS_PER_STEP = 4
WIDTH_PX = 320
JPEG_QUALITY = 85


@dataclass(frozen=True, slots=True)
class Moment:
    """When to take a picture of which step, in the recording at place `recording`.

    >>> Moment(step=1, recording=0, at=2.0).at
    2.0
    """

    step: int
    recording: int
    at: float


def choose_moments(segments: Sequence[Sequence[Segment]]) -> list[Moment]:
    """The middle of each recording's longest segment of a step, the longest few over all recordings.

    >>> choose_moments([[Segment(1, 0.0, 4.0), Segment(1, 6.0, 7.0)]])
    [Moment(step=1, recording=0, at=2.0)]
    """
    longest: dict[int, list[tuple[float, Moment]]] = defaultdict(list)
    for number, each in enumerate(segments):
        for step in {segment.step for segment in each}:
            best = max((s for s in each if s.step == step), key=lambda s: s.duration)
            longest[step].append((-best.duration, Moment(step, number, (best.start + best.end) / 2)))
    return [
        moment
        for step in sorted(longest)
        for _, moment in sorted(longest[step], key=lambda pair: pair[0])[:STILLS_PER_STEP]
    ]


def pictures_at(source: FrameSource, moments: Sequence[float]) -> list[Image]:
    """The first frame at or after each moment, in the order of time; moments after the last frame have none.

    They are sought in a video that has an index; over any other recording it is one pass.
    """
    waiting = sorted(moments)
    taken: list[Image] = []
    if isinstance(source, VideoFile) and source.has_index():
        return [image for moment in waiting if (image := source.picture_at(moment)) is not None]

    def is_due(at: float) -> bool:
        return len(taken) < len(waiting) and at >= waiting[len(taken)]

    for frame in source.frames(is_due):
        while is_due(frame.at):
            taken.append(frame.image)
        if len(taken) == len(waiting):
            break
    return taken


def to_jpeg(image: Image) -> bytes:
    """A small JPEG of a picture."""
    height = max(1, round(image.shape[0] * WIDTH_PX / image.shape[1]))
    small = cv2.resize(image, (WIDTH_PX, height), interpolation=cv2.INTER_AREA)
    is_encoded, data = cv2.imencode(
        ".jpg", np.ascontiguousarray(small[:, :, ::-1]), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    assert is_encoded, "OpenCV encodes any picture as JPEG"
    return bytes(data.tobytes())
