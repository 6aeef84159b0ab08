"""`python -m guide.benchmarks.fleet`: headsets at a fleet against the same at one plain server; and a replica killed.

Needs Ray (the extra `fleet`), which is started for it on this machine, and an idle machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import websockets
from rich.console import Console

from guide.benchmarks.figures import Figure, Part, machine, processor, tell
from guide.benchmarks.headsets import IN_FLIGHT, PATIENCE_S, Crowd, ServerBenchmarkOptions, ask, sent_pictures, served
from guide.commands.entry import entry
from guide.errors import InputError, OutputError
from guide.record.shipping import find_address, opened

MOST_RATIO = 1.2
BACK_S = 5.0
RETRY_S = 0.5
STORED_S = 1.0
"""What was told so long before the kill is stored for certain."""
SEEN_S = 2.0
"""How long headsets send before a replica is killed at the earliest."""


@dataclass(frozen=True)
class FleetBenchmarkOptions:
    """Headsets at a fleet on this machine against the same at one plain server with as many cores; a replica killed."""

    bundle: Path = Path("exported/demo")
    """The trained bundle."""
    clients: int = 32
    """Simulated headsets."""
    fps: float = 1.0
    """Frames a second that each of them sends."""
    seconds: float = 30.0
    """How long they send, of each kind."""
    replicas: int = 2
    """Replicas, each with one core; the plain server has as many cores."""
    video: Path | None = None
    """A recording whose pictures are sent, from its beginning on; made-up ones without it, which lead to no steps."""
    records: str | None = field(default=None, repr=False)
    """The address of an empty PostgreSQL database; SQLite without it, or what CNC_RECORDS says."""
    rounds: int = 1
    """How often both are measured, by turns; the medians count."""
    json: Path | None = None
    """Write the figures to this file too."""

    def __post_init__(self) -> None:
        if self.replicas < 2 or self.clients < self.replicas or self.rounds < 1 or self.seconds <= 10:
            raise InputError(f"two replicas, as many clients, a round and more than 10 s were expected, got {self}.")


def main(options: FleetBenchmarkOptions) -> None:
    """Runs the command."""
    tell(machine(), _parts(options), Console(highlight=False), options.json)


def _parts(options: FleetBenchmarkOptions) -> Iterator[Part]:
    yield compare(options)
    yield kill(options)


def compare(options: FleetBenchmarkOptions) -> Part:
    """The replies of a plain server and of a fleet, by turns."""
    pictures = sent_pictures(options.video)
    common = ServerBenchmarkOptions(options.bundle, options.clients, options.fps, options.seconds, options.video)
    found: dict[bool, list[tuple[float, float, int]]] = {False: [], True: []}
    for _ in range(options.rounds):
        for is_fleet in (False, True):
            mine = replace(common, threads=1 if is_fleet else options.replicas)
            with (
                tempfile.TemporaryDirectory(prefix="fleet-") as data,
                serving_replicas(options, mine, Path(data), is_fleet) as at,
            ):
                run = asyncio.run(Crowd(mine, options.clients, pictures, *at).run())
            found[is_fleet].append((run.p50_s, run.p95_s, run.silent))
    (plain50, plain95), (fleet50, fleet95) = (
        [sorted(run[part] for run in found[kind])[len(found[kind]) // 2] for part in (0, 1)] for kind in (False, True)
    )
    silent = sum(run[2] for runs in found.values() for run in runs)
    figures = (
        Figure("one server, median", 1e3 * plain50, "ms"),
        Figure("one server, p95", 1e3 * plain95, "ms"),
        Figure("fleet, median", 1e3 * fleet50, "ms"),
        Figure("fleet, p95", 1e3 * fleet95, "ms"),
        Figure("p95, fleet to one server", fleet95 / plain95, most=MOST_RATIO),
        Figure("headsets without a reply", silent, most=0),
    )
    title = f"{options.clients} headsets at {options.fps:g} a second, {options.replicas} replicas of one core"
    return Part(title, processor(), figures)


@contextmanager
def serving_replicas(
    options: FleetBenchmarkOptions, mine: ServerBenchmarkOptions, data: Path, is_fleet: bool
) -> Iterator[tuple[int, str]]:
    """A server, or a fleet of which all replicas answer."""
    more = ["--device", "cpu", *(["--records", options.records] if options.records else [])]
    more += ["--fleet", "--replicas", str(options.replicas)] if is_fleet else []
    with served(mine, options.clients, data, more) as (port, token):
        until = time.monotonic() + PATIENCE_S
        while is_fleet and sum(one["answers"] for one in _fleet(port, token)) < options.replicas:
            if time.monotonic() > until:
                raise OutputError(f"not all replicas answer after {PATIENCE_S:g} s: see Ray's logs in /tmp/ray.")
            time.sleep(0.2)
        yield port, token


def _fleet(port: int, token: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ask(port, token, "/fleet"))["replicas"]
    return found


@dataclass(slots=True)
class Wearer:
    """A headset that comes back when its connection is lost, and what it was told when, by this machine's clock."""

    number: int
    sessions: list[str] = field(default_factory=list)
    told: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    losses: int = 0

    async def wear(self, port: int, token: str, pictures: list[bytes], fps: float, until: float) -> None:
        """Sends pictures until a moment, then ends the session."""
        began = time.monotonic()
        while True:
            try:
                await self._connected(port, token, pictures, fps, (began, until))
                return
            except (OSError, websockets.WebSocketException, TimeoutError):
                self.losses += 1
                await asyncio.sleep(RETRY_S)

    async def _connected(
        self, port: int, token: str, pictures: list[bytes], fps: float, times: tuple[float, float]
    ) -> None:
        began, until = times
        address = f"ws://127.0.0.1:{port}/frames"
        async with websockets.connect(address, compression=None, max_size=None, ping_interval=None) as socket:
            await socket.send(json.dumps({"token": token, "client": f"headset-{self.number}"}))
            self._hear(json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S)))
            waiting: list[float] = []
            listener = asyncio.create_task(self._listen(socket, waiting))
            tick = time.monotonic() + self.number % 8 / 8 / fps
            try:
                while tick < until and not listener.done():
                    await asyncio.sleep(max(0.0, tick - time.monotonic()))
                    if len(waiting) < IN_FLIGHT:
                        waiting.append(time.monotonic())
                        picture = pictures[min(round((time.monotonic() - began) * fps), len(pictures) - 1)]
                        await socket.send(struct.pack("<d", time.time()) + picture)
                    tick += 1 / fps
                await socket.send(json.dumps({"type": "end"}))
                await asyncio.wait_for(listener, PATIENCE_S)
            finally:
                listener.cancel()

    async def _listen(self, socket: websockets.ClientConnection, waiting: list[float]) -> None:
        while True:
            message = json.loads(await socket.recv())
            if message["type"] == "ack":
                waiting.pop(0)
            self._hear(message)
            if message["type"] == "summary":
                return

    def _hear(self, message: dict[str, Any]) -> None:
        now = time.monotonic()
        match message["type"]:
            case "hello":
                self.sessions.append(message["session"])
            case "ack" if message["fate"] == "seen":
                self.seen.append(now)
            case "alert" | "step":
                self.told.append((now, message))


