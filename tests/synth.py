"""Tiny recordings with known times and known steps, written on the spot: nothing is stored, nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from guide.domain import Image, Segment

# One colour a step, background first: far apart, so that even a compressed picture tells its step.
COLOURS = ((90, 90, 90), (220, 40, 40), (40, 200, 60), (50, 70, 230), (230, 210, 50), (200, 60, 210), (60, 210, 220))
TICKS_PER_S = 90_000


def plain(colour: tuple[int, int, int], width_px: int = 64, height_px: int = 48) -> Image:
    """A picture of one colour, (H, W, 3)."""
    return np.full((height_px, width_px, 3), colour, np.uint8)


def grey_levels(count: int, width_px: int = 64, height_px: int = 48) -> list[Image]:
    """Pictures that say by their brightness which they are: number i has level 10 + i * 200 / count."""
    return [plain((level,) * 3, width_px, height_px) for level in (10 + 200 * i // max(count, 1) for i in range(count))]


def write_video(
    path: Path,
    images: Sequence[Image],
    times: Sequence[float],
    codec: str = "libx264",
    pixels: str = "yuv420p",
    options: Mapping[str, str] | None = None,
    flags: str = "",
) -> Path:
    """Writes the pictures with exactly these times (seconds, to 1/90000), whatever rate they amount to.

    The `options` are the codec's, the `flags` those of an MP4.
    """
    height_px, width_px = images[0].shape[:2]
    with _same_scheduling(), av.open(str(path), "w", options={"movflags": flags} if flags else {}) as container:
        stream: Any = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, pixels
        # MPEG-4 knows only coarse clocks and must keep the stated rate.
        time_base = Fraction(1, 30 if codec == "mpeg4" else TICKS_PER_S)
        stream.codec_context.time_base = time_base
        if codec == "libx264":
            stream.options = dict(options or {"preset": "ultrafast", "crf": "10"})
        for image, at in zip(images, times, strict=True):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.time_base = time_base
            frame.pts = round(at / time_base)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@contextmanager
def _same_scheduling() -> Iterator[None]:
    """SVT-AV1 gives a thread of root's the highest priority of all, and children inherit it: that is taken back."""
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, param)


def steady(count: int, rate: float) -> list[float]:
    """Times of `count` frames at a steady rate."""
    return [number / rate for number in range(count)]


def write_task_video(
    path: Path, steps: Sequence[int], step_s: float = 1.0, rate: float = 10.0, noise: float = 6.0, seed: int = 0
) -> list[Segment]:
    """A video in which each step (0 is background) lasts `step_s` and has its own colour; gives its true segments."""
    generator = np.random.default_rng(seed)
    per_step = round(step_s * rate)
    images = []
    for step in steps:
        for _ in range(per_step):
            noisy = plain(COLOURS[step]) + generator.normal(0.0, noise, (48, 64, 3))
            images.append(np.clip(noisy, 0, 255).astype(np.uint8))
    write_video(path, images, steady(len(images), rate))
    return [Segment(step, i * per_step / rate, (i + 1) * per_step / rate) for i, step in enumerate(steps) if step > 0]


def turn_metadata(path: Path, quarter_turns: int) -> None:
    """Marks an mp4 or mov as to be shown turned clockwise, in the matrix of its track header, pixels untouched."""
    data = bytearray(path.read_bytes())
    matrix = data.index(b"tkhd") + 4 + 40  # version 0: times, number, length, reserved, layer, volume come before it
    cosine, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter_turns % 4]
    values = (cosine, sine, 0, -sine, cosine, 0, 0, 0)
    for place, value in enumerate(values):
        at = matrix + 4 * place
        data[at : at + 4] = (value * 65536).to_bytes(4, "big", signed=True)
    path.write_bytes(bytes(data))
