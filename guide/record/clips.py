"""The video of a session, for people: H.264 in MP4 where the encoder is there, else VP9 in WebM. Browsers play both.

Written in fragments of about a second, so that a killed process leaves a file that plays up to its last fragment. Each
frame keeps its true distance from the first one. It is lossy, so replays use `guide.record.percepts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from guide.domain import Image

FRAGMENT_S = 1.0
LONGEST_SIDE_PX = 960
NOMINAL_RATE = 30
"""What the header says; the frames keep their own times."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoder, the container it goes into, and their settings.

    >>> Encoding("libx264", ".mp4", 90_000, {}, {}).suffix
    '.mp4'
    """

    codec: str
    suffix: str
    ticks_per_s: int
    codec_options: dict[str, str]
    container_options: dict[str, str]


H264 = Encoding(
    "libx264",
    ".mp4",
    90_000,
    {"preset": "veryfast", "tune": "zerolatency", "crf": "26"},
    {"movflags": "frag_keyframe+empty_moov+default_base_moof", "flush_packets": "1"},
)
VP9 = Encoding(
    "libvpx-vp9",
    ".webm",
    1_000,
    {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "crf": "34", "b": "0"},
    {"cluster_time_limit": "1000", "flush_packets": "1"},
)


def choose_encoding() -> Encoding | None:
    """The better of our encodings that this PyAV can write, or none."""
    for encoding in (H264, VP9):
        try:
            av.codec.Codec(encoding.codec, "w")
        except ValueError:  # how PyAV says that it was built without it
            continue
        return encoding
    return None


class Clip:
    """A video file that grows; raises OSError where it cannot be written.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "clip"
    >>> with Clip(path, H264) as clip:
    ...     clip.push(np.zeros((48, 64, 3), np.uint8), at=7.25)
    >>> clip.path.suffix, clip.first_at
    ('.mp4', 7.25)
    """

    def __init__(self, stem: Path, encoding: Encoding) -> None:
        self.path = stem.with_suffix(encoding.suffix)
        self.first_at: float | None = None
        self._encoding = encoding
        self._tick = -1
        self._fragment = -1
        self._stream: Any = None
        with _as_os_error():
            self._container: Any = av.open(str(self.path), "w", options=encoding.container_options)

    def __enter__(self) -> Clip:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def push(self, image: Image, at: float) -> None:
        """Adds a picture taken at `at`; one that is not later than the last is put just behind it."""
        if self.first_at is None:
            self.first_at = at
            self._begin(image)
        fitted = _fit(image, self._stream.width, self._stream.height)
        frame = av.VideoFrame.from_ndarray(fitted, format="rgb24")
        frame.time_base = Fraction(1, self._encoding.ticks_per_s)
        self._tick = frame.pts = max(round((at - self.first_at) * self._encoding.ticks_per_s), self._tick + 1)
        fragment = int((at - self.first_at) / FRAGMENT_S)
        if fragment > self._fragment:  # a key frame ends the fragment before it
            frame.pict_type = av.video.frame.PictureType.I
            self._fragment = fragment
        with _as_os_error():
            self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Ends the file; a second time does nothing."""
        container, self._container = self._container, None
        if container is None:
            return
        with _as_os_error():
            try:
                if self._stream is not None:
                    container.mux(self._stream.encode())
            finally:
                container.close()

    def _begin(self, image: Image) -> None:
        height, width = image.shape[:2]
        scale = min(1.0, LONGEST_SIDE_PX / max(height, width))
        self._stream = self._container.add_stream(self._encoding.codec, rate=NOMINAL_RATE)
        # Colour is stored for pairs of pixels, so sides are even.
        self._stream.width, self._stream.height = (max(2, round(side * scale) // 2 * 2) for side in (width, height))
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, self._encoding.ticks_per_s)
        self._stream.options = self._encoding.codec_options


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except av.FFmpegError as error:
        raise OSError(error.errno, error.strerror) from error


def _fit(image: Image, width: int, height: int) -> Image:
    """The picture at the clip's size: a camera that was opened again may give another one."""
    if image.shape[:2] == (height, width):
        return np.ascontiguousarray(image)
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
