"""Video files as frames with their true times: any container and codec the decoder knows, rotation applied."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

import av
import numpy as np
from av.video.reformatter import VideoReformatter

import guide
from guide.domain import Frame, Image
from guide.errors import InputError
from guide.ingest.base import Wanted
from guide.words import count_of

log = logging.getLogger(__name__)

# A timestamp that falls back further than this is a clock that was set anew, not a frame out of place.
RESTART_S = 1.0
DEFAULT_INTERVAL_S = 1 / 30


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What a video holds: number of frames, seconds from the first to the last, frames per second between them.

    >>> VideoFacts(frames=61, duration_s=2.0, width_px=64, height_px=48).rate
    30.0
    """

    frames: int
    duration_s: float
    width_px: int
    height_px: int

    @property
    def rate(self) -> float:
        return (self.frames - 1) / self.duration_s if self.duration_s > 0 else 0.0


class VideoFile:
    """The frames of a video file in order, `at` in seconds after the first one.

    A file that cannot be read, or holds no picture, raises InputError. What is damaged in the middle is lived
    through with a warning: `damaged` counts the packets that could not be decoded, `turned_back` the timestamps
    that went back, `missing_s` says how much of the stated length was lacking at the end; once a frame came, `length_s`
    is that length, 0 where none is stated. `frames(wanted)` converts to RGB only the frames whose time is wanted, which
    is the dear part.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".mp4") as empty:
    ...     list(VideoFile(empty.name))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    guide.errors.InputError: a video was expected, but ... is empty (0 bytes): record or copy it again.
    """

    is_live = False

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = str(path)
        self.damaged = 0
        self.turned_back = 0
        self.missing_s = self.length_s = 0.0
        self._container: Any = None

    def __enter__(self) -> VideoFile:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def close(self) -> None:
        """Lets go of the file."""
        if self._container is not None:
            self._container.close()
            self._container = None

    def frames(self, wanted: Wanted | None = None) -> Iterator[Frame]:
        """The frames whose time `wanted` approves (all without it); it is asked once for each, in order."""
        self.close()
        self.damaged, self.turned_back, self.missing_s = 0, 0, 0.0
        try:
            yield from self._frames(wanted)
        finally:
            self.close()

    def facts(self) -> VideoFacts:
        """Length and size by reading the packets without decoding them, which also serves files cut off short.

        Raises InputError unless at least one frame can be decoded.
        """
        first = next(iter(self), None)
        assert first is not None, "frames() raises where nothing can be decoded"
        self.close()
        try:
            stamps = _stamps(self._open())
        finally:
            self.close()
        height, width = first.image.shape[:2]
        return VideoFacts(len(stamps) or 1, max(stamps) - min(stamps) if stamps else 0.0, width, height)

    def has_index(self) -> bool:
        """Whether the file says where each frame lies and its times never go back, as in MP4: `picture_at` is quick."""
        try:
            return "mp4" in str(self._open().container.format.name)
        finally:
            self.close()

    def picture_at(self, moment: float) -> Image | None:
        """The first picture at or after `moment`, none after the last; of a file with an index.

        Only what lies between the key frame before it and the picture is decoded.
        """
        try:
            due = (decoded for at, decoded in self._from(moment) if at >= moment)
            return next((to_rgb(decoded, VideoReformatter()) for decoded in due), None)
        finally:
            self.close()

    def _from(self, moment: float) -> Iterator[tuple[float, Any]]:
        """Decoded frames with their times from the key frame before a moment on; all where that cannot be found."""
        stream = self._open()
        clock = _Clock(stream)
        if next(self._timed(stream, clock), None) is None:  # the first frame, from which time counts
            self._report(0)
        with suppress(av.FFmpegError):
            self._container.seek(clock.stamp(moment), stream=stream)
        timed = self._timed(stream, clock)
        begun = next(timed, None)
        if begun is None or begun[0] > moment:
            stream = self._open()
            timed = self._timed(stream, _Clock(stream))
        else:
            yield begun
        yield from timed

    def _timed(self, stream: Any, clock: _Clock) -> Iterator[tuple[float, Any]]:
        return ((clock.read(decoded), decoded) for decoded in self._decode(stream))

    def _frames(self, wanted: Wanted | None) -> Iterator[Frame]:
        stream = self._open()
        stream.thread_type = "AUTO"
        clock = _Clock(stream)
        self.length_s = clock.length_s
        reformatter = VideoReformatter()  # one for the file: setting it up for each frame costs more than using it
        number = -1
        for number, decoded in enumerate(self._decode(stream)):
            at = clock.read(decoded)
            if wanted is None or wanted(at):
                yield Frame(number, at, to_rgb(decoded, reformatter))
        self.turned_back = clock.turned_back
        self.missing_s = clock.missing_s if clock.missing_s > RESTART_S else 0.0
        self._report(number + 1)

    def _open(self) -> Any:
        """The video stream of the newly opened file."""
        self.close()
        if not self.path.is_file():
            raise InputError(f"a video file was expected, but {self.path} does not exist: check the path.")
        if self.path.stat().st_size == 0:
            raise InputError(f"a video was expected, but {self.path} is empty (0 bytes): record or copy it again.")
        try:
            self._container = open_video(str(self.path))
        except (av.FFmpegError, OSError) as error:
            raise InputError(
                f"a video was expected, but {self.path} cannot be read as one ({reason(error)}): it may be cut off, "
                "damaged or of another kind; copy it again or give another."
            ) from error
        if not self._container.streams.video:
            raise InputError(f"a video was expected, but {self.path} has no picture track: give another.")
        return self._container.streams.video[0]

    def _decode(self, stream: Any) -> Iterator[Any]:
        """Decoded frames; packets that cannot be decoded are counted and passed over."""
        for packet in self._packets(stream):
            try:
                for decoded in packet.decode():
                    self.damaged += decoded.is_corrupt  # the decoder made up what it could not read
                    yield decoded
            except av.FFmpegError as error:
                self.damaged += 1
                log.debug("%s: a packet could not be decoded (%s)", self.path, reason(error))

    def _packets(self, stream: Any) -> Iterator[Any]:
        try:
            yield from self._container.demux(stream)
        except (av.FFmpegError, OSError) as error:
            self.damaged += 1
            log.debug("%s: the file ends in the middle (%s)", self.path, reason(error))

    def _report(self, count: int) -> None:
        if count == 0:
            raise InputError(
                f"a video was expected, but not one frame of {self.path} can be decoded: it is empty or damaged; "
                "record or copy it again, or leave it out."
            )
        if self.damaged:
            log.warning(
                "%s is damaged or cut off: %s could not be decoded whole, going on with the %s it gave.",
                self.path, count_of(self.damaged, "packet"), count_of(count, "frame"),
            )  # fmt: skip
        elif self.missing_s:
            log.warning(
                "%s ends %.1f s before the length it states: it was cut off, going on with the %s it has.",
                self.path, self.missing_s, count_of(count, "frame"),
            )  # fmt: skip
        if self.turned_back:
            held = "was" if self.turned_back == 1 else "were"
            log.warning(
                "%s: %s went back in time and %s held.", self.path, count_of(self.turned_back, "timestamp"), held
            )


