"""What goes over a headset's WebSocket: how messages are read, and how a connection ends."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from guide import wire
from guide.errors import InputError
from guide.serve.limits import Limits

SEND_S = 15.0
STAMP = struct.Struct("<d")

# Codes that close a connection; docs/protocol.md says what each means.
BAD_REQUEST, WRONG_TOKEN, REPLACED, TOO_SLOW, FULL = 4400, 4401, 4409, 4408, 1013


def read_stamp(data: bytes) -> float:
    """The capture time in front of a frame, whatever clock it is of; InputError where nothing follows it."""
    if len(data) <= STAMP.size:
        raise InputError(f"a frame is 8 bytes of capture time and a picture, {len(data)} bytes came.")
    return float(STAMP.unpack_from(data)[0])


def read_object(text: str | bytes | None, limits: Limits) -> dict[str, Any]:
    """A JSON object; InputError where it is none or too long.

    >>> read_object('{"kind": "next"}', Limits())
    {'kind': 'next'}
    """
    if text is None or len(text) > limits.longest_text:
        raise InputError(f"a JSON object of up to {limits.longest_text} characters was expected.")
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError) as cause:
        raise InputError(f"a JSON object in UTF-8 was expected, got {text[:40]!r}.") from cause


async def refuse(websocket: WebSocket, words: str, code: int) -> None:
    """Says why, and ends the connection."""
    try:
        await websocket.send_text(wire.dump({"type": "error", "text": words}))
    except (WebSocketDisconnect, RuntimeError, OSError):
        return
    await close(websocket, code)


async def close(websocket: WebSocket, code: int) -> None:
    """Ends a connection; nothing happens where the other side did so already."""
    if websocket.application_state is not WebSocketState.CONNECTED:
        return
    try:
        async with asyncio.timeout(SEND_S):
            await websocket.close(code)
    except (WebSocketDisconnect, RuntimeError, OSError):
        return
