"""The server's addresses: the page, sessions as JSON, pictures, metrics, and the headsets' WebSocket."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from guide import __version__
from guide.errors import GuideError, InputError
from guide.serve.channels import Channels
from guide.serve.connections import Connections
from guide.serve.guard import COOKIE, IDENTITY, FailureDelays, Guard
from guide.serve.limits import Limits
from guide.serve.live_numbers import UpdateWaiter, live_numbers_object
from guide.serve.messages import read_object
from guide.serve.openapi import description
from guide.serve.run import Run
from guide.serve.runs import FullError, Runs, TakenError, read_session_request
from guide.serve.tokens import Tokens, require_reachable
from guide.wire import dump

PAGE = Path(__file__).parent / "page"
FILES = {
    "page.js": "text/javascript",
    "voice.js": "text/javascript",
    "manifest.json": "application/manifest+json",
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
}
MOST_DIGITS = 9
MOST_DISK_READS = 8
STREAM_S = 0.1  # ten pictures a second at most
NUMBERS_S = 1.0  # between two messages with live numbers alone
IDLE_S = 1.5  # live numbers are sent after this long without a frame: they say how old the newest frame is
BEGIN_S = 3.0  # how long a source may take to open before the answer is given without it
STILL_S = 5.0  # a picture is sent again after this long where no new one comes, so that a lost viewer is noticed
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob:; frame-ancestors 'self'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

T = TypeVar("T")


def make_app(
    runs: Runs, tokens: Tokens, limits: Limits | None = None, is_secure: bool = False,
    connections: Connections | None = None,
) -> ASGIApp:  # fmt: skip
    """The application; everything but /health wants a token."""
    limits = limits or Limits()
    delays, connections = FailureDelays(), connections or Connections(limits.most_strangers)
    site = _Site(runs, limits, Channels(runs, tokens, limits, delays, connections), tokens, is_secure)
    routes = [
        Route("/", site.page),
        Route("/page/{name}", site.file),
        Route("/health", site.health),
        Route("/openapi.json", site.description),
        Route("/metrics", site.metrics),
        Route("/bundles", site.bundles),
        Route("/sessions", site.sessions, methods=["GET", "POST"]),
        Route("/sessions/{session}", site.session, methods=["GET", "DELETE"]),
        Route("/sessions/{session}/actions", site.act, methods=["POST"]),
        Route("/sessions/{session}/picture", site.picture),
        Route("/sessions/{session}/stream", site.stream),
        Route("/sessions/{session}/beats", site.live_numbers),
        Route("/sessions/{session}/stills/{step}/{number}", site.still),
        Route("/sessions/{session}/alerts/{alert}/picture", site.snapshot),
        WebSocketRoute("/frames", site.channels.serve),
    ]
    handlers: Any = {
        GuideError: _refused, HTTPException: _http_error, ClientDisconnect: nobody_hears, Exception: _broken,
    }  # fmt: skip
    guard = Middleware(Guard, tokens=tokens, delays=delays, metrics=runs.metrics, connections=connections)
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=site.lifespan)


class _Site:
    """Answers each address. Disks are read in a few threads of their own: one that hangs holds up no frames."""

    def __init__(self, runs: Runs, limits: Limits, channels: Channels, tokens: Tokens, is_secure: bool) -> None:
        self._runs, self._limits, self.channels = runs, limits, channels
        self._tokens, self._is_secure = tokens, is_secure
        self._viewers: Counter[str] = Counter()
        self._disk = CapacityLimiter(MOST_DISK_READS)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(self._runs.close)

    async def page(self, request: Request) -> Response:
        response = FileResponse(PAGE / "index.html", headers=HEADERS | {"Permissions-Policy": "camera=(self)"})
        cookie = self._tokens.cookie(request.scope[IDENTITY].role)
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=self._is_secure)
        return response

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            raise HTTPException(404)
        return FileResponse(PAGE / name, media_type=FILES[name], headers=HEADERS)

    async def description(self, _: Request) -> Response:
        return JSONResponse(description(), headers=HEADERS)

    async def health(self, _: Request) -> Response:
        # Whoever asks may be a stranger: no word of where the records lie.
        return JSONResponse({"status": "ok"} | ({"records": "waiting"} if self._runs.records_trouble() else {}))

    async def bundles(self, _: Request) -> Response:
        library = self._runs.library
        return JSONResponse({"bundles": await self._read(library.names), "default": library.default})

    async def metrics(self, _: Request) -> Response:
        return PlainTextResponse(self._runs.metrics.text(self._gauges()), media_type="text/plain; version=0.0.4")

    async def sessions(self, request: Request) -> Response:
        if request.method == "GET":
            # Not by _read: a gateway takes a server that does not answer this for dead, and no disk is read.
            briefs = await run_in_threadpool(lambda: [_brief(run) for run in self._runs.all()])
            return JSONResponse({"sessions": briefs, "program": __version__})
        wanted = read_session_request(await self._object(request))
        is_trusted = request.scope[IDENTITY].may("admin")
        machine = None if is_trusted else await run_in_threadpool(require_reachable, wanted.source)
        run = await run_in_threadpool(self._runs.start, wanted, machine)
        if wanted.client is None:  # a headset may come much later
            await run_in_threadpool(run.begun.wait, BEGIN_S)
        if run.state == "failed" and not run.processed:
            raise InputError(run.problem)
        return JSONResponse(await self._read(run.show), 201)

    async def session(self, request: Request) -> Response:
        run = self._find(request)
        if request.method == "DELETE":
            run.end(is_cut="cut" in request.query_params)
            await run_in_threadpool(run.join)
        return JSONResponse({**await self._read(run.show), "steps": run.steps})

    async def act(self, request: Request) -> Response:
        run, plain = self._find(request), await self._object(request)
        return JSONResponse(await run_in_threadpool(run.act, plain, request.scope[IDENTITY]), 201)

    async def picture(self, request: Request) -> Response:
        found = await run_in_threadpool(self._find(request).picture)
        if found is None:
            raise HTTPException(404, "no picture has come yet.")
        return Response(found[1], media_type="image/jpeg", headers={"Cache-Control": "no-store"})

    async def stream(self, request: Request) -> Response:
        pictures = self._pictures(self._find(request), has_words="bare" not in request.query_params)
        return self._watched("pictures", pictures, "multipart/x-mixed-replace; boundary=frame")

    async def live_numbers(self, request: Request) -> Response:
        # A dashboard's page comes from another port, so any origin may read this. It is protected by the view token in
        # the address: browsers send no cookies to `*`.
        response = self._watched("beats", self._live_numbers(self._find(request)), "text/event-stream")
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    async def still(self, request: Request) -> Response:
        run, step, number = self._find(request), _whole(request, "step"), _whole(request, "number")
        return _jpeg(await self._read(_bytes, run.still, step, number), "private, max-age=3600")

    async def snapshot(self, request: Request) -> Response:
        found = await self._read(_bytes, self._find(request).snapshot, _whole(request, "alert"))
        return _jpeg(found, "private, max-age=60")

    async def _pictures(self, run: Run, has_words: bool) -> AsyncIterator[bytes]:
        """Each new picture once, until the session or the viewer ends; repeated now and then to notice a lost viewer.

        The boundary is sent right after each picture: browsers show a picture once they see its end. Until the first
        one comes, a header that means nothing says now and then that the server lives.
        """
        with _listening(run) as waiter:
            yield b"--frame\r\n"
            while True:
                is_over = run.is_over
                found = await run_in_threadpool(run.picture, has_words)
                if found is not None:
                    head = f"Content-Type: image/jpeg\r\nContent-Length: {len(found[1])}\r\n\r\n"
                    yield head.encode() + found[1] + (b"\r\n--frame--\r\n" if is_over else b"\r\n--frame\r\n")
                else:
                    yield b"X-Waiting: yes\r\n"
                if is_over:
                    return
                await asyncio.sleep(STREAM_S)
                await waiter.wait(STILL_S)

    async def _live_numbers(self, run: Run) -> AsyncIterator[str]:
        """Live numbers every second, and at once when their mark changes, until the session or the viewer ends."""
        mark, sent_s = "", 0.0
        clock = asyncio.get_running_loop().time
        with _listening(run) as waiter:
            while True:
                numbers = live_numbers_object(await self._read(run.show))
                if numbers["mark"] != mark or clock() - sent_s >= NUMBERS_S:
                    mark, sent_s = numbers["mark"], clock()
                    yield f"data: {dump(numbers)}\n\n"
                if numbers["over"]:
                    return
                await waiter.wait(IDLE_S)

    def _watched(self, what: str, parts: AsyncIterator[str] | AsyncIterator[bytes], media_type: str) -> Response:
        """An answer that somebody looks at for a while, if there is room for one more."""
        if self._viewers[what] >= self._limits.most_viewers:
            raise HTTPException(503, f"{self._viewers[what]} viewers are watching, no more are admitted.")
        return _CountedResponse(parts, 200, {"Cache-Control": "no-store"}, media_type, self._viewers, what)

    async def _read(self, function: Callable[..., T], *arguments: object) -> T:
        """What a function gives that reads a disk."""
        return await to_thread.run_sync(function, *arguments, limiter=self._disk)

    def _find(self, request: Request) -> Run:
        run = self._runs.find(request.path_params["session"])
        if run is None:
            raise HTTPException(404, "there is no such session.")
        return run

    async def _object(self, request: Request) -> dict[str, Any]:
        """The JSON object of a request, read no further than the limit."""
        data = b""
        async for part in request.stream():
            data += part
            if len(data) > self._limits.longest_text:
                raise HTTPException(413, f"up to {self._limits.longest_text} bytes are taken.")
        return read_object(data, self._limits)

    def _gauges(self) -> list[tuple[str, dict[str, str], float]]:
        gauges: list[tuple[str, dict[str, str], float]] = [
            ("guide_clients", {}, self.channels.count),
            ("guide_viewers", {}, self._viewers["pictures"]),
            ("guide_sessions", {}, len(self._runs.running())),
        ]
        for run in self._runs.running():
            labels = {"session": run.facts.id, "source": run.facts.source}
            gauges += [
                ("guide_frame_age_seconds", labels, run.age_s),
                ("guide_standing_alerts", labels, run.standing),
            ]
        for name, batcher in self._runs.library.batchers():
            gauges += [
                ("guide_network_rows", {"network": name}, batcher.rows),
                ("guide_network_runs", {"network": name}, batcher.runs),
                ("guide_network_busy_seconds", {"network": name}, batcher.busy_s),
            ]
        return gauges


class _CountedResponse(StreamingResponse):
    """A stream that counts as viewed from the moment it is made until it ends, begun or not."""

    def __init__(
        self, parts: AsyncIterator[str] | AsyncIterator[bytes], status: int, headers: dict[str, str], media_type: str,
        viewers: Counter[str], what: str,
    ) -> None:  # fmt: skip
        super().__init__(parts, status, headers, media_type)
        self._viewers, self._what = viewers, what
        viewers[what] += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._viewers[self._what] -= 1


@contextmanager
def _listening(run: Run) -> Iterator[UpdateWaiter]:
    waiter = UpdateWaiter()
    run.add_listener(waiter)
    try:
        yield waiter
    finally:
        run.remove_listener(waiter)


def _whole(request: Request, name: str) -> int:
    """A number of the address; what is none leads to no picture, like a number that nothing has."""
    text = str(request.path_params[name])
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise HTTPException(404, "there is no such picture.")
    return int(text)


def _bytes(find: Callable[..., Path | None], *arguments: object) -> bytes | None:
    """The file that `find` gives, if there is one."""
    path = find(*arguments)
    try:
        return None if path is None else path.read_bytes()
    except OSError:  # deleted meanwhile
        return None


def _jpeg(data: bytes | None, kept: str) -> Response:
    if data is None:
        raise HTTPException(404, "there is no such picture.")
    return Response(data, media_type="image/jpeg", headers=HEADERS | {"Cache-Control": kept})


def _brief(run: Run) -> dict[str, Any]:
    shown = run.show_in_memory()
    kept = ("session", "state", "problem", "started", "source", "bundle", "person", "client", "at", "step", "paused")
    told = ("id", "at", "title", "severity", "acknowledged")
    standing = [{name: alert[name] for name in told} for alert in shown["alerts"]]
    return {**{name: shown[name] for name in kept}, "alerts": len(standing), "standing": standing,
            "age_s": shown["health"]["age_s"], "progress": shown["progress"]}  # fmt: skip


async def _refused(_: Request, error: Exception) -> Response:
    status = 503 if isinstance(error, FullError) else 409 if isinstance(error, TakenError) else 400
    return JSONResponse({"error": str(error)}, status)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def nobody_hears(_: Request, __: Exception) -> Response:
    """In place of an answer, and of an error in the log: who asked went away in the middle of it."""
    return Response(status_code=499)


async def _broken(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "a fault of the program: see the server's log."}, 500)
