"""Pictures over the network: incoming ones are checked before they are decoded, outgoing ones annotated, as JPEG."""

from __future__ import annotations

import struct
import unicodedata
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from guide.domain import Image
from guide.errors import InputError
from guide.perceive.region import Region, pixels

MOST_SCANS = 64  # a progressive JPEG of a few bytes can ask for thousands of passes over the picture
WIDEST_PX = 960
NARROWEST_PX = 480  # words need room
JPEG_QUALITY = 80
BAND_PX = 30
MOST_SHOWN_ALERTS = 4
_SEVERITY_COLOURS = {"alarm": (200, 40, 40), "warning": (200, 130, 0), "info": (60, 90, 160)}  # RGB
_BAND_COLOUR = (25, 40, 48)
_FRAME_COLOUR = (240, 240, 240)
_SEVERITY_SIGNS = {"alarm": "!!", "warning": "!", "info": "i"}  # colour is never the only sign
_SIZE_MARKERS = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_FIRST_MARKER = 0xC0
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """The largest picture that is taken.

    >>> PictureLimits().most_bytes
    4194304
    """

    most_bytes: int = 4 * 2**20
    """Of one frame as it is sent."""
    most_pixels: int = 8_500_000
    """Of one frame decoded: a little more than 4K."""


def decode(data: bytes, limits: PictureLimits | None = None) -> Image:
    """The picture (H, W, 3), RGB, of a JPEG or WebP file; InputError with one sentence for anything else."""
    limits = limits or PictureLimits()
    if len(data) > limits.most_bytes:
        raise InputError(f"a frame has up to {limits.most_bytes} bytes, {len(data)} came: send it smaller.")
    width_px, height_px = size_px(data)
    if not 0 < width_px * height_px <= limits.most_pixels:
        raise InputError(
            f"a frame has up to {limits.most_pixels} pixels, {width_px} x {height_px} came: send it smaller."
        )
    try:
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        picture = None
    # A camera's note on how it was held turns the picture, so the sides may be swapped.
    if picture is None or picture.ndim != 3 or {*picture.shape[:2]} != {width_px, height_px}:
        raise InputError("a JPEG or WebP picture was expected, this one cannot be decoded.")
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)


def size_px(data: bytes) -> tuple[int, int]:
    """Width and height that a JPEG or WebP file claims.

    >>> size_px(b"GIF89a")
    Traceback (most recent call last):
    ...
    guide.errors.InputError: a frame is a JPEG or WebP picture, something else came.
    """
    try:
        if data[:2] == b"\xff\xd8":
            return _jpeg_size_px(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_size_px(data)
    except (struct.error, IndexError) as cause:
        raise InputError("a whole picture was expected, this one breaks off.") from cause
    raise InputError("a frame is a JPEG or WebP picture, something else came.")


def _jpeg_size_px(data: bytes) -> tuple[int, int]:
    # Without its end marker libjpeg would fill the rest with grey, which looks like a picture to a network.
    if b"\xff\xd9" not in data[-64:]:
        raise InputError("a whole picture was expected, this one breaks off.")
    if data.count(b"\xff\xda") > MOST_SCANS:
        raise InputError(f"a JPEG has up to {MOST_SCANS} scans, this one has more.")
    place = 2
    while True:
        while data[place] == 0xFF and data[place + 1] == 0xFF:  # markers may be padded
            place += 1
        if data[place] != 0xFF:
            raise InputError("a JPEG or WebP picture was expected, this one cannot be decoded.")
        marker = data[place + 1]
        if marker in _BARE_MARKERS:
            place += 2
            continue
        if marker < _FIRST_MARKER:  # FF 00 is no segment but garbage to a decoder, which finds another size behind it
            raise InputError("a JPEG or WebP picture was expected, this one cannot be decoded.")
        length, _, height_px, width_px = struct.unpack_from(">HBHH", data, place + 2)
        if marker in _SIZE_MARKERS:
            return width_px, height_px
        if marker in (0xD9, 0xDA) or length < 2:
            raise InputError("a JPEG or WebP picture was expected, this one cannot be decoded.")
        place += 2 + length


def _webp_size_px(data: bytes) -> tuple[int, int]:
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        raise InputError("a whole picture was expected, this one breaks off.")
    kind = data[12:16]
    if kind == b"VP8 ":
        width_px, height_px = struct.unpack_from("<HH", data, 26)
        return width_px & 0x3FFF, height_px & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X" and not data[20] & 0x02:  # a moving one has as many pictures as it likes
        (width,), (height,) = struct.unpack("<I", data[24:27] + b"\0"), struct.unpack("<I", data[27:30] + b"\0")
        return width + 1, height + 1
    raise InputError("a JPEG or WebP picture was expected, this one cannot be decoded.")


def annotated_jpeg(image: Image, state: dict[str, Any]) -> bytes:
    """A JPEG of the picture with the current and the next step written above it and the open alerts below."""
    shown = _resized(image).copy()
    step, following = state.get("step"), state.get("next") or []
    words = step["name"] if step else "no step recognised"
    if following:
        words += f"   next: {following[0]['name']}"
    _band(shown, 0, words, _BAND_COLOUR)
    alerts = [alert for alert in state.get("alerts", []) if not alert["snoozed"]][-MOST_SHOWN_ALERTS:]
    for place, alert in enumerate(alerts):
        text = f"{_SEVERITY_SIGNS[alert['severity']]} {alert['kind'].replace('_', ' ')}: {alert['name']}"
        _band(shown, shown.shape[0] - BAND_PX * (len(alerts) - place), text, _SEVERITY_COLOURS[alert["severity"]])
    return plain_jpeg(shown)


def framed(image: Image, region: Region) -> Image:
    """The picture with a frame around the region that the second look is at."""
    left, top, side = pixels(image, region)
    shown, line_px = image.copy(), max(round(min(image.shape[:2]) / 160), 1)
    cv2.rectangle(shown, (left, top), (left + side - 1, top + side - 1), _FRAME_COLOUR, line_px)
    return shown


def plain_jpeg(image: Image) -> bytes:
    """A JPEG of the picture without annotations, at most WIDEST_PX wide."""
    shown = _resized(image) if image.shape[1] > WIDEST_PX else image  # without text a small picture stays small
    done, packed = cv2.imencode(
        ".jpg", cv2.cvtColor(shown, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    return packed.tobytes() if done else b""


def _resized(image: Image) -> Image:
    height_px, width_px = image.shape[:2]
    wanted_px = min(max(width_px, NARROWEST_PX), WIDEST_PX)
    if wanted_px == width_px:
        return image
    # A very narrow picture would become very tall: its height is limited as well.
    size = (wanted_px, min(max(1, round(height_px * wanted_px / width_px)), 4 * WIDEST_PX))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _band(image: Image, top: int, text: str, colour: tuple[int, int, int]) -> None:
    """A bar across the picture with white text; OpenCV writes ASCII only, so accents are left out."""
    cv2.rectangle(image, (0, top), (image.shape[1], top + BAND_PX), colour, -1)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    cv2.putText(image, plain, (8, top + BAND_PX - 9), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 1, cv2.LINE_AA)
