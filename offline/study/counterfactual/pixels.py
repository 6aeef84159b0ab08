"""Writing a video anew with its frames in another order, each shown as long as it was."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from av.error import FFmpegError

from guide.domain import Frame, Image, Times
from guide.errors import InputError, OutputError
from guide.ingest.files import VideoFile
from guide.ingest.stills import StillFolder
from offline.study.counterfactual.pieces import Index, splices

TICK = Fraction(1, 90_000)
QUALITY = "18"  # clean recordings are written anew as well, so what is lost is lost in all alike


def read_times(source: VideoFile | StillFolder) -> Times:
    """When each frame is shown, (T,), without turning any into a picture."""
    times: list[float] = []

    def note(at: float) -> bool:
        times.append(at)
        return False

    for _ in source.frames(note):
        pass
    return np.array(times, dtype=np.float64)


def write_spliced(source: VideoFile | StillFolder, index: Index, times: Times, path: Path) -> None:
    """Writes the frames `index` (M,) of a video at `times` (M,) seconds as H.264.

    The source is read once for each stretch that stays together: a long video would not fit into memory.
    """
    try:
        _encode(_pictures(source, index), times, path)
    except (OSError, FFmpegError) as error:
        raise OutputError(
            f"cannot write {path} ({error.strerror or error}): free some space or give another --out folder."
        ) from error


def _pictures(source: VideoFile | StillFolder, index: Index) -> Iterator[Image]:
    begins = sorted({0, *splices(index)})
    for begin, end in zip(begins, [*begins[1:], len(index)], strict=True):
        yield from _stretch(source, int(index[begin]), int(index[end - 1]) + 1)


def _stretch(source: VideoFile | StillFolder, first: int, end: int) -> Iterator[Image]:
    """Pictures of the frames `first` up to, not including, `end`; only these are converted."""
    asked = iter(range(end))
    chosen = source.frames(lambda at: next(asked, end) >= first)
    with closing(cast(Generator[Frame, None, None], chosen)) as frames:  # lets go of the file, wherever reading stops
        given = 0
        for frame in islice(frames, end - first):
            yield frame.image
            given += 1
    if given < end - first:
        raise InputError(f"{source.name} has frames that cannot be read: leave it out, or record it again.")


def _encode(pictures: Iterable[Image], times: Times, path: Path) -> None:
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", options=options) as container:
        stream: Any = None
        for picture, at in zip(pictures, times, strict=True):
            stream = stream or _stream(container, picture, times)
            even = picture[: stream.height, : stream.width]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
            frame.time_base, frame.pts = TICK, round(at / TICK)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _stream(container: Any, picture: Image, times: Times) -> Any:
    """One thread and no dates, so that equal pictures give equal bytes. H.264 as browsers play it wants even sides."""
    rate = Fraction(round((len(times) - 1) / max(float(times[-1]), 1e-3) * 1000), 1000) if len(times) > 1 else 1
    stream = container.add_stream("libx264", rate=rate)
    height, width = picture.shape[:2]
    stream.width, stream.height, stream.pix_fmt = width - width % 2, height - height % 2, "yuv420p"
    stream.codec_context.time_base = TICK
    stream.codec_context.thread_count = 1
    stream.options = {"preset": "superfast", "crf": QUALITY, "bf": "0", "threads": "1"}
    return stream
