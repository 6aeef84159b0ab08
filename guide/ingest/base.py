"""What every source of frames is, and what a live one says besides frames."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from guide.domain import Frame, Image

log = logging.getLogger(__name__)

MOST_DIGITS = 4  # of a camera's number; a longer one is the name of a file
NO_PICTURES = "none"  # the source without pictures, as a user writes it
BY_HAND = "by hand"  # the same as it is shown and stored

Wanted = Callable[[float], bool]
NoticeKind = Literal["lost", "reopened", "gone", "frozen", "moving", "clock", "damaged", "cut_off"]


class FrameSource(Protocol):
    """Frames in the order they were taken, each with `at`, seconds since the session or recording began.

    `frames(wanted)` asks once for each frame, in order, whether its time is wanted, and gives those that are.
    `name` is fit to be shown: it holds no password.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_live(self) -> bool: ...

    def __iter__(self) -> Iterator[Frame]: ...

    def frames(self, wanted: Wanted | None = None) -> Iterator[Frame]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SourceNotice:
    """Something happened to a source, in plain words; the session goes on unless it is gone.

    >>> SourceNotice(12.5, "lost", "camera 0 was lost (unplugged); trying again.").kind
    'lost'
    """

    at: float
    kind: NoticeKind
    text: str


Tell = Callable[[SourceNotice], None]


def log_notice(notice: SourceNotice) -> None:
    """Where notices go unless somebody listens."""
    log.warning("%.1f s: %s", notice.at, notice.text)


class SourceLostError(Exception):
    """A device cannot be opened or has stopped giving pictures: why, and what a person can do about it.

    >>> SourceLostError("it was unplugged", "plug it in again").todo
    'plug it in again'
    """

    def __init__(self, reason: str, todo: str = "check that it is switched on and connected") -> None:
        super().__init__(reason)
        self.reason, self.todo = reason, todo


@dataclass(frozen=True, slots=True)
class Shot:
    """What a device gives: a picture, made only where it is needed, and the device's own time if it has one.

    `stamp` is in seconds and counts from anywhere.
    """

    picture: Callable[[], Image]
    stamp: float | None = None


class Device(Protocol):
    """A camera or stream that is open; one thread owns it.

    `read` waits for the next shot; None stands for one that was damaged. It raises SourceLostError when no more come,
    after a few seconds at the latest.
    """

    def read(self) -> Shot | None: ...

    def close(self) -> None: ...


OpenDevice = Callable[[], Device]


def is_camera_number(text: str) -> bool:
    """Whether a SOURCE is the number of a camera; a longer number is the name of a file.

    >>> is_camera_number("0"), is_camera_number("20300102")
    (True, False)
    """
    return text.isdecimal() and text.isascii() and len(text) <= MOST_DIGITS
