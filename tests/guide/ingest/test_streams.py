"""Addresses that are never shown whole, and streams that are none."""

from __future__ import annotations

import base64
import itertools
import logging
import re
import socket
import threading
import traceback
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.ingest.base import SourceLostError
from guide.ingest.rtsp_relay import RtspRelay
from guide.ingest.source import open_source
from guide.ingest.streams import NetworkStream, is_address, redacted, require_address
from tests.fake_camera import noisy
from tests.hostile_films import open_measured, with_huge_table
from tests.stream_server import Stream, behind_tls, mjpeg, mpegts, rtsp_answering, rtsp_serving, serving
from tests.synth import grey_levels, steady, write_video

SECRET = "{}://user:secret@127.0.0.1:9/x?token=hidden"
letters = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789%.:/@!$-_~", min_size=6)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("rtsp://10.0.0.7/live", "rtsp://10.0.0.7/live"),
        ("rtsp://user@10.0.0.7:554/live", "rtsp://***@10.0.0.7:554/live"),
        ("http://user:se/cr@et@host/a/b?x=1&token=2&flag", "http://***@host/a/b?x=***&token=***&flag=***"),
        ("http://host?key=abc", "http://host?key=***"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
    ],
)
def test_what_is_shown_of_an_address(address: str, told: str) -> None:
    assert redacted(address) == told


@given(letters, letters)
@settings(derandomize=True, deadline=None)
def test_no_password_and_no_query_value_is_shown(password: str, value: str) -> None:
    password, value = f"<{password}>", f"<{value}>"
    told = redacted(f"rtsp://user:{password}@10.0.0.7/live?token={value}")
    assert password not in told
    assert value not in told
    assert "user" not in told


@pytest.mark.parametrize("text", ["rtsp:///x", "http://", "ftp://host/x", "file:///etc/passwd", "http://[bad/x"])
def test_addresses_that_cannot_be_opened_are_refused(text: str) -> None:
    assert is_address(text)
    with pytest.raises(InputError):
        require_address(text)


