"""Videos that come through the browser: looked at, named by us and written into their folder, never elsewhere.

What a file is called says nothing. Its first bytes decide which reader opens it, so that a playlist or a script that
would make a reader fetch other files is never opened at all; then a frame must decode, in a process apart.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unicodedata
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
IGNORE = ".gitignore"
WRITERS = {".mp4": "mp4", ".webm": "webm", ".mkv": "matroska"}
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
    if b"GGG" in (head[::188][:3], head[4::192][:3]):  # camcorders write a time before each packet
        return Container("mpegts", ".ts")
    if head[:8] == b"\x30\x26\xb2\x75\x8e\x66\xcf\x11":
        return Container("asf", ".wmv")
    return Container("ogg", ".ogv") if head[:4] == b"OggS" else None


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
    stream.seek(0)
    container = recognise(stream.read(512))
    if container is None:
        raise InputError(f"{short_name(name)} is called a video, but its content is none: choose the recording itself.")
    make_folder(folder)
    _require_room(folder, size)
    stream.seek(0)
    try:
        with tempfile.TemporaryDirectory(prefix=".", dir=folder) as aside:  # half a file is never learned from
            film = Path(aside) / "film.part"
            with open(os.open(film, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
                shutil.copyfileobj(stream, written, CHUNK)
            film = _with_length(film, container, short_name(name))
            return _keep(film, folder, clean_name(Path(clean_name(name)).stem, "recording"), container.suffix)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be written ({cause.strerror}): free some space and try again.") from cause


def _with_length(film: Path, container: Container, name: str) -> Path:
    """The video with its length in it: browsers that film leave it out, and then nobody can look for a moment in it."""
    # Here, as the first page can take videos and is to come before their reader is loaded.
    from guide.ingest.unknown_film import has_length, write_with_length

    if has_length(film, container.reader, name) or container.suffix not in WRITERS:
        return film
    _require_room(film.parent, film.stat().st_size)
    copy = film.with_name("copy.part")
    write_with_length(film, container.reader, name, copy, WRITERS[container.suffix])
    return copy


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


def _keep(film: Path, folder: Path, stem: str, suffix: str) -> Path:
    """Moves the file to a name of its own."""
    for number in range(1, 10_000):
        path = folder / f"{stem}{f'-{number}' if number > 1 else ''}{suffix}"
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # taken, if it was free
        except FileExistsError:
            if _is_same(path, film):
                return path  # the same recording once more
            continue
        os.replace(film, path)
        return path
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
