"""Who connects to the WebSocket: let in or turned away, and joined with a session."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from guide.errors import GuideError, InputError
from guide.serve.channel import Channel
from guide.serve.guard import Pauses, address_of, is_right
from guide.serve.limits import Limits
from guide.serve.messages import BAD_REQUEST, FULL, WRONG_TOKEN, close, read_object, refuse
from guide.serve.runs import FullError, Runs, TakenError, read_client, read_wish
from guide.serve.schemas import HEADSET, Wish

GREET_S = 10.0


class Channels:
    """All connections of headsets: how many there are, and which one a name belongs to."""

    def __init__(self, runs: Runs, token: str, limits: Limits, pauses: Pauses) -> None:
        self.runs, self.limits = runs, limits
        self._token, self._pauses = token, pauses
        self._strangers = 0
        self._by_client: dict[str, Channel] = {}

    @property
    def count(self) -> int:
        return len(self._by_client)

    async def serve(self, websocket: WebSocket) -> None:
        """A connection from its first message to its end."""
        if self._strangers >= self.limits.most_strangers:
            self.runs.metrics.count("guide_refusals_total", why="strangers")
            await websocket.close()
            return
        self._strangers += 1
        try:
            await websocket.accept()
            greeting = await self._greet(websocket)
        finally:
            self._strangers -= 1
        if greeting is not None:
            await self._admit(websocket, greeting)

    async def _greet(self, websocket: WebSocket) -> dict[str, Any] | None:
        """The first message, if it brings the token; anything else is answered alike, and late."""
        address = address_of(websocket.scope)
        try:
            async with asyncio.timeout(GREET_S):
                message = await websocket.receive()
        except TimeoutError:
            message = {}
        if message.get("type") == "websocket.disconnect":
            return None
        try:
            greeting = read_object(message.get("text"), self.limits)
        except InputError:
            greeting = {}
        if self._pauses.may_look(address) and is_right(greeting.get("token"), self._token):
            return greeting
        self.runs.metrics.count("guide_refusals_total", why="token")
        await self._pauses.punish(address)
        await close(websocket, WRONG_TOKEN)
        return None

    async def _admit(self, websocket: WebSocket, greeting: dict[str, Any]) -> None:
        try:
            wish = _wish(greeting)
        except InputError as error:
            await refuse(websocket, str(error), BAD_REQUEST)
            return
        assert wish.client is not None
        if wish.client not in self._by_client and self.count >= self.limits.most_clients:
            self.runs.metrics.count("guide_refusals_total", why="clients")
            words = f"{self.count} clients are connected, no more are taken: try again later."
            await refuse(websocket, words, FULL)
            return
        channel = Channel(websocket, wish.client, self.limits)
        earlier = self._by_client.get(wish.client)
        self._by_client[wish.client] = channel  # at once: the next one to come must be counted right
        try:
            if earlier is not None:
                await earlier.replace()
            await self._attach(channel, wish)
        finally:
            if self._by_client.get(wish.client) is channel:
                del self._by_client[wish.client]

    async def _attach(self, channel: Channel, wish: Wish) -> None:
        """Joins the headset with its session, the one it had before a lost connection or a new one."""
        try:
            run = self.runs.of_client(channel.client)
            if run is None:
                run = await run_in_threadpool(self.runs.start, wish)
        except (FullError, TakenError) as error:  # taken: its session is just being made for another connection
            self.runs.metrics.count("guide_refusals_total", why="sessions")
            await refuse(channel.websocket, str(error), FULL)
        except GuideError as error:
            await refuse(channel.websocket, str(error), BAD_REQUEST)
        else:
            await channel.serve(run, self.runs)


def _wish(greeting: dict[str, Any]) -> Wish:
    asked = {name: value for name, value in greeting.items() if name in {"bundle", "person"}}
    return read_wish({"source": HEADSET + read_client(greeting.get("client")), **asked})