@pytest.mark.parametrize("scheme", ["rtsp", "http"])
def test_a_password_is_in_no_message_log_or_traceback(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(InputError) as refused:
        list(open_source(SECRET.format(scheme)))  # not written out here: a traceback quotes this line
    told = "".join(traceback.format_exception(refused.value)) + caplog.text
    assert f"{scheme}://***@127.0.0.1:9/x?token=*** cannot be used" in told
    assert "secret" not in told
    assert "hidden" not in told


def test_the_password_still_reaches_the_server() -> None:
    stream = mjpeg(noisy(10), stays_up=True, needs_login=True)
    with serving(stream) as address:
        source = open_source(address.replace("//", "//user:secret@"))
        assert len(list(itertools.islice(source, 2))) == 2
        source.close()
    assert f"Basic {base64.b64encode(b'user:secret').decode()}" in stream.asked


NO_STREAM = "nothing comes from there that is RTSP, MJPEG or MPEG-TS"


@pytest.mark.parametrize("times", [40, 400_000])
def test_a_page_is_no_stream(times: int) -> None:
    page = Stream("text/html", [b"<html>no camera here</html>" * times], stays_up=True)
    with serving(page) as address, pytest.raises(SourceLostError, match=NO_STREAM):
        NetworkStream(address, 1.0)


def test_a_camera_may_make_up_a_length_for_its_pictures() -> None:
    with serving(mjpeg(noisy(10), stays_up=True, headers={"Content-Length": "999999999"})) as address:
        stream = NetworkStream(address, 1.0)
        assert stream.read() is not None
        stream.close()


def test_a_camera_that_sends_over_udp_only_is_told_of() -> None:
    media = b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"

    def answer(asked: str, number: str) -> list[bytes]:
        if asked == "SETUP":
            return [f"RTSP/1.0 461 Unsupported Transport\r\nCSeq: {number}\r\n\r\n".encode()]
        told = media if asked == "DESCRIBE" else b""
        kind = f"Content-Type: application/sdp\r\nContent-Length: {len(told)}\r\n"
        return [f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\n{kind}\r\n".encode() + told]

    with rtsp_answering(answer) as (address, _), pytest.raises(SourceLostError, match="over UDP only"):
        NetworkStream(address, 5.0)


def test_a_playlist_is_refused_and_nobody_is_asked_for_what_it_lists() -> None:
    listed = mpegts(noisy(10), stays_up=True)
    with serving(listed) as place:
        playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{place}\n#EXT-X-ENDLIST\n".encode()
        page = Stream("application/vnd.apple.mpegurl", [playlist], stays_up=True)
        with serving(page) as address, pytest.raises(SourceLostError, match=NO_STREAM):
            NetworkStream(address, 1.0)
    assert page.asked
    assert not listed.asked


@pytest.mark.parametrize(("suffix", "says_length"), [("mp4", True), ("mkv", False), ("ts", True)])
def test_a_recording_behind_an_address_is_refused(tmp_path: Path, suffix: str, says_length: bool) -> None:
    data = write_video(tmp_path / f"a.{suffix}", noisy(20), steady(20, 10)).read_bytes()
    headers = {"Content-Length": str(len(data))} if says_length else {}
    page = Stream("application/octet-stream", [data], stays_up=True, headers=headers)
    with serving(page) as address, pytest.raises((InputError, SourceLostError)) as refused:
        NetworkStream(address, 1.0)
    assert re.search("give the file|the file itself", getattr(refused.value, "todo", str(refused.value)))


def test_a_recording_behind_an_address_that_claims_millions_of_pictures_is_not_read(tmp_path: Path) -> None:
    data = with_huge_table(write_video(tmp_path / "a.mp4", grey_levels(8), steady(8, 5)).read_bytes())
    film = Stream("video/mp4", [data], stays_up=True, headers={"Content-Length": str(len(data))})
    with serving(film) as address:
        said, grown_mb = open_measured(address)
    assert said == NO_STREAM
    assert grown_mb < 100


def test_a_stream_of_pictures_that_are_too_large_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guide.MOST_PIXELS", 64 * 48 - 1)
    for stream in (mjpeg(noisy(3), stays_up=True), mpegts(noisy(10), stays_up=True)):
        with serving(stream) as address, suppress(SourceLostError):
            opened = NetworkStream(address, 1.0)
            try:
                assert {opened.read() for _ in range(20)} == {None}
            finally:
                opened.close()


def test_a_picture_the_decoder_calls_corrupt_is_left_out() -> None:
    stream = object.__new__(NetworkStream)
    assert stream._shot(SimpleNamespace(is_corrupt=True)) is None


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guide.ingest.streams.OPEN_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf, pytest.raises(SourceLostError, match="nothing came in time"):
        NetworkStream(f"http://127.0.0.1:{deaf.getsockname()[1]}/x", 1.0)


def test_a_missing_path_says_what_the_server_said() -> None:
    stream = mjpeg(noisy(3))
    with serving(stream) as address:
        stream.is_up.clear()
        with pytest.raises(SourceLostError, match=r"503|5XX|Server"):
            NetworkStream(address, 1.0)


def test_a_stream_is_opened_on_the_machine_that_was_looked_up() -> None:
    """The name means nothing here, so nobody can have looked it up again."""
    with serving(mjpeg(noisy(40), stays_up=True)) as address:
        port = address.rpartition(":")[2].partition("/")[0]
        stream = NetworkStream(f"http://camera.invalid:{port}/", 5.0, machine="127.0.0.1")
        assert stream.read() is not None
        stream.close()


def test_a_redirection_from_a_machine_that_was_looked_up_is_not_followed() -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    with (
        serving(mjpeg(noisy(40), stays_up=True)) as target,
        ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            NetworkStream(f"http://127.0.0.1:{server.server_port}/", 5.0).close()  # an administrator's is
            with pytest.raises(SourceLostError, match=NO_STREAM):
                NetworkStream(f"http://camera.invalid:{server.server_port}/", 5.0, machine="127.0.0.1")
        finally:
            server.shutdown()


@pytest.mark.parametrize("method", ["OPTIONS", "DESCRIBE"])
@pytest.mark.parametrize(
    ("head", "cut_at"),
    [
        ("Location: {}", 0),
        ("LOCATION:{}", 0),
        ("Loca\rtion: {}", 0),
        ("$\x00\x00\x01xLocation: {}", 0),
        ("Location: {}", 4),
    ],
)
def test_a_redirection_of_an_rtsp_server_that_was_looked_up_is_not_followed(
    method: str, head: str, cut_at: int
) -> None:
    def refuse(_: str, number: str) -> list[bytes]:
        return [f"RTSP/1.0 404 Not Found\r\nCSeq: {number}\r\n\r\n".encode()]

    def redirect(asked: str, number: str) -> list[bytes]:
        if asked != method:
            return [f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\nPublic: DESCRIBE, SETUP, PLAY\r\n\r\n".encode()]
        first = f"RTSP/1.0 302 Found\r\nCSeq: {number}\r\n{head[:cut_at]}"
        return [first.encode(), f"{head[cut_at:].format(target)}\r\n\r\n".encode()]

    with rtsp_answering(refuse) as (target, reached), rtsp_answering(redirect) as (address, _):
        with pytest.raises(SourceLostError, match="404"):
            NetworkStream(address, 5.0)
        assert "OPTIONS" in reached  # an administrator's is followed: this is what is to be held back
        reached.clear()
        with pytest.raises(SourceLostError, match="points to another place"):
            NetworkStream(address.replace("127.0.0.1", "camera.invalid"), 5.0, machine="127.0.0.1")
        assert reached == []


@pytest.mark.parametrize("is_secret", [False, True])
def test_an_rtsp_stream_of_a_machine_that_was_looked_up_comes_by_way_of_the_relay(
    tmp_path: Path, is_secret: bool
) -> None:
    video = write_video(tmp_path / "a.mp4", noisy(40), steady(40, 10))
    with ExitStack() as held:
        address = held.enter_context(rtsp_serving(video))
        if is_secret:
            address = held.enter_context(behind_tls(address, tmp_path))
        threads = threading.active_count()
        stream = NetworkStream(address.replace("127.0.0.1", "camera.invalid"), 5.0, machine="127.0.0.1")
        shot = stream.read()
        assert shot is not None
        assert shot.picture().shape == noisy(1)[0].shape
        stream.close()
        assert threading.active_count() <= threads + is_secret  # the test's own end of TLS


def test_a_relay_that_nobody_came_to_hangs_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as camera:
        relay = RtspRelay(f"rtsp://camera.invalid:{camera.getsockname()[1]}/x", "127.0.0.1", 5.0)
        server, _ = camera.accept()
        relay.close()
        assert relay._server.fileno() == relay._listener.fileno() == -1
        with server:
            assert server.recv(1) == b""


def test_a_machine_that_answers_nobody_is_lost() -> None:
    with pytest.raises(SourceLostError, match="Connection refused"):
        NetworkStream("rtsp://camera.invalid:9/x", 5.0, machine="127.0.0.1")
