"""`python -m guide cameras`: which cameras there are, with size, rate and a still of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from rich.console import Console

from guide.domain import Image
from guide.errors import OutputError
from guide.ingest.base import Device, SourceLostError
from guide.ingest.camera import CameraEntry, OpenCvCamera, list_cameras

SAMPLED_FRAMES = 15  # frames: enough for the rate, and for the exposure to settle before the still
NONE = (
    "No camera was found: plug one in and run this again, or give watch an address instead "
    "(rtsp://... or http://...). In a container or virtual machine, /dev/video0 must be passed in."
)


@dataclass(frozen=True)
class CamerasOptions:
    """List the cameras of this machine with size, rate and a still."""

    stills: Path | None = None
    """Write a still of each camera into this folder."""


@dataclass(frozen=True, slots=True)
class CameraSample:
    """A few frames read from a camera: the newest picture, and frames a second."""

    image: Image
    rate: float


def main(options: CamerasOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False)
    for line in camera_lines(list_cameras(), options.stills):
        console.out(line, highlight=False)


def camera_lines(
    cameras: Sequence[CameraEntry], stills: Path | None, open_camera: Callable[[int], Device] = OpenCvCamera,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:  # fmt: skip
    """A line a camera, then what to run next; one that gives no pictures says why."""
    if not cameras:
        return [NONE]
    lines, usable = [], []
    for camera in cameras:
        try:
            seen = sample_camera(open_camera(camera.number), clock)
        except SourceLostError as lost:
            lines.append(f"{camera.number}  {camera.name}: {lost.reason}; {lost.todo}.")
            continue
        usable.append(camera)
        height_px, width_px = seen.image.shape[:2]
        still = "" if stills is None else f"  {write_still(seen.image, stills / f'camera-{camera.number}.jpg')}"
        lines.append(f"{camera.number}  {camera.name}  {width_px}x{height_px}  {seen.rate:.1f} frames/s{still}")
    if usable:
        lines.append(f"Next: python -m guide watch {usable[0].source} --bundle exported/NAME")
    return lines


def sample_camera(device: Device, clock: Callable[[], float]) -> CameraSample:
    """Reads a few frames; raises SourceLostError where none comes. The device is closed again."""
    times: list[float] = []
    shot = None
    try:
        for _ in range(SAMPLED_FRAMES):
            newest = device.read()
            if newest is not None:
                shot = newest
                times.append(clock())
    finally:
        device.close()
    if shot is None:
        raise SourceLostError("it gives no picture that can be decoded")
    passed_s = times[-1] - times[0]
    return CameraSample(shot.picture(), (len(times) - 1) / passed_s if passed_s > 0 else 0.0)


def write_still(image: Image, path: Path) -> Path:
    """Writes a picture as JPEG; raises OutputError where it cannot."""
    is_encoded, data = cv2.imencode(path.suffix, cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(np.asarray(data).tobytes() if is_encoded else b"")
    except OSError as error:
        raise OutputError(f"a still cannot be written to {path} ({error.strerror}): choose another folder.") from error
    return path
