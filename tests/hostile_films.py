"""Films of a few kilobytes that fill the memory of whoever opens them, and what opening them takes."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from guide.errors import GuideError
from guide.ingest.base import SourceLostError
from guide.ingest.streams import NetworkStream, is_address
from guide.ui.uploads import store
from tests.synth import grey_levels

ROOT = Path(__file__).parents[1]
COUNT = 80_000_000
"""Pictures that a table claims: 4.7 GB."""


def with_huge_table(film: bytes, count: int = COUNT) -> bytes:
    """An MP4 file whose sample table claims so many pictures of one byte."""
    changed = bytearray(film)
    for kind, body in {b"stsz": (1, count), b"stts": (1, count, 1), b"stsc": (1, 1, count, 1)}.items():
        begin = changed.index(kind) - 4
        size = int.from_bytes(changed[begin : begin + 4], "big")
        table = struct.pack(f">I4sI{len(body)}I", 12 + 4 * len(body), kind, 0, *body)
        rest = size - len(table)
        changed[begin : begin + size] = table + (struct.pack(">I4s", rest, b"free").ljust(rest, b"\0") if rest else b"")
    return bytes(changed)


def with_huge_fragment(film: bytes, count: int = COUNT) -> bytes:
    """A fragmented MP4 file, such as `fragmented` makes, whose last fragment claims so many pictures."""
    begin = film.rindex(b"trun") - 4
    size, kind, _, _, place = struct.unpack(">I4sIIi", film[begin : begin + 20])
    table = struct.pack(">I4sIIi", 20, kind, 1, count, place) + struct.pack(">I4s", size - 20, b"free")
    return film[:begin] + table.ljust(size, b"\0") + film[begin + size :]


def fragmented(path: Path) -> bytes:
    """A film in fragments, each with a table of its own."""
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    with av.open(str(path), "w", format="mp4", options=options) as out:
        stream: Any = out.add_stream("libx264", rate=25, options={"g": "4"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for image in grey_levels(20):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(stream.encode())
    return path.read_bytes()


def with_huge_pictures(path: Path, side_px: int = 8_256) -> bytes:
    """An MPEG-PS film of two H.264 pictures without content: FFmpeg decodes them while it opens the film."""
    blocks = _count(side_px // 16 - 1)
    head = f"{66:08b}{0:08b}{51:08b}" + _count(0) * 2 + _count(2) + _count(1) + "0" + 2 * blocks + "1100"
    settings = _count(0) * 2 + "00" + _count(0) * 3 + "000" + _count(0) * 3 + "000"
    with av.open(str(path), "w", format="mpeg") as out:
        stream: Any = out.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(2):
            picture = _count(0) + _count(7) + _count(0) + "0000" + _count(number) + "00" + _count(0)
            packet = av.Packet(_unit(0x67, head) + _unit(0x68, settings) + _unit(0x65, picture + 40 * _count(3)))
            packet.stream, packet.time_base, packet.pts, packet.dts = stream, Fraction(1, 25), number, number
            out.mux(packet)
    return path.read_bytes()


def _count(number: int) -> str:
    """A number as H.264 writes it, in bits."""
    bits = f"{number + 1:b}"
    return "0" * (len(bits) - 1) + bits


def _unit(kind: int, bits: str) -> bytes:
    """A unit of H.264; three bytes that would look like the start of another get a byte between them."""
    whole = bits + "1" + "0" * (-(len(bits) + 1) % 8)
    data = int(whole, 2).to_bytes(len(whole) // 8, "big")
    return b"\0\0\0\1" + bytes([kind]) + re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", data)


def open_measured(place: Path | str) -> tuple[str, float]:
    """What is said of a film that is uploaded, or streamed from an address, and the megabytes that its process grew by.

    That is address space: what is claimed counts, used or not.
    """
    command = [sys.executable, "-m", "tests.hostile_films", str(place)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    said, grown_mb = ended.stdout.splitlines()
    return said, float(grown_mb)


def main(place: str) -> None:
    """In the process that is measured."""
    before = _peak_mb()
    try:
        if is_address(place):
            NetworkStream(place, 5.0)
        else:
            with Path(place).open("rb") as film:
                store(film, "a film", Path(place).parent / "box")
        said = "taken"
    except (GuideError, SourceLostError) as error:
        said = str(error)
    sys.stdout.write(f"{said}\n{_peak_mb() - before}\n")


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmPeak:")) / 1e3


if __name__ == "__main__":
    main(*sys.argv[1:])
