"""Films from outside are read for the first time in a process of their own, with little memory and time.

FFmpeg may crash on them, and a few kilobytes can claim millions of pictures, or one that fills the memory before any
limit of ours is heard. What got through here takes no more memory to be opened anywhere else.
"""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import av

from guide.errors import InputError
from guide.ingest.files import open_video
from guide.memory_limit import limit_memory

log = logging.getLogger(__name__)

MEMORY_BYTES: Final = 2**30
LONGEST_S: Final = 60.0
CHUNK: Final = 2**20
MOST_TIMES: Final = 2  # its size, when its length is put in: what is packed may swell without bound
ALIKE: Final = {"fflags": "+bitexact"}
"""No moment and no random number in what is written: the same film once more is the same file."""
DAMAGED: Final = "is damaged or no video we can read: convert it to MP4 first."
PACKAGE: Final = Path(__file__).parents[2]
REFUSED: Final = 2


def has_length(film: Path, reader: str, name: str) -> bool:
    """Whether the film says how long it is; raises InputError where it cannot be read whole, one picture decoded."""
    return _read_apart(name, str(film), reader) == "length"


def write_with_length(film: Path, reader: str, name: str, copy: Path, writer: str) -> None:
    """Writes the film once more with its length in it; raises InputError where that cannot be."""
    _read_apart(name, str(film), reader, str(copy), writer)


def _read_apart(name: str, *arguments: str) -> str:
    command = [sys.executable, "-m", __name__, *arguments]
    paths = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment,
            timeout=LONGEST_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{name} takes more than {LONGEST_S:g} s to read: convert it to MP4 first.") from None
    except OSError as cause:
        raise InputError(f"{name} cannot be read now ({cause.strerror}): try again in a moment.") from cause
    if ended.returncode == 0:
        return ended.stdout.strip()
    if ended.returncode != REFUSED:
        log.warning("reading a film ended with %d: %s", ended.returncode, ended.stderr[-500:])
    raise InputError(f"{name} {ended.stdout.strip() if ended.returncode == REFUSED else DAMAGED}")


def main(film: str, reader: str, copy: str = "", writer: str = "") -> None:
    """In the process apart: says what the film is like, or what is wrong with it."""
    os.umask(0o077)  # it shows people at work
    limit_memory(MEMORY_BYTES)
    try:
        sys.stdout.write(_write(film, reader, copy, writer) if copy else _examine(film, reader))
    except (InputError, MemoryError, av.FFmpegError, ValueError, OSError) as error:
        sys.stdout.write(_problem(error))
        sys.exit(REFUSED)


def _problem(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "takes too much memory to be read: convert it to MP4 first."
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return "cannot be kept, as the disk is full: free some space and try again."
    return DAMAGED


def _examine(film: str, reader: str) -> str:
    with open_video(film, format=reader) as opened:
        if opened.streams.video:
            opened.streams.video[0].thread_count = 1  # each takes memory
        if not opened.streams.video or next(opened.decode(video=0), None) is None:
            raise InputError("holds no picture that can be read: choose another recording.")
        is_long = opened.duration is not None
        try:
            for _ in opened.demux(video=0):  # tables may also stand between the pictures
                pass
        except MemoryError:
            raise
        except av.FFmpegError:  # damage in the middle is lived through
            pass
    return "length" if is_long else ""


def _write(film: str, reader: str, copy: str, writer: str) -> str:
    most_bytes = MOST_TIMES * Path(film).stat().st_size + CHUNK
    with open_video(film, format=reader) as opened, av.open(copy, "w", format=writer, options=ALIKE) as out:
        pictures = out.add_stream_from_template(opened.streams.video[0])
        for packet in opened.demux(video=0):
            if packet.dts is not None:  # the empty one at the end
                packet.stream = pictures
                out.mux(packet)
                if Path(copy).stat().st_size > most_bytes:
                    raise InputError("swells when its length is written into it: film it again.")
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
