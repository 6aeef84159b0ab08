"""HTTP requests passed on to a replica, and its answers as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import h11
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from guide.errors import GuideError, InputError

CHUNK_BYTES: Final = 64 * 1024
OURS: Final = {
    b"connection", b"transfer-encoding", b"keep-alive", b"host", b"upgrade", b"te", b"trailer", b"proxy-connection",
    b"proxy-authorization",
}  # fmt: skip
"""Headers of one connection, which are not passed on."""
ABOUT_THE_BODY: Final = {b"content-length", b"expect"}
ANSWER_S: Final = 30.0
"""For so long a replica may be silent; whoever follows a session hears of it every few seconds."""

Headers = Iterable[tuple[bytes, bytes]]


class StrangerError(GuideError):
    """A replica does not know the gateway's token.

    >>> str(StrangerError("replica-1 was started with another token."))
    'replica-1 was started with another token.'
    """


@dataclass(frozen=True, slots=True)
class Place:
    """Where a replica listens, its process there, and what it was started with."""

    host: str
    port: int
    pid: int
    version: str = ""


@asynccontextmanager
async def answered(
    place: Place, method: str, target: bytes, headers: Headers, body: bytes = b""
) -> AsyncIterator[tuple[h11.Response, AsyncIterator[bytes]]]:
    """A replica's answer and, as it comes, its body. Raises OSError where none comes."""
    async with asyncio.timeout(ANSWER_S):
        reader, writer = await asyncio.open_connection(place.host, place.port)
    try:
        connection = h11.Connection(h11.CLIENT)
        own = [(b"host", f"{place.host}:{place.port}".encode()), (b"connection", b"close")]
        own += [(b"content-length", str(len(body)).encode())] if body or method != "GET" else []
        sent = [*own, *((name, value) for name, value in headers if name not in OURS | ABOUT_THE_BODY)]
        writer.write(connection.send(h11.Request(method=method, target=target, headers=sent)) or b"")
        writer.write((connection.send(h11.Data(data=body)) or b"") + (connection.send(h11.EndOfMessage()) or b""))
        async with asyncio.timeout(ANSWER_S):
            await writer.drain()
            response = await _next(connection, reader)
        if not isinstance(response, h11.Response):
            raise ConnectionResetError("the replica sent no answer")
        yield response, _body(connection, reader)
    finally:
        writer.close()


async def _body(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        async with asyncio.timeout(ANSWER_S):
            event = await _next(connection, reader)
        if not isinstance(event, h11.Data):
            return
        yield bytes(event.data)


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> Any:
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await reader.read(CHUNK_BYTES))
    except h11.RemoteProtocolError as cause:
        raise ConnectionResetError("the replica broke off") from cause
    return event


async def ask_text(place: Place, path: str, token: str) -> str:
    """What a replica answers; OSError where it does not, StrangerError or another GuideError where it refuses."""
    headers = [(b"authorization", f"Bearer {token}".encode())]
    async with answered(place, "GET", path.encode(), headers) as (response, body):
        text = b"".join([part async for part in body]).decode()
    if response.status_code == 401:
        raise StrangerError(f"a replica answered 401: {text:.200}")
    if response.status_code != 200:
        raise InputError(f"a replica answered {response.status_code}: {text:.200}")
    return text


async def ask(place: Place, path: str, token: str) -> dict[str, Any]:
    """The JSON object that a replica answers."""
    found: dict[str, Any] = json.loads(await ask_text(place, path, token))
    return found


async def forward(request: Request, place: Place, longest: int) -> Response:
    """The answer of a replica to a request, as if it had come there; OSError where none comes."""
    is_secure = request.scope["scheme"] == "https"
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > longest:
            return Response(b'{"error": "the request is too long."}', 413, media_type="application/json")
    query = request.scope["query_string"]
    target = request.scope["raw_path"] + (b"?" + query if query else b"")
    exchange = answered(place, request.method, target, request.scope["headers"], body)
    response, parts = await exchange.__aenter__()

    async def passed_on() -> AsyncIterator[bytes]:
        try:
            async for part in parts:
                yield part
        finally:
            await exchange.__aexit__(None, None, None)

    answer = StreamingResponse(passed_on(), response.status_code)
    answer.raw_headers = [
        (name, value + b"; Secure" if name == b"set-cookie" and is_secure else value)  # replicas speak without TLS
        for name, value in response.headers
        if name not in OURS
    ]
    return answer
