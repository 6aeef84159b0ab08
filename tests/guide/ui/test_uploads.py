"""Uploads: looked at, renamed, kept in their folder; whatever is no video is refused in one sentence."""

from __future__ import annotations

import io
import re
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from guide.errors import InputError, OutputError
from guide.ingest import unknown_film
from guide.ui import uploads
from guide.ui.one_video import DROPPED
from guide.ui.uploads import clean_name, recognise, store
from tests.hostile_films import fragmented, open_measured, with_huge_fragment, with_huge_pictures, with_huge_table
from tests.synth import grey_levels, steady, write_video


@pytest.fixture
def video(tmp_path: Path) -> bytes:
    return write_video(tmp_path / "made.mp4", grey_levels(8), steady(8, 5)).read_bytes()


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".mp4", "libx264"), (".mov", "libx264"), (".mkv", "libx264"), (".avi", "mpeg4")]
)
def test_every_kind_of_video_is_told_by_its_content(tmp_path: Path, suffix: str, codec: str) -> None:
    path = write_video(tmp_path / f"a{suffix}", grey_levels(8), steady(8, 30), codec)
    with path.open("rb") as stream:
        kept = store(stream, "b.txt", tmp_path / "box")
    assert (kept.name, kept.read_bytes()) == (f"b{suffix}", path.read_bytes())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"just a text that somebody called a video",
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"<html><script>alert(1)</script></html>",
        b"\x7fELF" + bytes(600),
    ],
)
def test_what_is_no_video_is_refused_whatever_it_is_called(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"^a\.mp4 is called a video, but its content is none: [^.]*\.$"):
        store(io.BytesIO(content), "a.mp4", tmp_path / "box")
    assert not (tmp_path / "box").exists()


def test_a_video_cut_off_or_without_pictures_is_refused(tmp_path: Path, video: bytes) -> None:
    for content in (video[:40], video[:8] + bytes(500)):
        with pytest.raises(InputError, match="damaged or no video"):
            store(io.BytesIO(content), "a.mp4", tmp_path)


def test_it_lies_under_a_clean_name_with_the_suffix_of_its_content(tmp_path: Path, video: bytes) -> None:
    path = store(io.BytesIO(video), "../../etc/<img src=x>.exe", tmp_path / "box")
    assert path.parent == tmp_path / "box"
    assert path.name == "img-src-x.mp4"
    assert path.read_bytes() == video
    assert path.stat().st_mode & 0o077 == 0, "only its owner may read it"
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_another_of_the_same_name_gets_a_number_and_the_same_one_is_kept_once(tmp_path: Path, video: bytes) -> None:
    other = write_video(tmp_path / "other.mp4", grey_levels(9), steady(9, 5)).read_bytes()
    names = [store(io.BytesIO(content), "a.mp4", tmp_path / "box").name for content in (video, other, video, other)]
    assert names == ["a.mp4", "a-2.mp4", "a.mp4", "a-2.mp4"]
    assert sorted(path.name for path in (tmp_path / "box").iterdir()) == ["a-2.mp4", "a.mp4"]


def film(content: bytes) -> bytes:
    """The video as a browser films it: without its length."""
    written = io.BytesIO()
    written.seekable = lambda: False  # type: ignore[method-assign]
    with (
        av.open(io.BytesIO(content), "r") as video,
        av.open(written, "w", format="matroska", options={"live": "1"}) as out,
    ):
        pictures = out.add_stream_from_template(video.streams.video[0])
        for packet in video.demux(video.streams.video[0]):
            if packet.dts is not None:
                packet.stream = pictures
                out.mux(packet)
    return written.getvalue()


def test_a_film_without_its_length_gets_it_and_is_kept_once(tmp_path: Path, video: bytes) -> None:
    filmed = film(video)
    with av.open(io.BytesIO(filmed), "r") as opened:
        assert opened.duration is None
    paths = [store(io.BytesIO(filmed), "a.mkv", tmp_path / "box") for _ in range(2)]
    with av.open(str(paths[0]), "r") as opened:
        assert opened.duration is not None
    assert [path.name for path in paths] == ["a.mkv", "a.mkv"]


def element(name: str, data: bytes | int) -> bytes:
    """An element of Matroska."""
    data = data.to_bytes(4, "big") if isinstance(data, int) else data
    return bytes.fromhex(name) + (2**56 | len(data)).to_bytes(8, "big") + data


def swelling(picture: bytes, count: int) -> bytes:
    """A film without its length whose pictures take six bytes each: all begin alike, and that is packed once."""
    start = element("5034", element("4254", 3) + element("4255", picture))
    packed = element("6d80", element("6240", element("5031", 0) + element("5032", 1) + element("5033", 0) + start))
    look = element("e0", element("b0", 64) + element("ba", 48)) + packed
    track = element("ae", element("d7", 1) + element("73c5", 1) + element("83", 1) + element("86", b"V_MJPEG") + look)
    blocks = b"".join(b"\xa3\x84\x81" + at.to_bytes(2, "big") + b"\x80" for at in range(count))
    head = element("1549a966", element("2ad7b1", 10**6)) + element("1654ae6b", track)
    body = element("18538067", head + element("1f43b675", element("e7", 0) + blocks))
    return element("1a45dfa3", element("4282", b"matroska")) + body


