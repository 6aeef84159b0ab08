"""`python -m guide serve`: headsets and phones send frames and get guidance; dashboards start and follow sessions."""

from __future__ import annotations

import io
import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import segno
import uvicorn
from rich.console import Console

from guide.errors import InputError
from guide.ingest.capture import CaptureSettings
from guide.record.store import Store
from guide.serve.app import make_app
from guide.serve.library import Library
from guide.serve.metrics import Metrics
from guide.serve.options import ServeOptions
from guide.serve.runs import Runs
from guide.serve.tls import Certificate, address_on_the_network, own_certificate
from guide.session import Session

TOKEN_VARIABLE = "CNC_TOKEN"
SHORTEST_TOKEN = 16
EVERYWHERE = ("0.0.0.0", "::")
SEND_BUFFER_BYTES = 128 * 1024
LEAVE_S = 5  # how long open connections may take to end


def main(options: ServeOptions) -> None:
    """Runs the command until Ctrl-C or SIGTERM, which end all sessions properly."""
    console = Console(highlight=False)
    with serving(options) as (server, sock, address):
        console.print(*_greeting(options, address), sep="\n", markup=False, emoji=False, soft_wrap=True)
        with _ending_quietly():
            server.run(sockets=[sock])
    console.print("Stopped; all sessions were ended.", markup=False)


@contextmanager
def serving(options: ServeOptions) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """A server ready to run, the socket it listens on, and the address of its page, token included."""
    metrics = Metrics()
    library = Library(options.bundle, metrics, options.device, options.live.precision, options.threads)
    Session(*library.open(), options.live)  # a bundle that cannot be used is told before anybody connects
    if options.recording.record:
        with Store(options.recording.data) as store:
            store.close_orphans()  # of a server that was killed
    capture = CaptureSettings(give_up_s=options.give_up_s)
    limits, token = options.limits, choose_token(options.token)
    runs = Runs(library, options.live, options.recording, metrics, limits.most_sessions, capture)
    certificate = _certificate(options)
    app = make_app(runs, token, limits, certificate is not None)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False, proxy_headers=False,
        ws="websockets-sansio", ws_max_size=limits.picture.most_bytes + 8, ws_per_message_deflate=False,
        limit_concurrency=1_000, timeout_keep_alive=15, timeout_graceful_shutdown=LEAVE_S,
        h11_max_incomplete_event_size=16_384, http="h11",
        ssl_certfile=None if certificate is None else str(certificate.certificate),
        ssl_keyfile=None if certificate is None else str(certificate.key),
    )  # fmt: skip
    with _listen(options.host, options.port) as sock:
        try:
            yield uvicorn.Server(config), sock, _address(options, certificate, sock, token)
        finally:
            runs.close()
            library.close()


def choose_token(given: str | None) -> str:
    """The token that was given, else that of the environment, else a new one.

    >>> choose_token("short")
    Traceback (most recent call last):
    ...
    guide.errors.InputError: a token of 16 to 200 letters, digits, - and _ was expected, this one is not: leave it out.
    """
    token = given or os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
    is_plain = token.isascii() and all(letter.isalnum() or letter in "-_" for letter in token)
    if not is_plain or not SHORTEST_TOKEN <= len(token) <= 200:
        raise InputError(
            f"a token of {SHORTEST_TOKEN} to 200 letters, digits, - and _ was expected, this one is not: leave it out."
        )
    return token


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family, backlog=512)
        # Connections inherit it: what lies in the system's buffers is old before a slow client reads it.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        return sock
    except (OSError, UnicodeError) as cause:
        words = getattr(cause, "strerror", None) or cause
        raise InputError(
            f"nothing can listen on {host} port {port} ({words}): choose another --port or --host."
        ) from cause


def _certificate(options: ServeOptions) -> Certificate | None:
    if options.certificate is not None and options.key is not None:
        return Certificate(options.certificate, options.key)
    if options.tls == "off":
        return None
    names = {"localhost", "127.0.0.1", address_on_the_network(), *({options.host} - set(EVERYWHERE))}
    return own_certificate(options.recording.data / "tls", names)


def _address(options: ServeOptions, certificate: Certificate | None, sock: socket.socket, token: str) -> str:
    host = address_on_the_network() if options.host in EVERYWHERE else options.host
    scheme = "http" if certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{sock.getsockname()[1]}/?token={token}"


def _greeting(options: ServeOptions, address: str) -> Iterator[str]:
    yield f"Serving {options.bundle}: open {address}"
    is_secure = address.startswith("https")
    if is_secure:
        yield qr(address)
        yield "The certificate is our own: the browser asks once whether to trust it."
    if options.host not in EVERYWHERE and options.host in ("127.0.0.1", "localhost", "::1"):
        yield "Only this machine can connect: --host 0.0.0.0 --tls auto lets phones and headsets in."
    elif not is_secure:
        yield "Browsers give no camera to an address without HTTPS: add --tls auto."
    kept = options.recording
    if kept.record:
        days = f"pictures for {kept.keep_days:g} days" if kept.keep_days else "pictures for good"
        what = days if kept.pictures else "no pictures"
        yield f"Sessions are kept in {kept.data} ({what}); --no-record keeps none."
    yield "Ctrl-C ends all sessions properly."


def qr(text: str) -> str:
    """A QR code to be printed in a terminal, two squares a letter.

    >>> len(qr("https://192.0.2.7:8765/").splitlines()) > 10
    True
    """
    drawn = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(drawn, compact=True, border=2)
    return drawn.getvalue().rstrip("\n")


@contextmanager
def _ending_quietly() -> Iterator[None]:
    """Within it Ctrl-C and SIGTERM end the server and nothing else: it raises them once more when it is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
