"""Videos that come through the browser: looked at, named by us and written into their folder, never elsewhere.

What a file is called says nothing. Its first bytes decide which reader opens it, so that a playlist or a script that
would make a reader fetch other files is never opened at all; then a frame must decode.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import BinaryIO

from guide.errors import InputError, OutputError

SUFFIXES = ("mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "ts", "mts", "wmv", "3gp", "ogv")
"""What the browser's file dialog offers; the content decides all the same."""
LARGEST_MB = 1024
"""Of one file through the browser, which holds it in memory; larger ones are named by their folder."""
LONGEST_NAME = 60
SPARE_BYTES = 256 * 2**20
CHUNK = 2**20
MOST_TIMES = 2  # its size, when its length is put in: what is packed may swell without bound
IGNORE = ".gitignore"
WRITERS = {".mp4": "mp4", ".webm": "webm", ".mkv": "matroska"}
ALIKE = {"fflags": "+bitexact"}
"""No moment and no random number in what is written: the same film once more is the same file."""
_UNFIT = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Container:
    """A kind of video file: the reader's name for it, and the suffix that we give it.

    >>> Container("matroska", ".mkv").suffix
    '.mkv'
    """

    reader: str
    suffix: str


def if_refused(words: str) -> str:
    """HTML that the style sheet shows where the browser refuses a file, of which we hear nothing.

    >>> if_refused("Name its folder.")
    '<p class="guide-too-large">Name its folder.</p>'
    """
    return f'<p class="guide-too-large">{escape(words)}</p>'


def recognise(head: bytes) -> Container | None:
    """The kind of video file that begins with `head` (its first few hundred bytes), none for anything else.

    >>> recognise(b"\\x00\\x00\\x00\\x18ftypisom"), recognise(b"#EXTM3U"), recognise(b"hello")
    (Container(reader='mov', suffix='.mp4'), None, None)
    """
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
        return Container("mov", ".mov" if head[4:12] == b"ftypqt  " else ".mp4")
    if head[:4] == b"\x1aE\xdf\xa3":
        return Container("matroska", ".webm" if b"webm" in head[:64] else ".mkv")
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return Container("avi", ".avi")
    if head[:4] == b"\x00\x00\x01\xba":
        return Container("mpeg", ".mpg")
    if len(head) > 376 and {head[0], head[188], head[376]} == {0x47}:
        return Container("mpegts", ".ts")
    if head[:8] == b"\x30\x26\xb2\x75\x8e\x66\xcf\x11":
        return Container("asf", ".wmv")
    return Container("ogg", ".ogv") if head[:4] == b"OggS" else None


def examine(stream: BinaryIO, name: str) -> Container:
    """What kind of video `stream` holds; raises InputError where it holds none, or none that can be decoded."""
    import av  # here: the first page can take videos, and is to come before their reader is loaded

    from guide.ingest.files import open_video

    stream.seek(0)
    container = recognise(stream.read(512))
    if container is None:
        raise InputError(f"{short_name(name)} is called a video, but its content is none: choose the recording itself.")
    stream.seek(0)
    try:
        with open_video(stream, format=container.reader) as opened:
            if not opened.streams.video or next(opened.decode(video=0), None) is None:
                raise InputError(f"{short_name(name)} holds no picture: choose another recording.")
    except (av.FFmpegError, ValueError, OSError) as cause:
        raise InputError(f"{short_name(name)} is damaged or no video we can read: convert it to MP4 first.") from cause
    finally:
        stream.seek(0)
    return container


def clean_name(text: str, instead: str = "") -> str:
    """`text` as the name of a file or folder: no ways up, no hidden names, no odd characters; `instead` for nothing.

    >>> clean_name("../../etc/pass wd"), clean_name("C:\\\\a\\\\Lay mat!.mp4"), clean_name("...", "task")
    ('pass-wd', 'Lay-mat-.mp4', 'task')
    """
    last = unicodedata.normalize("NFC", text).replace("\\", "/").rstrip("/").split("/")[-1]
    name = _UNFIT.sub("-", last).strip("-.")[:LONGEST_NAME].strip("-.")
    return name or instead


