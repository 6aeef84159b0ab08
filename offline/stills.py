"""A few pictures of each key-step, taken from the middle of its longest segments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from guide.domain import Image, Segment
from offline.videos import Recording, open_frames

STILLS_PER_STEP = 4
WIDTH_PX = 320
JPEG_QUALITY = 85


@dataclass(frozen=True, slots=True)
class Moment:
    """When to take a picture of which step."""

    step: int
    recording: int
    at: float


def draw_stills(recordings: Sequence[Recording], segments: Sequence[Sequence[Segment]]) -> dict[str, bytes]:
    """JPEG pictures by file name, `03_1.jpg` being the first of step 3; from different recordings where possible."""
    wanted: dict[int, list[Moment]] = defaultdict(list)
    for moment in choose_moments(segments):
        wanted[moment.recording].append(moment)
    pictures: dict[tuple[int, int], bytes] = {}
    for number, moments in wanted.items():
        in_time = sorted(moments, key=lambda moment: moment.at)
        for moment, image in zip(in_time, pictures_at(recordings[number], [one.at for one in in_time]), strict=False):
            pictures[(moment.step, moment.recording)] = _jpeg(image)
    counts: dict[int, int] = defaultdict(int)
    named = {}
    for (step, _), picture in sorted(pictures.items()):
        counts[step] += 1
        named[f"{step:02d}_{counts[step]}.jpg"] = picture
    return named


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


def pictures_at(recording: Recording, moments: Sequence[float]) -> list[Image]:
    """The first frame at or after each moment, in the order of time, in one pass over the recording.

    Moments after the last frame have none.
    """
    waiting = sorted(moments)
    taken: list[Image] = []

    def is_due(at: float) -> bool:
        return len(taken) < len(waiting) and at >= waiting[len(taken)]

    for frame in open_frames(recording).frames(is_due):
        while is_due(frame.at):
            taken.append(frame.image)
        if len(taken) == len(waiting):
            break
    return taken


def _jpeg(image: Image) -> bytes:
    height = max(1, round(image.shape[0] * WIDTH_PX / image.shape[1]))
    small = cv2.resize(image, (WIDTH_PX, height), interpolation=cv2.INTER_AREA)
    is_encoded, data = cv2.imencode(
        ".jpg", np.ascontiguousarray(small[:, :, ::-1]), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    assert is_encoded, "OpenCV encodes any picture as JPEG"
    return bytes(data.tobytes())
