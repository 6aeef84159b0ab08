"""`python -m guide bench --endure 600`: the server's memory under headsets that stay and clients that come and go."""

from __future__ import annotations

import asyncio
import json
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import websockets

from guide.benchmarks.figures import Figure, Part, processor
from guide.benchmarks.headsets import (
    PATIENCE_S,
    Crowd,
    ServerBenchmarkOptions,
    read_metrics,
    sent_pictures,
    served,
)
from guide.benchmarks.memory import MOST_MB

MOST_TIMES = 1.3
FRAMES = 2  # that a client sends before it leaves


@dataclass(frozen=True, slots=True)
class EnduranceOptions:
    """How many, and for how long.

    >>> EnduranceOptions().reconnecting
    50
    """

    bundle: Path = Path("exported/demo")
    seconds: float = 600.0
    """How long headsets stay; clients come and go for a tenth of it."""
    clients: int = 16
    reconnecting: int = 50
    threads: int = 0
    calm_s: float = 15.0
    """After the last has left: threads that have nothing to do end after ten seconds."""


def measure_endurance(options: EnduranceOptions) -> Part:
    """Memory of a server in a process of its own, in MB: while headsets stay, and after others have come and gone."""
    steady = ServerBenchmarkOptions(options.bundle, options.clients, seconds=options.seconds, threads=options.threads)
    pictures = sent_pictures(None)
    count = max(options.clients, options.reconnecting)
    with tempfile.TemporaryDirectory() as data, served(steady, count, Path(data)) as (port, token):
        visitors = _Visitors(port, token, pictures)
        asyncio.run(visitors.come(1, 0.0))
        start_mb = _held_mb(port, token)
        crowd = asyncio.run(Crowd(steady, options.clients, pictures, port, token).run())
        time.sleep(options.calm_s)
        between_mb = _held_mb(port, token)
        asyncio.run(visitors.come(options.reconnecting, options.seconds / 10))
        time.sleep(options.calm_s)
        end_mb = _held_mb(port, token)
    early_mb, late_mb = (size / 1e6 for size in crowd.memory_bytes)
    figures = (
        Figure("held after one session", start_mb, "MB"),
        Figure(f"held with {options.clients} headsets, a third in", early_mb, "MB"),
        Figure("grown since", late_mb - early_mb, "MB", most=MOST_MB),
        Figure("held when they have left", between_mb, "MB"),
        Figure(f"held when {options.reconnecting} have come and gone", end_mb, "MB"),
        Figure("times what one session leaves", end_mb / start_mb, "", most=MOST_TIMES),
    )
    return Part(
        f"Memory of a server: {options.clients} headsets for {options.seconds:g} s, then {options.reconnecting} "
        f"clients reconnecting for {options.seconds / 10:g} s",
        processor(),
        figures,
        (f"{crowd.sent} frames sent, {crowd.seen} seen; {visitors.visits} visits, {visitors.refused} refused",),
    )


def _held_mb(port: int, token: str) -> float:
    return read_metrics(port, token)["process_resident_memory_bytes"] / 1e6


class _Visitors:
    """Clients that greet, send a few frames and leave, half of them without a word; again and again."""

    def __init__(self, port: int, token: str, pictures: list[bytes]) -> None:
        self._address, self._token, self._pictures = f"ws://127.0.0.1:{port}/frames", token, pictures
        self.visits = self.refused = 0

    async def come(self, count: int, seconds: float) -> None:
        end = time.monotonic() + seconds
        await asyncio.gather(*(self._visit_until(number, end) for number in range(count)))

    async def _visit_until(self, number: int, end: float) -> None:
        while True:
            is_last = time.monotonic() >= end
            await self._visit(number, is_polite=is_last or self.visits % 2 == 0)
            if is_last:
                return

    async def _visit(self, number: int, is_polite: bool) -> None:
        self.visits += 1
        try:
            async with websockets.connect(
                self._address, compression=None, open_timeout=PATIENCE_S, close_timeout=1.0, max_size=None
            ) as socket:
                await socket.send(json.dumps({"token": self._token, "client": f"visitor-{number}"}))
                for _ in range(FRAMES):
                    picture = self._pictures[self.visits % len(self._pictures)]
                    await socket.send(struct.pack("<d", time.time()) + picture)
                if is_polite:
                    await socket.send(json.dumps({"type": "end"}))
                    async with asyncio.timeout(PATIENCE_S):
                        async for _ in socket:
                            pass
                else:
                    await asyncio.wait_for(socket.recv(), PATIENCE_S)
                    socket.transport.abort()
        except (OSError, TimeoutError, websockets.WebSocketException):
            self.refused += 1
