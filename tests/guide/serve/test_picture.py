"""Pictures from outside: taken when they are what they say, refused in one sentence when they are not."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.perceive.region import Region, pixels
from guide.serve.picture import (
    MOST_SCANS,
    NARROWEST_PX,
    WIDEST_PX,
    PictureLimits,
    annotated_jpeg,
    decode,
    framed,
    size_px,
)
from tests.synth import COLOURS, plain


def packed(suffix: str, width_px: int = 40, height_px: int = 30, *flags: int) -> bytes:
    image = cv2.cvtColor(plain(COLOURS[1], width_px, height_px), cv2.COLOR_RGB2BGR)
    return cv2.imencode(suffix, image, list(flags))[1].tobytes()


FORMS = {
    "jpeg": (".jpg",),
    "progressive": (".jpg", cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "webp": (".webp", cv2.IMWRITE_WEBP_QUALITY, 80),
    "webp without loss": (".webp", cv2.IMWRITE_WEBP_QUALITY, 101),
}


@pytest.mark.parametrize("form", FORMS)
@settings(derandomize=True, deadline=None, max_examples=15)
@given(width_px=st.integers(1, 300), height_px=st.integers(1, 300))
def test_the_claimed_size_is_the_decoded_one(form: str, width_px: int, height_px: int) -> None:
    suffix, *flags = FORMS[form]
    data = packed(str(suffix), width_px, height_px, *[int(flag) for flag in flags])
    assert size_px(data) == (width_px, height_px)
    assert decode(data).shape == (height_px, width_px, 3)


@pytest.mark.parametrize("form", FORMS)
def test_colours_are_red_green_blue(form: str) -> None:
    suffix, *flags = FORMS[form]
    colour = decode(packed(str(suffix), 40, 30, *[int(flag) for flag in flags])).mean(axis=(0, 1))
    np.testing.assert_allclose(colour, COLOURS[1], atol=8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_picture_that_breaks_off_is_refused(form: str, share: float) -> None:
    suffix, *flags = FORMS[form]
    data = packed(str(suffix), 200, 150, *[int(flag) for flag in flags])
    with pytest.raises(InputError):
        decode(data[: int(share * len(data))])


def test_one_that_claims_to_be_enormous_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(packed(".jpg"))
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">HH", 60_000, 60_000)
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(InputError, match="60000 x 60000"):
        decode(bytes(data))


def huge(width_px: int = 32_000) -> bytes:
    """A JPEG of a few bytes that claims to be a square of this width."""
    data = bytearray(packed(".jpg", 16, 16))
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">HH", width_px, width_px)
    return bytes(data)


def hidden(size: int = 16) -> bytes:
    """A JPEG whose size hides behind FF 00: a segment to who believes it, garbage to a decoder."""
    inner, small = huge()[2:], packed(".jpg", size, size)
    place = small.index(b"\xff\xc0")
    (length,) = struct.unpack_from(">H", small, place + 2)
    cover = b"\xff\x00" + struct.pack(">H", 2 + len(inner)) + inner
    return b"\xff\xd8" + cover + small[place : place + 2 + length] + b"\xff\xd9"


def test_a_size_that_hides_behind_garbage_is_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(InputError):
        decode(hidden())


def test_the_decoder_refuses_by_itself_what_is_far_too_large() -> None:
    with pytest.raises(cv2.error, match="CV_IO_MAX_IMAGE_PIXELS"):
        cv2.imdecode(np.frombuffer(huge(), np.uint8), cv2.IMREAD_COLOR)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    form=st.sampled_from(sorted(FORMS)),
    place=st.integers(2, 200),
    kind=st.integers(0, 2),
    piece=st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff\x00", b"\xff\x00\x00\x08", b"\xff\x01"]),
)
def test_the_decoder_sees_no_other_size_than_ours(form: str, place: int, kind: int, piece: bytes) -> None:
    suffix, *flags = FORMS[form]
    data = bytearray(packed(str(suffix), 40, 30, *[int(flag) for flag in flags]))
    data[place : place + (0, len(piece), 2 * len(piece))[kind]] = piece
    try:
        claimed = size_px(bytes(data))
    except InputError:
        return
    if max(claimed) < 2_000 and (seen := cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)) is not None:
        assert sorted(seen.shape[:2]) == sorted(claimed)


def test_one_of_too_many_bytes_is_refused() -> None:
    with pytest.raises(InputError, match="up to 100 bytes"):
        decode(packed(".jpg", 200, 200), PictureLimits(most_bytes=100))


def test_one_of_too_many_scans_is_refused() -> None:
    data = packed(".jpg")
    with pytest.raises(InputError, match="scans"):
        decode(data[:-2] + (MOST_SCANS + 1) * b"\xff\xda" + data[-2:])


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tiff"])
def test_no_other_kind_is_taken(suffix: str) -> None:
    with pytest.raises(InputError, match="JPEG or WebP"):
        decode(packed(suffix))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.binary(max_size=80), st.sampled_from([b"", b"\xff\xd8", b"RIFF\x40\0\0\0WEBPVP8 ", b"RIFF\x20\0\0\0WEBPVP8L"])
)
def test_anything_else_is_refused_in_a_sentence(data: bytes, head: bytes) -> None:
    with pytest.raises(InputError):
        decode(head + data)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(2, 600), st.integers(0, 255), st.sampled_from(sorted(FORMS)))
def test_a_picture_with_a_wrong_byte_is_decoded_or_refused(place: int, value: int, form: str) -> None:
    suffix, *flags = FORMS[form]
    data = bytearray(packed(str(suffix), 40, 30, *[int(flag) for flag in flags]))
    data[place % len(data)] = value
    try:
        assert decode(bytes(data)).ndim == 3
    except InputError:
        return


ALERT = {"kind": "too_long", "name": "Schraube lösen ✓", "severity": "alarm", "snoozed": False}
STATE = {"step": {"name": "fit board"}, "next": [{"name": "close"}], "alerts": [ALERT, {**ALERT, "snoozed": True}]}


@pytest.mark.parametrize(("width", "height"), [(64, 48), (640, 480), (3840, 2160), (1, 1), (1, 3000), (3000, 1)])
@pytest.mark.parametrize("state", [STATE, {"step": None, "next": [], "alerts": []}])
def test_any_picture_can_be_annotated(width: int, height: int, state: dict[str, object]) -> None:
    shown = decode(annotated_jpeg(np.full((height, width, 3), 90, np.uint8), state))
    assert NARROWEST_PX <= shown.shape[1] <= WIDEST_PX
    assert shown.shape[0] <= 4 * WIDEST_PX


def test_words_are_drawn_and_the_frame_itself_is_left_alone() -> None:
    image = np.full((480, 640, 3), 90, np.uint8)
    shown = decode(annotated_jpeg(image, STATE))
    assert (image == 90).all()
    assert shown[:30].std() > 10
    assert shown[-30:, :, 0].mean() > 150  # the alarm's band is red
    assert abs(shown[200:260].mean() - 90) < 3


@pytest.mark.parametrize(("width", "height"), [(1, 1), (320, 240), (64, 200)])
def test_a_frame_is_drawn_around_the_region_and_nowhere_else(width: int, height: int) -> None:
    image, region = np.zeros((height, width, 3), np.uint8), Region(0.9, 0.2, 0.5)
    shown, (left, top, side) = framed(image, region), pixels(image, region)
    assert not image.any()
    assert shown[top : top + side, left].all()
    assert shown[top, left : left + side].all()
    inner = slice(top + side // 4, top + 3 * side // 4), slice(left + side // 4, left + 3 * side // 4)
    assert not shown[inner].any()
    assert not shown[top + side + 2 :].any()
