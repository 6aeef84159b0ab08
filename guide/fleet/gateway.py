"""The one address of a fleet: headsets and requests are passed on from here to the replica that has to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from guide import __version__
from guide.errors import GuideError
from guide.fleet.forward import ask_text, forward
from guide.fleet.relay import Relay
from guide.fleet.replicas import ASK_S, Replica, Replicas
from guide.serve.app import nobody_hears
from guide.serve.channels import Doorman
from guide.serve.connections import Connections
from guide.serve.guard import FailureDelays, Guard
from guide.serve.limits import Limits
from guide.serve.metrics import Metrics, merged
from guide.serve.tokens import Tokens

METHODS = ["GET", "POST", "DELETE"]


def make_gateway(replicas: Replicas, tokens: Tokens, limits: Limits, connections: Connections) -> ASGIApp:
    """The application; everything but /health wants a token, and nobody without one reaches a replica."""
    delays, metrics = FailureDelays(), Metrics()
    relay = Relay(replicas, Doorman(tokens, limits, delays, metrics), connections)
    site = _Gateway(replicas, tokens, limits, metrics)
    routes = [
        Route("/health", site.health),
        Route("/fleet", site.fleet),
        Route("/metrics", site.metrics),
        Route("/sessions", site.sessions, methods=["GET", "POST"]),
        Route("/sessions/{session}", site.session, methods=METHODS),
        Route("/sessions/{session}/{rest:path}", site.session, methods=METHODS),
        WebSocketRoute("/frames", relay.serve),
        Route("/{path:path}", site.anywhere),
    ]
    guard = Middleware(Guard, tokens=tokens, delays=delays, metrics=metrics, connections=connections)
    handlers: Any = {ClientDisconnect: nobody_hears}
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=site.lifespan)


class _Gateway:
    def __init__(self, replicas: Replicas, tokens: Tokens, limits: Limits, metrics: Metrics) -> None:
        self._replicas, self._tokens, self._limits, self._metrics = replicas, tokens, limits, metrics

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._replicas.watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def health(self, _: Request) -> Response:
        is_ok = bool(self._replicas.living())
        return JSONResponse({"status": "ok" if is_ok else "no replica answers"}, 200 if is_ok else 503)

    async def fleet(self, _: Request) -> Response:
        """The replicas and how they fare."""
        await self._replicas.refresh()
        return JSONResponse({"replicas": [self._about(one) for one in self._replicas.all()]})

    def _about(self, one: Replica) -> dict[str, Any]:
        place = one.place
        state = "starting" if place is None else "draining" if one.is_draining else "running"
        return {"name": one.name, "state": state, "host": place and place.host, "port": place and place.port,
                "pid": place and place.pid, "answers": place is not None and self._replicas.is_heard(one),
                "sessions": len(one.running), "headsets": one.given}  # fmt: skip

    async def sessions(self, request: Request) -> Response:
        await self._replicas.refresh()
        if request.method == "POST":
            return await self._forward(request, self._replicas.emptiest())
        found = [{**brief, "replica": one.name} for one in self._replicas.living() for brief in one.sessions]
        return JSONResponse({"sessions": sorted(found, key=lambda one: str(one["session"])), "program": __version__})

    async def session(self, request: Request) -> Response:
        found = await self._replicas.of_session(request.path_params["session"])
        if found is None:
            return JSONResponse({"error": "there is no such session."}, 404)
        return await self._forward(request, found)

    async def anywhere(self, request: Request) -> Response:
        return await self._forward(request, self._replicas.emptiest())

    async def metrics(self, _: Request) -> Response:
        """Those of all replicas, each with the name of its own, and the gateway's."""
        living = self._replicas.living()
        texts = await asyncio.gather(*(self._text(one) for one in living))
        found = {one.name: text for one, text in zip(living, texts, strict=True) if text}
        counts = {"running": len(living), "starting": len(self._replicas.all()) - len(living)}
        gauges = [("guide_replicas", {"state": state}, float(count)) for state, count in counts.items()]
        return PlainTextResponse(
            merged({**found, "gateway": self._metrics.text(gauges)}), media_type="text/plain; version=0.0.4"
        )

    async def _text(self, replica: Replica) -> str:
        try:
            async with asyncio.timeout(ASK_S):
                return await ask_text(replica.place, "/metrics", self._tokens.token) if replica.place else ""
        except (OSError, GuideError):
            return ""

    async def _forward(self, request: Request, replica: Replica | None) -> Response:
        if replica is not None and replica.place is not None:
            try:
                return await forward(request, replica.place, self._limits.longest_text)
            except OSError as error:
                self._replicas.miss(replica, error)
        return JSONResponse({"error": "no replica answers just now: try again in a moment."}, 503)
