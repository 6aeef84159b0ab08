"""Servers that stream pictures as cameras do, and fail as they do: HTTP here, RTSP by GStreamer in its own process."""

from __future__ import annotations

import io
import os
import selectors
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from socketserver import BaseRequestHandler, StreamRequestHandler, ThreadingTCPServer
from typing import Any, cast
from urllib.parse import urlsplit

import av
import cv2
import pytest

from guide.domain import Image
from guide.serve.tls import own_certificate

BOUNDARY = "picture"
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's GStreamer bindings are for Debian's Python
RTSP_SERVER = Path(__file__).parent / "rtsp_server.py"


@dataclass
class Stream:
    """What is sent: a content type and one piece of bytes for each frame, `rate` a second.

    While `is_up` is cleared every connection is cut and new ones are refused; unless it `stays_up`, the server clears
    it when everything was sent. With `is_stuck` the connection then stays open and silent. `asked` are the
    Authorization headers that came. After the piece `cut_after` it goes down once, for `cut_s`.
    """

    content_type: str
    pieces: Sequence[bytes]
    rate: float = 50.0
    stays_up: bool = False
    is_stuck: bool = False
    needs_login: bool = False
    cut_after: int | None = None
    cut_s: float = 0.4
    headers: dict[str, str] = field(default_factory=dict)
    is_up: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)


def mjpeg(images: Sequence[Image], **more: Any) -> Stream:
    """MJPEG, as webcams and phones send it."""
    return mjpeg_parts([jpeg(image) for image in images], **more)


def mjpeg_parts(parts: Sequence[bytes], **more: Any) -> Stream:
    """The same from pictures that are already encoded, or are none."""
    head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: "
    pieces = [head.encode() + f"{len(part)}\r\n\r\n".encode() + part + b"\r\n" for part in parts]
    return Stream(f"multipart/x-mixed-replace; boundary={BOUNDARY}", pieces, **more)


def jpeg(image: Image) -> bytes:
    is_encoded, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    assert is_encoded
    return data.tobytes()


def mpegts(images: Sequence[Image], rate: float = 50.0, **more: Any) -> Stream:
    """H.264 in MPEG-TS: every fifth frame a key frame, no frame held back."""
    return Stream("video/mp2t", _transport_pieces(images, rate), rate, **more)


def _transport_pieces(images: Sequence[Image], rate: float) -> list[bytes]:
    """The bytes of the container after each frame; the last piece ends it."""
    buffer, pieces = io.BytesIO(), []
    with av.open(buffer, "w", format="mpegts", options={"flush_packets": "1", "pes_payload_size": "0"}) as container:
        stream: Any = container.add_stream("libx264", rate=Fraction(rate))
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "10", "g": "5"}
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            pieces.append(_drain(buffer))
        container.mux(stream.encode())
    return [*pieces, _drain(buffer)]


def _drain(buffer: io.BytesIO) -> bytes:
    data = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return data


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        stream = self.server.stream
        stream.asked.append(self.headers.get("Authorization", ""))
        if not stream.is_up.is_set():
            self.send_error(503)
            return
        if stream.needs_login and not stream.asked[-1]:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="camera"')
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", stream.content_type)
        for name, value in stream.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self._send(stream)
        except OSError:  # the client went away
            return

    def _send(self, stream: Stream) -> None:
        for number, piece in enumerate(stream.pieces):
            if not stream.is_up.is_set() or self.server.over.wait(1 / stream.rate):
                return
            self.wfile.write(piece)
            if number == stream.cut_after:
                stream.cut_after = None
                stream.is_up.clear()
                threading.Timer(stream.cut_s, stream.is_up.set).start()
        while stream.is_stuck and stream.is_up.is_set() and not self.server.over.wait(0.01):
            pass
        if not stream.stays_up:
            stream.is_up.clear()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stream: Stream) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stream, self.over = stream, threading.Event()


@contextmanager
def serving(stream: Stream) -> Iterator[str]:
    """Serves a stream on a free port of this machine and gives its address."""
    stream.is_up.set()
    server = _Server(stream)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/video"
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def rtsp_answering(answer: Callable[[str, str], Sequence[bytes]]) -> Iterator[tuple[str, list[str]]]:
    """An RTSP server that sends pieces by a request's method and number; gives its address and the methods it heard."""
    heard: list[str] = []

    class Answer(StreamRequestHandler):
        def handle(self) -> None:
            heard.append("connected")
            lines: Iterator[bytes] = iter(self.rfile.readline, b"")
            requests = iter(lambda: list(takewhile(lambda line: line.strip(), lines)), [])
            for request in (b"".join(sent).decode() for sent in requests):
                heard.append(request.split()[0])
                for piece in answer(heard[-1], request.partition("CSeq: ")[2].split()[0]):
                    self.wfile.write(piece)
                    time.sleep(0.02)  # or pieces come as one

    with ThreadingTCPServer(("127.0.0.1", 0), Answer) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"rtsp://127.0.0.1:{server.server_address[1]}/x", heard
        server.shutdown()


@contextmanager
def behind_tls(address: str, folder: Path) -> Iterator[str]:
    """An RTSP server's address by way of TLS, with a certificate that nobody knows."""
    parts = urlsplit(address)
    certificate = own_certificate(folder, ["camera.invalid"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)

    class Unwrap(BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", parts.port or 0)) as plain:
                secret = context.wrap_socket(self.request, server_side=True)
                waiting = selectors.DefaultSelector()
                for one, other in ((plain, secret), (secret, plain)):
                    waiting.register(one, selectors.EVENT_READ, other)
                while True:
                    for key, _ in waiting.select():
                        data = cast(socket.socket, key.fileobj).recv(2**16)
                        if not data:
                            return
                        key.data.sendall(data)

    with ThreadingTCPServer(("127.0.0.1", 0), Unwrap) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield parts._replace(scheme="rtsps", netloc=f"127.0.0.1:{server.server_address[1]}").geturl()
        server.shutdown()


def require_rtsp() -> None:
    """Leaves the test out where Debian's RTSP server is absent; fails where REQUIRE_RTSP=1 asks for it."""
    check = [SYSTEM_PYTHON, "-c", "import gi; gi.require_version('GstRtspServer', '1.0')"]
    try:
        is_there = subprocess.run(check, capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        is_there = False
    if is_there:
        return
    reason = "no RTSP server: install gir1.2-gst-rtsp-server-1.0, python3-gi and gstreamer1.0-plugins-good."
    if os.environ.get("REQUIRE_RTSP") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def rtsp_serving(video: Path, port: str = "0") -> Iterator[str]:
    """GStreamer's RTSP server with an H.264 video in real time; gives its address. Leaving `with` kills it."""
    require_rtsp()
    command = [SYSTEM_PYTHON, str(RTSP_SERVER), str(video), "--port", port]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address, "the RTSP server did not start"
            yield address
        finally:
            server.kill()
