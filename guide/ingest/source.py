"""One way to write a source, for every command: `open_source` reads a SOURCE and gives its frames."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from guide.errors import InputError
from guide.ingest.base import BY_HAND, NO_PICTURES, FrameSource, Shot, SourceNotice, Tell, is_camera_number, log_notice
from guide.ingest.camera import OpenCvCamera, find_camera, list_cameras
from guide.ingest.capture import CaptureSettings
from guide.ingest.files import VideoFile
from guide.ingest.live import LiveSource
from guide.ingest.pushed import Headsets
from guide.ingest.stills import StillFolder, list_stills
from guide.ingest.streams import NetworkStream, is_address, redacted, require_address

FORMS = (
    "a video file, a folder of stills, a camera (0 or name:...), an rtsp:// or http:// address, headset:NAME or none"
)
EVERY_S = 0.5  # an empty picture, where there are none
NEVER_FROZEN = CaptureSettings(freeze_s=1e9)
_BLANK = np.full((180, 320, 3), 32, np.uint8)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What may be said about a source besides its name.

    >>> SourceOptions(rate=5.0).live.give_up_s
    60.0
    """

    rate: float | None = None
    """How many stills of a folder there are in a second."""
    live: CaptureSettings = field(default_factory=CaptureSettings)
    """How patient a live source is."""
    headsets: Headsets = field(default_factory=Headsets)
    """The headsets connected here."""
    machine: str | None = None
    """The number of the machine that an address may lead to, where its name was looked up already."""


class Timer:
    """A device without pictures, which only lets time pass: an empty one twice a second, the first at once.

    >>> Timer().read().picture().shape
    (180, 320, 3)
    """

    def __init__(self) -> None:
        self._wait_s = 0.0
        self._closed = threading.Event()

    def read(self) -> Shot:
        self._closed.wait(self._wait_s)
        self._wait_s = EVERY_S
        return Shot(lambda: _BLANK)

    def close(self) -> None:
        self._closed.set()


def open_source(text: str, options: SourceOptions | None = None, tell: Tell = log_notice) -> FrameSource:
    """The source a user wrote; `tell` hears what happens to a live one, in the thread that reads its frames.

    A file whose name looks like something else is written with its folder: `./0`.

    >>> open_source("ftp://camera/1")
    Traceback (most recent call last):
    ...
    guide.errors.InputError: an address beginning with rtsp://, rtsps://, http://, https:// was expected, got ftp://camera/1.
    """
    options = options or SourceOptions()
    if text == NO_PICTURES:
        return LiveSource(BY_HAND, Timer, NEVER_FROZEN, tell)
    if is_address(text):
        address, silent_s = require_address(text), options.live.silent_s
        return LiveSource(redacted(text), lambda: NetworkStream(address, silent_s, options.machine), options.live, tell)
    if is_camera_number(text):
        return LiveSource(f"camera {text}", lambda: OpenCvCamera(int(text)), options.live, tell)
    kind, colon, name = text.partition(":")
    if colon and kind == "name" and name.strip():
        # Looked up at each opening: a camera that is plugged in again may have another number.
        return LiveSource(text, lambda: OpenCvCamera(find_camera(name, list_cameras()).number), options.live, tell)
    if colon and kind == "headset" and name.strip():
        return options.headsets.find(name)
    return _recording(text, options.rate)


def tell_cut_off(source: FrameSource, at: float, tell: Tell) -> bool:
    """Whether a recording that was read to its end lacks the rest; `tell` hears of it then."""
    is_cut_off = isinstance(source, VideoFile) and source.missing_s > 0
    if isinstance(source, VideoFile) and is_cut_off:
        words = f"the recording ends {source.missing_s:.0f} s early: what is not done by then is asked about."
        tell(SourceNotice(at, "cut_off", words))
    return is_cut_off


def length_of(source: FrameSource) -> float:
    """Seconds that a recording lasts by its own word, which is known once its first frame is; 0 where it has none."""
    if isinstance(source, StillFolder):
        return len(source.pictures) / source.rate
    return source.length_s if isinstance(source, VideoFile) else 0.0


def _recording(text: str, rate: float | None) -> FrameSource:
    path = Path(text)
    if not text.strip():
        raise InputError(f"a source was expected, got nothing: give {FORMS}.")
    try:
        is_folder = path.is_dir()
    except OSError as cause:  # such as a name that is too long
        raise InputError(f"a source was expected, got {text!r:.80} ({cause.strerror}): give {FORMS}.") from cause
    if not is_folder:
        return VideoFile(text)
    if not list_stills(path):
        raise InputError(
            f"one recording or a folder of pictures was expected, {path} holds no pictures: name one video."
        )
    return StillFolder(path, require_rate(path, rate, "pictures"))


def require_rate(path: Path, rate: float | None, what: str) -> float:
    """The rate that was given for what does not say its own; InputError where it is none."""
    if rate is not None and 0 < rate < math.inf:
        return rate
    got = "" if rate is None else f", not {rate:g}"
    raise InputError(
        f"{path} does not say its rate: give how many {what} a second there are with --rate, above 0{got}."
    )
