"""`python -m guide serve`: headsets and phones send frames and get guidance; dashboards start and follow sessions."""

from __future__ import annotations

import asyncio
import copy
import errno
import io
import json
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import segno
import uvicorn
from rich.console import Console
from starlette.types import ASGIApp

from guide.bundle import read_bundle
from guide.errors import InputError, OutputError
from guide.fleet.gateway import make_gateway
from guide.fleet.logs import log_as_json
from guide.fleet.replicas import Replicas
from guide.ingest.capture import CaptureSettings
from guide.record.keeping import read_keeping
from guide.record.lock import SessionLock, is_alive
from guide.record.retention import tidying
from guide.record.shipping import shipping
from guide.record.store import Store
from guide.serve.app import make_app
from guide.serve.connections import BoundedProtocol, Connections
from guide.serve.library import Library
from guide.serve.memory import share_pools
from guide.serve.metrics import Metrics
from guide.serve.options import ServeOptions
from guide.serve.runs import Runs
from guide.serve.tls import Certificate, address_on_the_network, own_certificate, require_certificate, write_private
from guide.serve.tokens import FILE, Tokens, camera_token
from guide.session import Session

TOKEN_VARIABLE = "CNC_TOKEN"
SHORTEST_TOKEN = 16
EVERYWHERE = ("0.0.0.0", "::")
SEND_BUFFER_BYTES = 128 * 1024
DEAF_S = 30.0  # who takes nothing of what is sent for so long is cut off by the system, gone or not
LEAVE_S = 5  # how long open connections may take to end


