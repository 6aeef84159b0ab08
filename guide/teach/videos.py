"""The videos of a bundle's demonstrations where they can still be found, and short clips cut out of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from guide.domain import Image
from guide.ingest.files import open_video, to_rgb
from guide.record.clips import Clip, choose_encoding

SUFFIXES = frozenset(
    {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".wmv", ".3gp", ".ogv"}
)
CLIP_S = 3.0
PLAYED_RATE = 10.0
PLAYED_PX = 480
"""The longer side of what a browser plays here."""
WHOLE: Mapping[str, str] = {"movflags": "faststart"}  # written at once, so the index can stand in front


def find_videos(ids: Collection[str], places: Iterable[Path]) -> dict[str, Path]:
    """The video of each recording whose id is a file's name without its ending; earlier places win.

    A place is a folder, or a video itself. Recordings without a video are left out.
    """
    found: dict[str, Path] = {}
    for place in places:
        for path in _files(place):
            if path.suffix.lower() in SUFFIXES and path.stem in ids and path.is_file():
                found.setdefault(path.stem, path)
    return found


def _files(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir()) if place.is_dir() else [place]
    except OSError:  # a folder we may not look into holds nothing for us
        return []


def cut_clip(video: Path, middle: float, stem: Path) -> Path | None:
    """A short clip around a moment that browsers play, kept under `stem`; none where it cannot be made."""
    return _kept(video, max(middle - CLIP_S / 2, 0.0), middle + CLIP_S / 2, stem)


def picture_at(video: Path, at: float) -> Image | None:
    """The first picture at or after a moment, small; none where there is none. Also late ones are found quickly."""
    try:
        return next((image for image, _ in _pictures(video, max(at, 0.0), math.inf)), None)
    except (OSError, av.FFmpegError, IndexError, ValueError):  # a video that is gone or damaged
        return None


def playable(video: Path, stem: Path) -> Path | None:
    """A video that browsers play: itself, or a smaller one kept under `stem`; none where it cannot be made."""
    return video if _is_playable(video) else _kept(video, 0.0, math.inf, stem)


def _is_playable(video: Path) -> bool:
    try:
        with open_video(str(video)) as container:
            codec = container.streams.video[0].codec_context
            return video.suffix.lower() == ".mp4" and codec.name == "h264" and codec.pix_fmt == "yuv420p"
    except (av.FFmpegError, OSError, IndexError):
        return False


def _kept(video: Path, start: float, end: float, stem: Path) -> Path | None:
    encoding = choose_encoding()
    if encoding is None:
        return None
    done = stem.with_suffix(encoding.suffix)
    if done.is_file():
        return done
    if encoding.suffix == ".mp4":
        encoding = replace(encoding, container_options=dict(WHOLE))
    aside = stem.with_name(f".{stem.name}-part")
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        with Clip(aside, encoding) as clip:
            for image, at in _pictures(video, start, end):
                clip.push(image, at)
        clip.path.replace(done)
    except (OSError, av.FFmpegError, IndexError, ValueError):  # PyAV's for streams that hold nothing to decode
        aside.with_suffix(encoding.suffix).unlink(missing_ok=True)
        return None
    return done


def _pictures(video: Path, start: float, end: float) -> Iterator[tuple[Image, float]]:
    """Small pictures of a stretch of a video, some a second; begins at the key frame before, so late ones are quick."""
    due, reformatter = start, VideoReformatter()
    with open_video(str(video)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        first, tick = stream.start_time or 0, stream.time_base or Fraction(1, av.time_base)
        container.seek(first + int(start / tick), stream=stream)
        for decoded in container.decode(stream):
            at = float(((decoded.pts or first) - first) * tick)
            if at > end:
                return
            if at >= due:
                due = at + 0.9 / PLAYED_RATE
                yield _small(to_rgb(decoded, reformatter)), at


def _small(image: Image) -> Image:
    scale = PLAYED_PX / max(image.shape[:2])
    if scale >= 1:
        return image
    size = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
