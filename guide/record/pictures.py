"""Writes the pictures of a session in a thread of its own: the video, and a still of every step and alert.

Pictures are for people; where they come too fast for the encoder, or the disk refuses them, frames are left out of the
video, counted and told of, and the loop goes on. Once the disk takes them again a new clip begins, and the stills of
steps and alerts, which were kept meanwhile, are written.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from guide.domain import Frame
from guide.record.clips import Clip, choose_encoding
from guide.record.private_folder import is_nearly_full
from guide.record.snapshots import Snapshots
from guide.record.values import PictureOf, StoredPicture

log = logging.getLogger(__name__)

MOST_WANTED = 10_000
MOST_KEPT = 500  # stills that wait for a disk: 6 MB


@dataclass(frozen=True, slots=True)
class PictureSettings:
    """Whether there is a video, and how much may wait.

    >>> PictureSettings().most_frames
    4
    """

    has_video: bool = True
    is_patient: bool = False
    """Whether the loop may be held up: right for files read as fast as possible, wrong for anything live."""
    most_frames: int = 4
    """Frames that wait for the encoder: 25 MB of full high definition."""
    pause_s: float = 5.0
    """Before the disk is asked again after it refused."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    of: PictureOf
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class _Still:
    """A JPEG that is to be written, of a frame taken at `at`."""

    wanted: _Wanted
    at: float
    data: bytes