class _Beside(uvicorn.Server):
    """Ends when it is told to: Ctrl-C is heard by the server beside it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listeners(uvicorn.Server):
    """A server that may listen twice: as it was told, and on this machine alone without TLS. One ends with the other.

    >>> async def app(scope, receive, send): ...
    >>> Listeners(uvicorn.Config(app)).beside is None
    True
    """

    beside: tuple[uvicorn.Server, socket.socket] | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        if self.beside is None:
            await super().serve(sockets)
            return
        second, sock = self.beside
        running = asyncio.create_task(second.serve([sock]))
        try:
            await super().serve(sockets)
        finally:
            second.should_exit = True
            await running


def main(options: ServeOptions) -> None:
    """Runs the command until Ctrl-C or SIGTERM, which end all sessions properly."""
    console = Console(highlight=False)
    with (serving_fleet if options.fleet else serving)(options) as (server, sock, address):
        console.print(*_greeting(options, address), sep="\n", markup=False, emoji=False, soft_wrap=True)
        if options.end_with_input:
            threading.Thread(target=_end_with_input, args=(server,), name="input", daemon=True).start()
        with _ending_quietly():
            server.run(sockets=[sock])
    console.print("Stopped; all sessions were ended.", markup=False)


@contextmanager
def serving(options: ServeOptions) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """A server ready to run, the socket it listens on, and the address of its page, with a token for cameras."""
    share_pools()
    metrics = Metrics()
    library = Library(options.bundle, metrics, options.device, options.live.precision, options.threads)
    bundle, networks = library.open()
    Session(bundle, networks, options.live)  # a bundle that cannot be used is told before anybody connects
    library.release(networks)
    capture = CaptureSettings(give_up_s=options.give_up_s)
    limits, token = options.limits, choose_token(options.token)
    runs = Runs(library, options.live, options.recording, metrics, limits.most_sessions, capture)
    certificate = choose_certificate(options)
    connections = Connections(limits.most_strangers)
    app = make_app(runs, Tokens(token, options.recording.data / FILE), limits, certificate is not None, connections)
    with ExitStack() as held:
        if options.recording.record:
            kept = options.recording
            held.enter_context(tidying(kept.data, kept.keep_gb * 1e9, kept.records))
            runs.shipper = held.enter_context(shipping(kept.data, kept.records, kept.keep_gb * 1e9))
        held.callback(library.close)
        held.callback(runs.close)
        yield held.enter_context(listening(app, options, token, certificate, connections))


@contextmanager
def listening(
    app: ASGIApp, options: ServeOptions, token: str, certificate: Certificate | None, connections: Connections
) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """A server of an application, ready to run, the socket it listens on, and the address of its page."""
    config = uvicorn.Config(
        app, loop="asyncio", log_level="warning", access_log=False, server_header=False, date_header=False,
        proxy_headers=False,
        ws=BoundedProtocol, ws_max_size=options.limits.picture.most_bytes + 8, ws_per_message_deflate=False,
        limit_concurrency=1_000, timeout_keep_alive=15, timeout_graceful_shutdown=LEAVE_S,
        h11_max_incomplete_event_size=16_384, http="h11", callback_notify=connections.close_silent, timeout_notify=1,
        ssl_certfile=None if certificate is None else str(certificate.certificate),
        ssl_keyfile=None if certificate is None else str(certificate.key),
    )  # fmt: skip
    server = Listeners(config)
    with ExitStack() as held:
        sock = held.enter_context(connections.listen(_listen(options.host, options.port)))
        inside = sock
        if options.local and certificate is not None:
            inside = held.enter_context(connections.listen(_listen("127.0.0.1", 0)))
            server.beside = _Beside(_without_tls(config)), inside
        held.enter_context(address_file(options, certificate is not None, (sock, inside), token))
        yield server, sock, _address(options, certificate, sock, token)


@contextmanager
def serving_fleet(options: ServeOptions) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """The same for a fleet: replicas on a Ray cluster, each of them such a server, behind one address."""
    if options.scale.ray is None:
        # Whoever reaches a Ray runs any code: nobody else knows the secret of ours, and it keeps to this machine as
        # Ray does by itself on the systems that the last variable names.
        secret = secrets.token_hex(32)
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secret, RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
    from guide.fleet.cluster import Cluster  # few need Ray, which takes a while to load and then reads its secret

    token, certificate = choose_token(options.token), choose_certificate(options)
    read_bundle(options.bundle)  # what would end every replica is told at once
    if options.recording.records is not None:
        Store(options.recording.data, records=options.recording.records).close()
    connections = Connections(options.limits.most_strangers)
    # Inside the cluster's network replicas speak without TLS, at the same place on every machine.
    kept = replace(options.recording, data=options.recording.data.absolute(), is_fleet=True)
    threads = options.threads or 1
    inside = replace(
        options, bundle=options.bundle.absolute(), port=0, token=token, tls="off", certificate=None, key=None,
        local=False, note=None, end_with_input=False, threads=threads, recording=kept,
    )  # fmt: skip
    log_as_json("gateway")
    cluster = Cluster(options.scale.ray, inside, serving)
    replicas = Replicas(cluster, token, options.scale, options.limits.most_clients)
    tokens = Tokens(token, kept.data / FILE)
    app = make_gateway(replicas, tokens, options.limits, connections)
    # The port first: a second gateway that finds it taken must not end the replicas of the first.
    with listening(app, options, token, certificate, connections) as found, cluster:
        yield found


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


def _without_tls(config: uvicorn.Config) -> uvicorn.Config:
    plain = copy.copy(config)
    plain.ssl_certfile = plain.ssl_keyfile = None
    plain.lifespan = "off"  # the application begins and ends once
    return plain


@contextmanager
def address_file(
    options: ServeOptions, is_secure: bool, socks: tuple[socket.socket, socket.socket], token: str
) -> Iterator[None]:
    """Within it the file asked for says where the server listens, and is locked; its owner alone may read it."""
    if options.note is None:
        yield
        return
    outside, inside = (sock.getsockname()[1] for sock in socks)
    where = {"port": outside, "local_port": inside, "host": options.host, "is_secure": is_secure}
    told = json.dumps({**where, "token": token, "pid": os.getpid(), "bundle": str(options.bundle)})
    note = options.note
    if is_alive(note.parent, note.name):
        raise InputError(f"a server that runs already holds {note}: end that one, or give another --note.")
    try:
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(note, told.encode())
        lock = SessionLock(note.parent, note.name)  # as long as it is held, the server lives
    except OSError as cause:
        raise OutputError(f"{note} cannot be written ({cause.strerror}): give another --note.") from cause
    try:
        yield
    finally:
        if note.is_file() and note.read_text(encoding="utf-8") == told:  # not a later server's
            note.unlink(missing_ok=True)
        lock.release()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family, backlog=512)
        # Connections inherit it: what lies in the system's buffers is old before a slow client reads it.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; closing a connection waits for what is still to be sent
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * DEAF_S))
        return sock
    except (OSError, UnicodeError) as cause:
        number = getattr(cause, "errno", None) or 0  # its own words repeat the address
        if number == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken, perhaps by a guide that runs already: end that one, or choose "
                f"another, such as --port {port + 1}, or --port 0 for any that is free."
            ) from cause
        words = os.strerror(number) if number > 0 else getattr(cause, "strerror", None) or cause
        raise InputError(
            f"nothing can listen on {host} port {port} ({words}): choose another --port or --host."
        ) from cause


def choose_certificate(options: ServeOptions) -> Certificate | None:
    """The certificate that was given, else one of our own where TLS is wanted."""
    if options.certificate is not None and options.key is not None:
        return require_certificate(Certificate(options.certificate, options.key))
    if options.tls == "off":
        return None
    names = {"localhost", "127.0.0.1", address_on_the_network(), *({options.host} - set(EVERYWHERE))}
    return own_certificate(options.recording.data / "tls", names)


def _address(options: ServeOptions, certificate: Certificate | None, sock: socket.socket, token: str) -> str:
    host = address_on_the_network() if options.host in EVERYWHERE else options.host
    scheme = "http" if certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{sock.getsockname()[1]}/?token={camera_token(token)}"


def _greeting(options: ServeOptions, address: str) -> Iterator[str]:
    yield f"Serving {options.bundle}: open {address}"
    is_secure = address.startswith("https")
    if is_secure:
        yield qr_code(address)
        if options.certificate is None:
            yield "The certificate is our own: the browser asks once whether to trust it."
    if options.host not in EVERYWHERE and options.host in ("127.0.0.1", "localhost", "::1"):
        yield "Only this machine can connect: --host 0.0.0.0 --tls auto lets phones and headsets in."
    elif not is_secure:
        yield "Browsers give no camera to an address without HTTPS: add --tls auto."
    kept = options.recording.heeding(read_keeping(options.recording.data))
    if kept.record:
        days = f"pictures for {kept.keep_days:g} days" if kept.keep_days else "pictures for good"
        what = days if kept.pictures else "no pictures"
        where = f"{kept.data} and in PostgreSQL" if kept.records else kept.data
        yield f"Sessions are kept in {where} ({what}); --no-record keeps none."
    yield "This address is for cameras; python -m guide tokens makes tokens to watch, operate and administer."
    yield "Ctrl-C ends all sessions properly."


def qr_code(text: str) -> str:
    """A QR code to be printed in a terminal, two squares a letter.

    >>> len(qr_code("https://192.0.2.7:8765/").splitlines()) > 10
    True
    """
    drawn = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(drawn, compact=True, border=2)
    return drawn.getvalue().rstrip("\n")


def _end_with_input(server: uvicorn.Server) -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    server.should_exit = True


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
