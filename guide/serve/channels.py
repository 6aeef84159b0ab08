"""WebSocket connections of headsets: authenticated, limited in number, and joined with a session."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from anyio import CapacityLimiter
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from guide.errors import GuideError, InputError
from guide.serve.channel import Channel, Visitor
from guide.serve.connections import GREETED, Connections
from guide.serve.guard import FailureDelays, address_of, view_token
from guide.serve.limits import Limits
from guide.serve.messages import BAD_REQUEST, FULL, WRONG_TOKEN, close, read_object, refuse
from guide.serve.metrics import Metrics
from guide.serve.runs import FullError, Runs, TakenError, read_client, read_session_request
from guide.serve.schemas import HEADSET, SessionRequest
from guide.serve.tokens import Identity, Tokens

GREET_S = 10.0


class Doorman:
    """Lets in whose first message brings a token that allows frames; anything else is answered alike, and late."""

    def __init__(self, tokens: Tokens, limits: Limits, delays: FailureDelays, metrics: Metrics) -> None:
        self._tokens, self._limits, self._delays, self._metrics = tokens, limits, delays, metrics

    async def greet(self, websocket: WebSocket) -> tuple[dict[str, Any], Identity] | None:
        """The first message and who sent it; None once a stranger was sent away."""
        try:
            async with asyncio.timeout(GREET_S):
                message = await websocket.receive()
        except TimeoutError:
            message = {}
        if message.get("type") == "websocket.disconnect":
            return None
        try:
            greeting = read_object(message.get("text"), self._limits)
        except InputError:
            greeting = {}
        identity = self._tokens.identify(greeting.get("token"))
        if identity is not None and identity.role != "watch":
            return greeting, identity
        self._metrics.count("guide_refusals_total", why="token")
        await self._delays.wait_after_failure(address_of(websocket.scope))
        await close(websocket, WRONG_TOKEN)
        return None


class Channels:
    """All connections of headsets, by the headset's name."""

    def __init__(
        self, runs: Runs, tokens: Tokens, limits: Limits, delays: FailureDelays, connections: Connections
    ) -> None:
        self.runs, self.limits = runs, limits
        self._tokens, self._connections = tokens, connections
        self._doorman = Doorman(tokens, limits, delays, runs.metrics)
        self._by_client: dict[str, Channel] = {}
        self._decoding = CapacityLimiter(limits.most_clients)

    @property
    def count(self) -> int:
        return len(self._by_client)

    async def serve(self, websocket: WebSocket) -> None:
        """A connection from its first message to its end."""
        await websocket.accept()
        found = await self._doorman.greet(websocket)
        if found is not None:
            websocket.scope["extensions"][GREETED]()  # from now on it may send pictures
            with self._connections.admitted(websocket.scope):
                await self._admit(websocket, *found)

    async def _admit(self, websocket: WebSocket, greeting: dict[str, Any], identity: Identity) -> None:
        try:
            request = _session_request(greeting)
        except InputError as error:
            await refuse(websocket, str(error), BAD_REQUEST)
            return
        assert request.client is not None
        if request.client not in self._by_client and self.count >= self.limits.most_clients:
            self.runs.metrics.count("guide_refusals_total", why="clients")
            words = f"{self.count} clients are connected, no more are admitted: try again later."
            await refuse(websocket, words, FULL)
            return
        visitor = Visitor(identity, partial(view_token, self._tokens.token), greeting.get("stay") is True)
        channel = Channel(websocket, request.client, self.limits, self._decoding, visitor)
        earlier = self._by_client.get(request.client)
        self._by_client[request.client] = channel  # at once: the next one to come must be counted right
        try:
            if earlier is not None:
                await earlier.replace()
            await self._attach(channel, request)
        finally:
            if self._by_client.get(request.client) is channel:
                del self._by_client[request.client]

    async def _attach(self, channel: Channel, request: SessionRequest) -> None:
        """Joins the headset with its session, the one it had before a lost connection or a new one."""
        try:
            run = self.runs.of_client(channel.client)
            if run is None:
                run = await run_in_threadpool(self.runs.start, request)
        except (FullError, TakenError) as error:  # taken: its session is just being made for another connection
            self.runs.metrics.count("guide_refusals_total", why="sessions")
            await refuse(channel.websocket, str(error), FULL)
        except GuideError as error:
            await refuse(channel.websocket, str(error), BAD_REQUEST)
        else:
            await channel.serve(run, self.runs)


def _session_request(greeting: dict[str, Any]) -> SessionRequest:
    asked = {name: value for name, value in greeting.items() if name in {"bundle", "person"}}
    return read_session_request({"source": HEADSET + read_client(greeting.get("client")), **asked})
