"""`python -m guide bench --endure 600`: the server's memory under headsets that stay and clients that come and go."""

from __future__ import annotations

import asyncio
import json
import struct
import tempfile
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import websockets

from guide.benchmarks.figures import Figure, Part, processor
from guide.benchmarks.headsets import (
    END_S,
    PATIENCE_S,
    Crowd,
    ServerBenchmarkOptions,
    read_metrics,
    sent_pictures,
    served,
)
from guide.benchmarks.memory import MOST_MB, Say

MOST_TIMES = 1.3
SETTLED_S = 60.0
SAMPLES = 20  # of memory while clients are there
FRAMES = 2  # that a client sends before it leaves

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class EnduranceOptions:
    """How many, and for how long.

    >>> EnduranceOptions().reconnecting
    50
    """

    bundle: Path = Path("exported/demo")
    video: Path | None = None
    """A recording that headsets show over and over; made-up pictures without it."""
    seconds: float = 600.0
    """How long headsets stay; clients come and go for a tenth of it."""
    clients: int = 16
    reconnecting: int = 50
    threads: int = 0
    calm_s: float = 15.0
    """After the last has left: threads that have nothing to do end after ten seconds."""


def measure_endurance(options: EnduranceOptions, say: Say = lambda _: None) -> Part:
    """Memory of a server that records as usual, in MB: while headsets stay, and after others have come and gone."""
    steady = ServerBenchmarkOptions(options.bundle, options.clients, seconds=options.seconds, threads=options.threads)
    pictures = sent_pictures(options.video, steady.fps)
    count = max(options.clients, options.reconnecting)
    with tempfile.TemporaryDirectory() as data, served(steady, count, Path(data), stores_pictures=True) as address:
        memory = _Memory(*address, say)
        visitors = _Visitors(*address, pictures)
        asyncio.run(visitors.come(1, 0.0))
        start = memory.sample("after one session")
        crowd = Crowd(steady, options.clients, pictures, *address)
        stayed, held = asyncio.run(memory.watch(crowd.run(), options.seconds - END_S))
        time.sleep(options.calm_s)
        between = memory.sample("when they have left")
        _, reconnecting = asyncio.run(
            memory.watch(visitors.come(options.reconnecting, options.seconds / 10), options.seconds / 10)
        )
        time.sleep(options.calm_s)
        end = memory.sample("when all have left")
    settled_s = min(SETTLED_S, options.seconds / 3)
    settled, *later = [mb for at, mb in held if at >= settled_s - 1]
    figures = (
        Figure("held after one session", start, "MB"),
        Figure(f"held with {options.clients} headsets after {settled_s:.0f} s", settled, "MB"),
        Figure("grown since, at most", max(later) - settled, "MB", most=MOST_MB),
        Figure("held when they have left", between, "MB"),
        Figure(f"held while {options.reconnecting} came and went, at most", max(mb for _, mb in reconnecting), "MB"),
        Figure("held when all have left", end, "MB"),
        Figure("times what one session leaves", end / start, "", most=MOST_TIMES),
    )
    return Part(
        f"Memory of a server: {options.clients} headsets for {options.seconds:g} s, then {options.reconnecting} "
        f"clients reconnecting for {options.seconds / 10:g} s",
        processor(),
        figures,
        (f"{stayed.sent} frames sent, {stayed.seen} seen; {visitors.visits} visits, {visitors.refused} refused",),
    )


class _Memory:
    """What the server holds, in MB, told as it is sampled."""

    def __init__(self, port: int, token: str, say: Say) -> None:
        self._port, self._token, self._say = port, token, say

    def sample(self, when: str) -> float:
        mb = read_metrics(self._port, self._token)["process_resident_memory_bytes"] / 1e6
        self._say(f"  {mb:7.1f} MB  {when}")
        return mb

    async def watch(self, work: Coroutine[Any, Any, Given], seconds: float) -> tuple[Given, list[tuple[float, float]]]:
        """What some work gives, and samples taken meanwhile with the seconds since it began, for so long."""
        began, task, samples = time.monotonic(), asyncio.create_task(work), list[tuple[float, float]]()
        for number in range(1, SAMPLES + 1):
            await asyncio.sleep(max(0.0, began + number * seconds / SAMPLES - time.monotonic()))
            at = time.monotonic() - began
            samples.append((at, await asyncio.to_thread(self.sample, f"{at:4.0f} s")))
        return await task, samples


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