def store(stream: BinaryIO, name: str, folder: Path, largest_mb: int = LARGEST_MB) -> Path:
    """Writes an uploaded video into `folder` under a clean name of its own, and says where; refuses anything else."""
    size = stream.seek(0, os.SEEK_END)
    if size > largest_mb * 2**20:
        raise InputError(
            f"{short_name(name)} has {size / 2**30:.1f} GB, a browser may send at most {largest_mb / 1024:g} GB: "
            "put it into a folder on this computer and name the folder instead."
        )
    container = examine(stream, name)
    make_folder(folder)
    _require_room(folder, size)
    try:
        with _with_length(stream, size, container, folder) as whole:
            return _write(whole, folder, clean_name(Path(clean_name(name)).stem, "recording"), container.suffix)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be written ({cause.strerror}): free some space and try again.") from cause
    except ValueError as cause:  # FFmpeg's errors of damage are
        raise InputError(f"{short_name(name)} is damaged and cannot be kept ({cause}): film it again.") from cause


@contextmanager
def _with_length(stream: BinaryIO, size: int, container: Container, folder: Path) -> Iterator[BinaryIO]:
    """The video with its length in it: browsers that film leave it out, and then nobody can look for a moment in it."""
    import av

    from guide.ingest.files import open_video

    with open_video(stream, format=container.reader) as film:
        is_whole = film.duration is not None or container.suffix not in WRITERS
        if not is_whole:
            _require_room(folder, 2 * size)  # a copy with its length, and that one in its place
            with tempfile.TemporaryFile(dir=folder) as copy:
                with av.open(copy, "w", format=WRITERS[container.suffix], options=ALIKE) as out:
                    pictures = out.add_stream_from_template(film.streams.video[0])
                    for packet in film.demux(film.streams.video[0]):
                        if packet.dts is not None:  # the empty one at the end
                            packet.stream = pictures
                            out.mux(packet)
                            if copy.tell() > MOST_TIMES * size + CHUNK:
                                raise ValueError("it swells")
                copy.seek(0)
                yield copy
    if is_whole:
        stream.seek(0)
        yield stream


def make_folder(folder: Path) -> None:
    """Makes the folder of a procedure's recordings; nothing in the one above it is ever taken into version control."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not (folder.parent / IGNORE).exists():
            (folder.parent / IGNORE).write_text("*\n")
        folder.mkdir(exist_ok=True, mode=0o700)  # it shows people at work
    except OSError as cause:
        raise OutputError(f"{folder} cannot be made ({cause.strerror}): check who may write there.") from cause
    if folder.is_symlink():
        raise OutputError(f"{folder} is a link to another place: choose another name.")


def _write(stream: BinaryIO, folder: Path, stem: str, suffix: str) -> Path:
    """The file, written under a hidden name first, so that half a file is never learned from."""
    aside = folder / f".{stem}{suffix}.{os.getpid()}.part"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as written:
            shutil.copyfileobj(stream, written, CHUNK)
        for number in range(1, 10_000):
            path = folder / f"{stem}{f'-{number}' if number > 1 else ''}{suffix}"
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # taken, if it was free
            except FileExistsError:
                if _is_same(path, aside):
                    return path  # the same recording once more
                continue
            os.replace(aside, path)
            return path
    finally:
        aside.unlink(missing_ok=True)
    raise OutputError(f"{folder} holds too many recordings called {stem}: rename the file.")


def _is_same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        while chunk := first.read(CHUNK):
            if chunk != second.read(CHUNK):
                return False
    return True


def _require_room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size + SPARE_BYTES:
        raise OutputError(
            f"the recording needs {size / 2**20:.0f} MB, but only {free / 2**20:.0f} MB are free: make room first."
        )


def short_name(name: str) -> str:
    """A file's name for a message: short, one line."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"
