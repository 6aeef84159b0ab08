"""Cameras of this machine: which there are, and one of them opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from guide.ingest.base import Shot, SourceLostError

NAMES = Path("/sys/class/video4linux")
NODES = Path("/dev")
UNPLUGGED = "plug it in, or run python -m guide cameras to see which there are"


@dataclass(frozen=True, slots=True)
class CameraEntry:
    """A camera the system knows of: `number` as in /dev/video0, and the name its driver gives.

    >>> CameraEntry(0, "HD Webcam").source
    '0'
    """

    number: int
    name: str

    @property
    def source(self) -> str:
        return str(self.number)


def list_cameras(names: Path = NAMES, nodes: Path = NODES) -> list[CameraEntry]:
    """The video devices of a Linux machine in the order of their numbers, whether or not they give pictures."""
    numbers = sorted(
        int(match[1]) for node in nodes.glob("video*") if (match := re.fullmatch(r"video(\d+)", node.name))
    )
    return [CameraEntry(number, _name(names / f"video{number}" / "name")) for number in numbers]


def _name(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or "no name"
    except OSError:
        return "no name"


def find_camera(name: str, cameras: list[CameraEntry]) -> CameraEntry:
    """The first camera whose name holds these letters: one camera often has several nodes of one name.

    Raises SourceLostError where none does, or where cameras of different names do.

    >>> find_camera("webcam", [CameraEntry(0, "HD Webcam"), CameraEntry(1, "HD Webcam")]).number
    0
    """
    found = [camera for camera in cameras if name.casefold() in camera.name.casefold()]
    found = [camera for camera in found if camera.name.casefold() == name.casefold()] or found
    if not found:
        known = ", ".join(sorted({camera.name for camera in cameras})) or "none"
        raise SourceLostError(f"the cameras found are: {known}", UNPLUGGED)
    if len({camera.name for camera in found}) > 1:
        known = ", ".join(f"{camera.number} ({camera.name})" for camera in found)
        raise SourceLostError(f"several cameras have such a name: {known}", "give more of the name, or the number")
    return found[0]


class OpenCvCamera:
    """An open camera; the driver waits up to 10 s for a picture, then it counts as lost.

    >>> OpenCvCamera(63)
    Traceback (most recent call last):
    ...
    guide.ingest.base.SourceLostError: there is no /dev/video63
    """

    def __init__(self, number: int, nodes: Path = NODES) -> None:
        node = nodes / f"video{number}"
        # Asked beforehand, since OpenCV only says that it did not open.
        if not node.exists():
            raise SourceLostError(f"there is no {node}", UNPLUGGED)
        if not os.access(node, os.R_OK | os.W_OK):
            raise SourceLostError(f"this user may not use {node}", "add the user to the group video and log in again")
        with _without_warnings():
            self._capture: Any = cv2.VideoCapture(str(node), cv2.CAP_V4L2)
        if not self._capture.isOpened():
            self._capture.release()
            raise SourceLostError(f"{node} gives no pictures or is in use", "close other programs that use it")
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # the driver's queue only makes frames old

    def read(self) -> Shot | None:
        try:
            is_read, image = self._capture.read()
        except cv2.error:  # a picture that the camera sent in pieces; the next one may be whole
            return None
        if not is_read or image is None:
            raise SourceLostError("it gives no pictures any more", UNPLUGGED)
        return Shot(lambda: np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8))

    def close(self) -> None:
        self._capture.release()


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keeps OpenCV from writing to stderr past our own messages."""
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    try:
        yield
    finally:
        cv2.utils.logging.setLogLevel(level)