def test_pictures_that_are_too_large_are_refused(tmp_path: Path) -> None:
    picture = bytearray(cv2.imencode(".jpg", np.zeros((48, 64, 3), np.uint8))[1].tobytes())
    begin = picture.index(b"\xff\xc0") + 5
    picture[begin : begin + 4] = (9_000).to_bytes(2, "big") * 2
    with pytest.raises(InputError, match="damaged or no video"):
        store(io.BytesIO(swelling(bytes(picture), 1)), "a.mkv", tmp_path / "box")
    assert list((tmp_path / "box").iterdir()) == []


@pytest.mark.parametrize("kind", ["table", "fragment", "pictures"])
def test_a_film_that_fills_memory_when_it_is_opened_is_opened_apart_and_refused(
    tmp_path: Path, video: bytes, kind: str
) -> None:
    """2 kB of MP4 took 4.7 GB, and 2 kB of MPEG-PS 1.2 GB: it is decoded before our limit of pixels is heard."""
    made = {
        "table": lambda: with_huge_table(video),
        "fragment": lambda: with_huge_fragment(fragmented(tmp_path / "made.mp4")),
        "pictures": lambda: with_huge_pictures(tmp_path / "made.mpg"),
    }
    film = tmp_path / "film"
    film.write_bytes(made[kind]())
    said, grown_mb = open_measured(film)
    assert re.fullmatch(r"a film (is damaged|holds no picture|takes too much memory)[^.]*\.", said)
    assert grown_mb < 100
    assert list((tmp_path / "box").iterdir()) == []


def test_a_film_that_takes_too_long_to_read_is_given_up(
    tmp_path: Path, video: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknown_film, "LONGEST_S", 0.01)
    with pytest.raises(InputError, match=r"a\.mp4 takes more than 0\.01 s to read"):
        store(io.BytesIO(video), "a.mp4", tmp_path / "box")
    assert list((tmp_path / "box").iterdir()) == []


def test_a_film_that_swells_when_it_gets_its_length_is_refused(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (120, 160, 3), np.uint8)
    filmed = swelling(cv2.imencode(".jpg", noise)[1].tobytes(), 400)
    with av.open(io.BytesIO(filmed), "r") as opened:
        assert opened.duration is None
        assert sum(packet.size for packet in opened.demux(video=0)) > 50 * len(filmed)
    with pytest.raises(InputError, match="swells when its length"):
        store(io.BytesIO(filmed), "a.mkv", tmp_path / "box")
    assert list((tmp_path / "box").iterdir()) == []


def test_a_link_in_the_way_is_not_followed(tmp_path: Path, video: bytes) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "secret").write_text("keep me")
    (tmp_path / "box" / "a.mp4").symlink_to(tmp_path / "secret")
    assert store(io.BytesIO(video), "a.mp4", tmp_path / "box").name == "a-2.mp4"
    assert (tmp_path / "secret").read_text() == "keep me"


def test_a_folder_that_leads_elsewhere_is_refused(tmp_path: Path, video: bytes) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "box").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="is a link"):
        store(io.BytesIO(video), "a.mp4", tmp_path / "box")
    assert list((tmp_path / "elsewhere").iterdir()) == []


class Huge(io.BytesIO):
    """Says that it holds 2 GB; reading it fails the test."""

    def seek(self, offset: int, whence: int = 0) -> int:
        return 2 * 2**30 if whence == 2 else super().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        pytest.fail("it was read")


def test_two_gigabytes_are_refused_unread(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has 2\.0 GB, a browser may send at most 1 GB: .* the folder instead\.$"):
        store(Huge(), "long.mp4", tmp_path)


def test_a_full_disk_is_said_before_writing(tmp_path: Path, video: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "SPARE_BYTES", 2**60)
    with pytest.raises(OutputError, match="make room first"):
        store(io.BytesIO(video), "a.mp4", tmp_path / "box")


@given(st.text())
@settings(derandomize=True, deadline=None)
@example("live")
@example(".live")
def test_a_clean_name_stays_in_its_folder(text: str) -> None:
    name = clean_name(text, "x")
    assert name == Path(name).name
    assert name not in ("", ".", "..")
    assert not name.startswith((".", "-"))
    assert len(name) <= uploads.LONGEST_NAME
    assert not set(name) & set("/\\\x00<>\"'&\n")
    assert clean_name(name, "x") == name
    assert name != DROPPED  # videos dropped on the Live page lie among the procedures' folders


@given(st.binary(max_size=600))
@settings(derandomize=True, deadline=None)
def test_any_beginning_is_recognised_or_not(head: bytes) -> None:
    found = recognise(head)
    assert found is None or f"{found.suffix[1:]}" in uploads.SUFFIXES
