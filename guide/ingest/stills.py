"""A folder of still pictures as frames: one after another at a stated rate."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from guide.domain import Frame, Image
from guide.errors import InputError
from guide.ingest.base import Wanted

log = logging.getLogger(__name__)

STILL_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})


class StillFolder:
    """The pictures of a folder in the natural order of their names, `rate` per second.

    A picture that cannot be read keeps its moment and is passed over with a warning; `damaged` counts them.

    >>> StillFolder("missing", rate=5.0)
    Traceback (most recent call last):
    ...
    guide.errors.InputError: a folder of pictures was expected, but missing is not a folder: check the path.
    """

    is_live = False

    def __init__(self, path: str | Path, rate: float) -> None:
        self.path = Path(path)
        self.name = str(path)
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(
                f"the rate of still pictures must be a positive number per second, got {rate}: use --rate."
            )
        if not self.path.is_dir():
            raise InputError(f"a folder of pictures was expected, but {self.path} is not a folder: check the path.")
        self.rate = rate
        self.pictures = list_stills(self.path)
        self.damaged = 0
        if not self.pictures:
            raise InputError(f"a folder of pictures was expected, but {self.path} holds none: check the path.")

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def close(self) -> None:
        """Nothing is held open between pictures."""

    def frames(self, wanted: Wanted | None = None) -> Iterator[Frame]:
        """The frames whose time `wanted` approves (all without it); the others are not even read."""
        self.damaged = 0
        for number, picture in enumerate(self.pictures):
            at = number / self.rate
            if wanted is not None and not wanted(at):
                continue
            image = _read(picture)
            if image is None:
                self.damaged += 1
                log.warning("%s cannot be read as a picture and is left out.", picture)
            else:
                yield Frame(number, at, image)
        if self.damaged == len(self.pictures):
            raise InputError(f"pictures were expected in {self.path}, but not one of them can be read: leave it out.")


def list_stills(folder: Path) -> list[Path]:
    """The pictures lying directly in a folder, frame2 before frame10."""
    return sorted((path for path in folder.iterdir() if path.suffix.lower() in STILL_SUFFIXES), key=_natural)


def _natural(path: Path) -> tuple[list[tuple[bool, int, str]], str]:
    """A sort key in which runs of digits count as numbers; the plain name settles ties such as 1 and 01."""
    parts = re.findall(r"\d+|\D+", path.name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts], path.name


def _read(path: Path) -> Image | None:
    """The picture in RGB, turned as its EXIF asks, or nothing; read as bytes, for names OpenCV cannot take."""
    try:
        encoded = np.fromfile(path, np.uint8)
    except OSError as error:
        log.debug("%s: %s", path, error)
        return None
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB) if encoded.size else None
    return None if image is None else np.asarray(image, np.uint8)
