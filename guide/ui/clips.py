"""`python -m guide.ui.clips BUNDLE FOLDER`: a short moving picture of every step, where the videos are at hand.

It is a process of its own and a polite one: it is started beside a live session, which comes first. The pictures are
animated WebP, since a browser plays those anywhere without buttons around them.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import cv2
import numpy as np
from PIL import Image as Pictures

from guide.bundle import Bundle, read_bundle
from guide.domain import Image, Segment
from guide.errors import GuideError
from guide.ingest.files import VideoFile
from guide.teach.annotations import read_labels
from guide.teach.moments import choose_moments
from guide.teach.review_store import ReviewStore
from guide.teach.videos import cut_clip, find_videos
from guide.ui.live_clips import DONE, LARGEST_BYTES, file_name
from guide.ui.review_bundle import video_places
from guide.whole_file import whole_file

WIDTH_PX = 200  # as wide as the page shows it: all clips come with the page
RATE = 5.0  # pictures a second: enough to see what a hand does
QUALITY = 40
POLITENESS = 10


def make_clips(bundle: Bundle, videos: Mapping[str, Path], folder: Path) -> list[int]:
    """Writes a moving picture of every step that a video at hand shows; says of which steps."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made: list[int] = []
    with tempfile.TemporaryDirectory() as aside:
        for step, video, at in _moments(bundle, videos):
            if step in made:
                continue
            clip = cut_clip(video, at, Path(aside) / f"{step}-{len(made)}")
            data = b"" if clip is None else to_webp(_frames(clip))
            if 0 < len(data) <= LARGEST_BYTES:
                with whole_file(folder / file_name(step)) as unfinished:
                    unfinished.write_bytes(data)
                made.append(step)
    (folder / DONE).touch()
    return made


def to_webp(images: Iterator[Image]) -> bytes:
    """Small pictures that follow each other for ever; nothing where there are none."""
    small = [Pictures.fromarray(_small(image)) for image in images]
    if not small:
        return b""
    written = io.BytesIO()
    small[0].save(
        written, "WEBP", save_all=True, append_images=small[1:], duration=round(1000 / RATE), loop=0, quality=QUALITY
    )
    return written.getvalue()


def _moments(bundle: Bundle, videos: Mapping[str, Path]) -> Iterator[tuple[int, Path, float]]:
    """Step, video and time, the best moments of each step first."""
    labelled: list[tuple[Path, list[Segment]]] = []
    for name in sorted(bundle.facts["files"]):
        place, stem = Path(name).parent.name, Path(name).stem
        if place == "segments" and stem in videos:
            labelled.append((videos[stem], list(read_labels(bundle.path(name)).segments)))
    for moment in choose_moments([segments for _, segments in labelled]):
        yield moment.step, labelled[moment.recording][0], moment.at


def _frames(clip: Path) -> Iterator[Image]:
    due = 0.0
    for frame in VideoFile(clip).frames():
        if frame.at >= due:
            due += 1 / RATE
            yield frame.image


def _small(image: Image) -> Image:
    size = (WIDTH_PX, max(1, round(image.shape[0] * WIDTH_PX / image.shape[1])))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def forget_others(folder: Path) -> None:
    """Removes the clips of other versions of the same bundle: names end in a mark of the version."""
    stem = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{stem}-*"):
        if other != folder and re.fullmatch(re.escape(stem) + "-[0-9a-f]{12}", other.name):
            shutil.rmtree(other, ignore_errors=True)


def main(bundle: Path, folder: Path) -> int:
    """Makes the clips; 1 where the bundle or a video cannot be read, which the page does without."""
    os.nice(POLITENESS)
    try:
        read = read_bundle(bundle)
        recordings = [str(one) for one in read.facts.get("recordings", ())]
        make_clips(read, find_videos(recordings, video_places(ReviewStore(bundle))), folder)
        forget_others(folder)
    except (GuideError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
