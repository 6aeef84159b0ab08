"""A headset's WebSocket, passed on to the replica that runs its session: a frame crosses between machines once."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import websockets
from starlette.websockets import WebSocket, WebSocketDisconnect

from guide.errors import InputError
from guide.fleet.replicas import Replica, Replicas
from guide.serve.channels import Doorman
from guide.serve.connections import GREETED, Connections
from guide.serve.messages import BAD_REQUEST, FULL, close, refuse
from guide.serve.runs import read_client

STOPPED: Final = 1012
LOST: Final = 1006
CONNECT_S: Final = 5.0
PING_S, SILENT_S = 10.0, 20.0  # a machine without power is found out while its sessions can still be gone on with
TRIES: Final = 3


class Relay:
    """Takes headsets in, finds each its replica, and passes messages on, both ways."""

    def __init__(self, replicas: Replicas, doorman: Doorman, connections: Connections) -> None:
        self._replicas, self._doorman, self._connections = replicas, doorman, connections

    async def serve(self, websocket: WebSocket) -> None:
        """A connection from its first message to its end."""
        await websocket.accept()
        found = await self._doorman.greet(websocket)
        if found is None:
            return
        websocket.scope["extensions"][GREETED]()
        with self._connections.admitted(websocket.scope):
            try:
                client = read_client(found[0].get("client"))
            except InputError as error:
                await refuse(websocket, str(error), BAD_REQUEST)
                return
            await self._join(websocket, client, found[0])

    async def _join(self, websocket: WebSocket, client: str, greeting: dict[str, Any]) -> None:
        for _ in range(TRIES):
            replica = await self._replicas.of_client(client)
            if replica is None:
                break
            if await self._pass_on(websocket, replica, greeting):
                return
        await refuse(websocket, "no replica answers just now: try again in a moment.", FULL)

    async def _pass_on(self, websocket: WebSocket, replica: Replica, greeting: dict[str, Any]) -> bool:
        """Passes messages on until one side ends; False where the replica cannot be reached."""
        replica.given += 1  # at once: the next headset goes elsewhere
        try:
            upstream = await self._reach(replica)
            if upstream is None:
                return False
            async with upstream:
                try:
                    await upstream.send(json.dumps(greeting))
                    code = await _exchange(websocket, upstream)
                except websockets.ConnectionClosed:
                    code = LOST
        finally:
            replica.given -= 1
        await close(websocket, STOPPED if code == LOST else code)
        return True

    async def _reach(self, replica: Replica) -> websockets.ClientConnection | None:
        assert replica.place is not None
        address = f"ws://{replica.place.host}:{replica.place.port}/frames"
        try:
            return await websockets.connect(
                address, compression=None, max_size=None, open_timeout=CONNECT_S, ping_interval=PING_S,
                ping_timeout=SILENT_S, proxy=None,
            )  # fmt: skip
        except websockets.WebSocketException:  # it answers: others must not get its sessions
            return None
        except OSError as error:
            self._replicas.miss(replica, error)
            return None


async def _exchange(websocket: WebSocket, upstream: websockets.ClientConnection) -> int:
    """Messages both ways, until one side ends; the code with which the replica closed."""
    tasks = [asyncio.create_task(_up(websocket, upstream)), asyncio.create_task(_down(websocket, upstream))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return upstream.close_code or 1000


async def _up(websocket: WebSocket, upstream: websockets.ClientConnection) -> None:
    while (message := await websocket.receive())["type"] != "websocket.disconnect":
        data = message.get("bytes")
        await upstream.send(message["text"] if data is None else data)


async def _down(websocket: WebSocket, upstream: websockets.ClientConnection) -> None:
    try:
        async for text in upstream:
            await websocket.send_text(str(text))
    except (websockets.ConnectionClosed, WebSocketDisconnect, RuntimeError, OSError):
        return