def kill(options: FleetBenchmarkOptions) -> Part:
    """Kills a replica in the midst; how its headsets fare, and what is stored."""
    records = find_address(options.records)
    pictures = _pictures(options)
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        data, mine = Path(folder), ServerBenchmarkOptions(options.bundle, options.clients, options.fps, threads=1)
        with serving_replicas(options, mine, data, True) as (port, token):
            wearers = [Wearer(number) for number in range(options.clients)]
            at, victims = asyncio.run(_wear(options, wearers, pictures, port, token))
        with opened(data, records) as store:
            stored = {name: store.contents(name) for one in wearers for name in one.sessions}
    hurt = [one for one in wearers if f"headset-{one.number}" in victims]
    back = [min((seen - at for seen in one.seen if seen > at), default=float("inf")) for one in hurt]
    lost = Counter[str]()
    for one in wearers:
        kept = {(what.id, what.kind, what.severity) for name in one.sessions for what in stored[name].alerts}
        steps = {(what.step, what.state) for name in one.sessions for what in stored[name].steps}
        for when, said in one.told:
            is_kept = (
                (said["id"], said["kind"], said["severity"]) in kept
                if said["type"] == "alert"
                else (said["step"], said["state"]) in steps
            )
            if not is_kept:
                lost["early" if when < at - STORED_S else "late"] += 1
    twice = sum(_told_twice(one) for one in wearers)
    figures = (
        Figure("headsets of the killed replica", len(hurt), least=1),
        Figure("guided again, slowest", max(back, default=float("inf")), "s", most=BACK_S),
        Figure("guided again, median", sorted(back)[len(back) // 2] if back else float("inf"), "s"),
        Figure("sessions that did not go on", sum(len({*one.sessions}) > 1 for one in wearers), most=0),
        Figure("steps and alerts told", sum(len(one.told) for one in wearers)),
        Figure("alerts told", sum(said["type"] == "alert" for one in wearers for _, said in one.told)),
        Figure("told over a second before, lost", lost["early"], most=0),
        Figure("told later, lost", lost["late"], most=0),
        Figure("alerts told twice", twice, most=0),
    )
    return Part(f"one of {options.replicas} replicas killed", processor(), figures)


def _told_twice(wearer: Wearer) -> int:
    alerts = Counter((said["id"], said["severity"]) for _, said in wearer.told if said["type"] == "alert")
    return sum(count - 1 for count in alerts.values())


async def _wear(
    options: FleetBenchmarkOptions, wearers: list[Wearer], pictures: list[bytes], port: int, token: str
) -> tuple[float, set[str]]:
    """All headsets at once; a replica is killed when half of the time is over: when that was, and whose it had."""
    until = time.monotonic() + options.seconds
    wearing = [asyncio.create_task(one.wear(port, token, pictures, options.fps, until)) for one in wearers]
    await asyncio.sleep(max(SEEN_S, options.seconds / 2))
    running = json.loads(await asyncio.to_thread(ask, port, token, "/sessions"))["sessions"]
    [*_, busiest] = sorted(await asyncio.to_thread(_fleet, port, token), key=lambda one: int(one["sessions"]))
    os.kill(busiest["pid"], signal.SIGKILL)
    at = time.monotonic()
    await asyncio.gather(*wearing)
    return at, {one["client"] for one in running if one["replica"] == busiest["name"]}


def _pictures(options: FleetBenchmarkOptions) -> list[bytes]:
    """The pictures of the recording at the headsets' rate, from its beginning on."""
    wanted = round(options.seconds * options.fps) + 1
    return sent_pictures(options.video, options.fps, wanted) if options.video else sent_pictures(None)


if __name__ == "__main__":
    entry(FleetBenchmarkOptions, main)