class PictureWriter:
    """Takes frames and wishes for stills; `put` hears of every picture that was stored, `tell` of troubles.

    >>> import tempfile, numpy as np
    >>> stored = []
    >>> writer = PictureWriter(Path(tempfile.mkdtemp()), stored.append, PictureSettings(has_video=False))
    >>> writer.push(Frame(0, 0.0, np.zeros((48, 64, 3), np.uint8)))
    >>> writer.want("step", 2, at=0.0)
    >>> writer.close()
    >>> [picture.file for picture in stored]
    ['still-1-step-2.jpg']
    """

    def __init__(
        self,
        folder: Path,
        put: Callable[[StoredPicture], None],
        settings: PictureSettings | None = None,
        tell: Callable[[str], None] = log.warning,
        earlier: Sequence[StoredPicture] = (),
    ) -> None:
        """A session that goes on has `earlier` ones already, perhaps on another machine: their names are taken."""
        self.dropped = 0
        self._folder, self._put, self._tell = folder, put, tell
        self._settings = settings or PictureSettings()
        self._encoding = choose_encoding() if self._settings.has_video else None
        if self._settings.has_video and self._encoding is None:
            tell("recording: this PyAV can write neither H.264 nor VP9: the session is stored without video.")
        self._snapshots = Snapshots()
        self._clip: Clip | None = None
        taken = [*(path.name for path in folder.glob("*-*")), *(one.file for one in earlier)]
        self._clips, self._stills = (_newest(taken, kind) for kind in ("video", "still"))
        self._kept: deque[_Still] = deque(maxlen=MOST_KEPT)
        self._trouble = ""
        self._retry_at = 0.0
        self._failure: Exception | None = None
        self._queue: deque[Frame | _Wanted] = deque()
        self._changed = threading.Condition()
        self._waiting = 0
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    def push(self, frame: Frame) -> None:
        """Takes a frame; leaves it out where too many wait, unless the loop may wait as well."""
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if self._settings.is_patient:
                self._changed.wait_for(lambda: self._waiting < self._settings.most_frames or self._failure)
            if self._waiting >= self._settings.most_frames:
                self.dropped += 1
                return
            self._waiting += 1
            self._queue.append(frame)
            self._changed.notify_all()

    def want(self, of: PictureOf, number: int, at: float) -> None:
        """Asks for a still of the moment `at`."""
        with self._changed:
            if len(self._queue) < MOST_WANTED:
                self._queue.append(_Wanted(of, number, at))
                self._changed.notify_all()

    def close(self, patience_s: float = 10.0) -> None:
        """Writes what waits and ends the video."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(patience_s)
        if self._failure is not None:
            raise self._failure
        if self._thread.is_alive():
            self._tell("recording: the last pictures could not be written in time.")
        if self.dropped:
            self._tell(f"recording: {self.dropped} frames are missing in the video: they came too fast for it.")

    def _run(self) -> None:
        try:
            while (item := self._next()) is not None:
                self._store(item)
            self._end_stills()
            self._end_clip()
        except Exception as error:  # our own fault: the loop hears of it with its next frame
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _next(self) -> Frame | _Wanted | None:
        """The oldest item, awaited; nothing once all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closing)
            item = self._queue.popleft() if self._queue else None
            if isinstance(item, Frame):
                self._waiting -= 1
                self._changed.notify_all()
            return item

    def _store(self, item: Frame | _Wanted) -> None:
        if isinstance(item, Frame):
            self._snapshots.push(item.image, item.at)
        elif (still := self._snapshots.nearest(item.at)) is not None:
            self._kept.append(_Still(item, *still))
        if time.monotonic() < self._retry_at:
            return
        try:
            if is_nearly_full(self._folder.parent):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._write_stills()
            if isinstance(item, Frame) and self._encoding is not None:
                self._film(item)
        except OSError as error:
            self._begin_trouble(error)

    def _film(self, frame: Frame) -> None:
        assert self._encoding is not None, "asked by the caller"
        if self._clip is None:
            self._make_folder()
            self._clips += 1
            self._clip = Clip(self._folder / f"video-{self._clips}", self._encoding)
            self._put(StoredPicture(frame.at, "video", self._clips, self._clip.path.name))
        self._clip.push(frame.image, frame.at)
        self._end_trouble()

    def _write_stills(self) -> None:
        """Writes the stills that wait; one that the disk refuses stays the first of them."""
        while self._kept:
            still = self._kept[0]
            self._make_folder()
            file = f"still-{self._stills + 1}-{still.wanted.of}-{still.wanted.number}.jpg"
            (self._folder / file).write_bytes(still.data)
            self._kept.popleft()
            self._stills += 1
            self._put(StoredPicture(still.at, still.wanted.of, still.wanted.number, file))
            self._end_trouble()

    def _make_folder(self) -> None:
        self._folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.mkdir(exist_ok=True, mode=0o700)

    def _begin_trouble(self, error: OSError) -> None:
        """Gives up the clip, which plays as far as it came, and waits before the next try."""
        self._retry_at = time.monotonic() + self._settings.pause_s
        clip, self._clip = self._clip, None
        if clip is not None:
            _close_quietly(clip)
        if not self._trouble:
            self._trouble = str(error.strerror or error)
            self._tell(f"recording: pictures cannot be stored ({self._trouble}): the session goes on without them.")

    def _end_trouble(self) -> None:
        if self._trouble:
            self._trouble = ""
            self._tell("recording: pictures are stored again.")

    def _end_stills(self) -> None:
        try:
            self._write_stills()
        except OSError as error:
            self._begin_trouble(error)
            left = len(self._kept)
            self._tell(f"recording: {left} still{'s' if left > 1 else ''} of steps and alerts could not be stored.")

    def _end_clip(self) -> None:
        if self._clip is not None:
            try:
                self._clip.close()
            except OSError as error:
                self._clip = None
                self._begin_trouble(error)


def _newest(files: Sequence[str], kind: str) -> int:
    """The highest number of such files, which a session that goes on has already; else 0.

    >>> _newest(["video-1.mp4", "still-2-step-1.jpg", "still-10-alert-3.jpg"], "still")
    10
    """
    numbers = (re.match(rf"{kind}-(\d+)", name) for name in files)
    return max((int(number[1]) for number in numbers if number), default=0)


def _close_quietly(clip: Clip) -> None:
    try:
        clip.close()
    except OSError as error:
        log.debug("a clip on a disk that refuses: %s", error)