class _Clock:
    """Turns a stream's timestamps into seconds after the first frame that never go back."""

    def __init__(self, stream: Any) -> None:
        self.turned_back = 0
        self._time_base: Fraction | None = stream.time_base
        self.length_s = _stated_length_s(stream)
        rate = stream.average_rate
        self._interval_s = float(1 / rate) if rate else DEFAULT_INTERVAL_S
        self._origin: float | None = None
        self._at = 0.0
        self._seconds = 0.0

    @property
    def missing_s(self) -> float:
        """How far short of the stated length the last frame lies.

        Matroska counts its length from 0 however late the first frame comes, so the last stamp counts as well.
        """
        return max(0.0, self.length_s - max(self._at, self._seconds) - self._interval_s)

    def read(self, decoded: Any) -> float:
        stamp = decoded.pts if decoded.pts is not None else decoded.dts
        if stamp is None or self._time_base is None:  # raw streams carry no times: keep the stated rate
            self._at = 0.0 if self._origin is None else self._at + self._interval_s
            self._origin = 0.0 if self._origin is None else self._origin
            return self._at
        self._seconds = seconds = float(stamp * self._time_base)
        if self._origin is None:
            self._origin = seconds
        at = seconds - self._origin
        if at < self._at:
            self.turned_back += 1
            at = self._restart(seconds) if self._at - at > RESTART_S else self._at
        self._at = at
        return at

    def stamp(self, at: float) -> int:
        """The timestamp of a moment, or the one before it, in a stream that has times."""
        assert self._origin is not None, "a frame was read"
        assert self._time_base is not None, "streams with an index have times"
        return math.floor((self._origin + at) / self._time_base)

    def _restart(self, seconds: float) -> float:
        """Lets a clock that was set anew go on where it stopped."""
        at = self._at + self._interval_s
        self._origin = seconds - at
        return at


def _stated_length_s(stream: Any) -> float:
    """The length the header states, 0 where it states none."""
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return float((stream.container.duration or 0) / av.time_base)


def _stamps(stream: Any) -> list[float]:
    """The times in seconds of all packets of a stream, as far as it can be read."""
    stamps: list[float] = []
    try:
        for packet in stream.container.demux(stream):
            stamp = packet.pts if packet.pts is not None else packet.dts
            if stamp is not None and packet.size:
                stamps.append(float(stamp * stream.time_base))
    except (av.FFmpegError, OSError) as error:
        log.debug("the file ends in the middle (%s)", reason(error))
    return stamps


def open_video(file: str | BinaryIO, options: Mapping[str, str] | None = None, **more: Any) -> Any:
    """What FFmpeg reads from a file or address; no picture of more than MOST_PIXELS is decoded.

    Raises what PyAV does.
    """
    limit = {"max_pixels": str(guide.MOST_PIXELS)}
    container: Any = av.open(file, options={**(options or {}), **limit}, **more)  # which looks at some to know them
    for stream in container.streams.video:
        stream.codec_context.options = limit
    return container


def to_rgb(decoded: Any, reformatter: VideoReformatter) -> Image:
    """A decoded frame as (H, W, 3), turned as it is to be shown."""
    image = cast(Image, reformatter.reformat(decoded, format="rgb24").to_ndarray())
    quarter_turns = round(decoded.rotation / 90) % 4  # anticlockwise, as numpy turns
    return np.ascontiguousarray(np.rot90(image, quarter_turns)) if quarter_turns else image


def reason(error: Exception) -> str:
    """Why reading failed, in the library's words without the path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
