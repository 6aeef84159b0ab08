"""A way to an RTSP server that leads nowhere else: FFmpeg would follow a server's redirection to any machine.

FFmpeg asks the relay, which is connected to the one machine and passes on what that says, until it names another place.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
from urllib.parse import urlsplit

PORTS = {"rtsp": 554, "rtsps": 322}
HERE = "127.0.0.1"
ELSEWHERE = b"location:"  # the header of a redirection, wherever it stands: what is a header is for FFmpeg to say
PIECE = 2**16


def on_machine(address: str, machine: str, scheme: str = "", port: int | None = None) -> str:
    """The address with the number of a machine in place of its name, and perhaps another scheme and port.

    >>> on_machine("http://user:secret@camera.example:81/video?x=1", "203.0.113.7")
    'http://user:secret@203.0.113.7:81/video?x=1'
    """
    parts = urlsplit(address)
    login, at, _ = parts.netloc.rpartition("@")
    port = parts.port if port is None else port
    shown = f"[{machine}]" if ":" in machine else machine
    place = shown if port is None else f"{shown}:{port}"
    return parts._replace(scheme=scheme or parts.scheme, netloc=f"{login}{at}{place}").geturl()


class RtspRelay:
    """Passes on what one client, which asks at `address`, and the server of a machine say to each other.

    `has_cut` says whether it stopped because the server named another place.
    """

    def __init__(self, address: str, machine: str, timeout_s: float) -> None:
        """Connects to the server; raises OSError where that cannot be done in time. Certificates are not checked."""
        parts = urlsplit(address)
        self.has_cut = False
        self._server = socket.create_connection((machine, parts.port or PORTS[parts.scheme.lower()]), timeout_s)
        try:
            if parts.scheme.lower() == "rtsps":
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # cameras sign theirs themselves
                self._server = context.wrap_socket(self._server, server_hostname=parts.hostname)
            self._server.settimeout(None)
            self._listener = socket.create_server((HERE, 0), backlog=1)
        except BaseException:
            self._server.close()
            raise
        self.address = on_machine(address, HERE, "rtsp", self._listener.getsockname()[1])
        self._listener.settimeout(timeout_s)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends both connections."""
        for each in (self._server, self._listener):
            _hang_up(each)
        self._thread.join(1.0)

    def _run(self) -> None:
        with contextlib.suppress(OSError), self._server:
            with self._listener:  # nobody may come, or it is closed
                client, _ = self._listener.accept()
            with client:
                self._pass_on(client)

    def _pass_on(self, client: socket.socket) -> None:
        """Until one of them hangs up, or the server names another place."""
        said = b""
        with selectors.DefaultSelector() as waiting:
            for each in (client, self._server):
                waiting.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in waiting.select():
                    is_said = key.fileobj is self._server
                    data = self._hear() if is_said else client.recv(PIECE)
                    if data is None:
                        continue
                    if is_said:
                        said = said[1 - len(ELSEWHERE) :] + data.replace(b"\r", b"").lower()  # FFmpeg drops them too
                        self.has_cut = ELSEWHERE in said
                    if not data or self.has_cut:
                        return
                    (client if is_said else self._server).sendall(data)

    def _hear(self) -> bytes | None:
        """What the server says; nothing where it was a word between the two ends of TLS."""
        self._server.setblocking(False)
        try:
            return self._server.recv(PIECE)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        finally:
            self._server.setblocking(True)


def _hang_up(connection: socket.socket) -> None:
    """Wakes whoever waits for the other side."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
