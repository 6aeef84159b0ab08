"""`python -m guide.benchmarks.capacity`: what 10 to 10,000 headsets need, and recorded traffic against that model.

It rests on what a frame, a session and a record cost here. Needs Ray (the extra `fleet`); processor time counts, so a
busy machine does little harm.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import quantiles

from rich.console import Console

from guide.benchmarks.capacity_model import BUSY, Costs, needs, simulate, walls
from guide.benchmarks.figures import Figure, Part, machine, processor, tell
from guide.benchmarks.fleet import FleetBenchmarkOptions, serving_replicas
from guide.benchmarks.headsets import PATIENCE_S, Crowd, ServerBenchmarkOptions, ask, sent_pictures
from guide.bundle import read_bundle
from guide.commands.entry import entry
from guide.domain import Frame
from guide.errors import GuideError, InputError, OutputError
from guide.networks import start_networks
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.shipping import opened
from guide.serve.picture import PictureLimits, decode
from guide.session import Session
from guide.settings import LiveSettings

SIZES = (10, 100, 1_000, 10_000)
WRITES_S = 0.4  # a session writes once in that time, as WriterSettings has it
NETWORK_FRAMES = 40
LEAST_ARRIVALS = 50
REPLICAS = 2
IDLE_S = 10.0


@dataclass(frozen=True)
class CapacityOptions:
    """Measure what a frame, a session and a record cost on this machine, and say what so many headsets would need."""

    bundle: Path = Path("exported/demo")
    """The trained bundle."""
    video: Path | None = None
    """A recording whose pictures are sent; made-up pictures without it."""
    clients: int = 8
    """Simulated headsets that the costs are measured with."""
    fps: float = 1.0
    """Frames a second that each of them sends while it is measured."""
    rate: float = 5.0
    """Frames a second of the headsets that are counted with."""
    seconds: float = 30.0
    """How long is measured."""
    write_ms: float | None = None
    """What one write to the database takes, as `python -m guide.benchmarks.records` says."""
    gpu_rate: float | None = None
    """Frames a second that the networks hold on a GPU, as `python -m guide bench --device cuda` says there."""
    sessions: Path | None = None
    """A folder of recorded sessions whose frames are the traffic of the simulation; even traffic without it."""
    json: Path | None = None
    """Write the figures to this file too."""

    def __post_init__(self) -> None:
        if self.clients < 2 or self.seconds <= 10 or min(self.fps, self.rate) <= 0:
            raise InputError(f"two clients, more than 10 s and rates above 0 were expected, got {self}.")


@dataclass(slots=True)
class Reading:
    """What the replicas and the gateway had used at a moment."""

    cpu_s: dict[str, float] = field(default_factory=dict)
    memory_bytes: dict[str, float] = field(default_factory=dict)
    frames: float = 0.0
    at: float = field(default_factory=time.monotonic)


def main(options: CapacityOptions) -> None:
    """Runs the command."""
    tell(machine(), _parts(options), Console(highlight=False), options.json)


def _parts(options: CapacityOptions) -> Iterator[Part]:
    costs, p95_s = measure(options)
    yield Part("Costs", processor(), _cost_figures(costs))
    for headsets in SIZES:
        found = needs(headsets, options.rate, costs)
        figures = [
            Figure("cores of replicas", found.replica_cores),
            Figure("cores of replicas with GPUs", found.gpu_cores),
            *([] if found.gpus is None else [Figure("GPUs", found.gpus)]),
            Figure("cores of gateways", found.gateway_cores),
            Figure("memory", found.memory_bytes / 1e9, "GB"),
            Figure("network at the gateway", 8 * found.network_bytes / 1e6, "Mb/s"),
            Figure("records a second", found.rows),
            Figure("transactions a second", found.writes),
            *([] if found.connections is None else [Figure("machines that ship", found.connections)]),
        ]
        yield Part(f"{headsets} headsets at {options.rate:g} frames a second", processor(), tuple(figures))
    wall = tuple(Figure(name, headsets, "headsets") for name, headsets in walls(options.rate, costs))
    yield Part("Walls, the first first", "no busier than 60 %", wall)
    yield _simulated(options, costs, p95_s)


def measure(options: CapacityOptions) -> tuple[Costs, float]:
    """The costs by a real fleet of two replicas, and the measured p95 of its replies in seconds."""
    pictures = sent_pictures(options.video)
    mine = ServerBenchmarkOptions(
        options.bundle, options.clients, options.fps, options.seconds, options.video, threads=1
    )
    fleet = FleetBenchmarkOptions(options.bundle, options.clients, options.fps, options.seconds, REPLICAS)
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        with serving_replicas(fleet, mine, Path(folder), True) as (port, token):
            idle = _read(port, token)
            time.sleep(IDLE_S)
            before = _read(port, token)
            run = asyncio.run(_with_midway(Crowd(mine, options.clients, pictures, port, token), port, token, mine))
            after = _read(port, token)
        rows = _rows(Path(folder))
    p95_s, midway = run
    frames = after.frames - before.frames
    share = (after.at - before.at) / (before.at - idle.at)  # what they use when nobody sends is no frame's
    used = {
        name: after.cpu_s[name] - before.cpu_s[name] - share * (before.cpu_s[name] - idle.cpu_s[name])
        for name in before.cpu_s
    }
    replicas = [name for name in used if name != "gateway"]
    grown = sum(midway.memory_bytes[name] - before.memory_bytes[name] for name in replicas)
    costs = Costs(
        frame_s=sum(used[name] for name in replicas) / frames,
        network_s=_network_s(options, pictures),
        gateway_s=used["gateway"] / frames,
        frame_bytes=sum(map(len, pictures)) / len(pictures) + 8,
        replica_bytes=sum(before.memory_bytes[name] for name in replicas) / len(replicas),
        session_bytes=max(0.0, grown) / options.clients,
        rows=rows * options.rate / options.fps,
        writes=1 / WRITES_S,
        write_s=None if options.write_ms is None else options.write_ms / 1e3,
        gpu_rate=options.gpu_rate,
    )
    return costs, p95_s


def _rows(folder: Path) -> float:
    """Records a second of the sessions in a folder."""
    with opened(folder) as store:
        kept = store.sessions()
        tables = [store.contents(one.id) for one in kept]
    rows = sum(len(getattr(one, name)) for one in tables for name in one.__slots__ if name != "final")
    return rows / max(sum(one.at for one in kept), 1e-9)


async def _with_midway(crowd: Crowd, port: int, token: str, options: ServerBenchmarkOptions) -> tuple[float, Reading]:
    """The p95 of a crowd's replies, and what was in use shortly before its end."""
    running = asyncio.create_task(crowd.run())
    await asyncio.sleep(0.9 * options.seconds)
    midway = await asyncio.to_thread(_read, port, token)
    return (await running).p95_s, midway


def _read(port: int, token: str) -> Reading:
    """What all replicas and the gateway tell; a replica too busy to answer is asked again."""
    until = time.monotonic() + PATIENCE_S
    while len((found := _read_once(port, token)).cpu_s) < REPLICAS + 1:
        if time.monotonic() > until:
            raise OutputError(f"not all replicas tell their metrics within {PATIENCE_S:g} s: try on an idle machine.")
        time.sleep(0.5)
    return found


def _read_once(port: int, token: str) -> Reading:
    found = Reading()
    for line in ask(port, token, "/metrics").decode().splitlines():
        name, _, value = line.rpartition(" ")
        replica = re.search(r'replica="([^"]*)"', name)
        if replica is None or line.startswith("#"):
            continue
        if name.startswith("process_cpu_seconds_total"):
            found.cpu_s[replica[1]] = float(value)
        elif name.startswith("process_resident_memory_bytes"):
            found.memory_bytes[replica[1]] = float(value)
        elif name.startswith("guide_frames_processed_total"):
            found.frames += float(value)
    return found


def _network_s(options: CapacityOptions, pictures: list[bytes]) -> float:
    """Processor time of a frame's networks, on one thread."""
    bundle = read_bundle(options.bundle)
    session = Session(bundle, start_networks(bundle, "cpu", 1), LiveSettings())
    images = [decode(picture, PictureLimits()) for picture in pictures[:NETWORK_FRAMES]]
    frames = [Frame(number, number / options.rate, image) for number, image in enumerate(images)]
    session.perceive(frames[0])
    began = time.process_time()
    for frame in frames[1:]:
        session.perceive(frame)
    return (time.process_time() - began) / max(1, len(frames) - 1)


def _cost_figures(costs: Costs) -> tuple[Figure, ...]:
    return (
        Figure("a frame, replica", 1e3 * costs.frame_s, "ms"),
        Figure("of it networks", 1e3 * costs.network_s, "ms"),
        Figure("a frame, gateway", 1e3 * costs.gateway_s, "ms"),
        Figure("a frame", costs.frame_bytes / 1e3, "kB"),
        Figure("a replica", costs.replica_bytes / 1e6, "MB"),
        Figure("a session", costs.session_bytes / 1e6, "MB"),
        Figure("records a second and session", costs.rows),
    )


def _simulated(options: CapacityOptions, costs: Costs, p95_s: float) -> Part:
    """The measured crowd in the simulation, and as many headsets as the model gives a replica."""
    traffic = _traffic(options)
    same, _ = simulate(_arrivals(traffic, options.clients, options.fps, options.seconds), REPLICAS, costs.frame_s)
    most = max(1, int(BUSY / (options.rate * costs.frame_s)))
    replies, unsent = simulate(_arrivals(traffic, 10 * most, options.rate, 60.0), 10, costs.frame_s)
    figures = (
        Figure("as measured, p95 simulated", 1e3 * quantiles(same, n=20)[-1], "ms"),
        Figure("as measured, p95 measured", 1e3 * p95_s, "ms"),
        Figure("headsets a replica of one core", most),
        Figure("p95 with so many", 1e3 * quantiles(replies, n=20)[-1], "ms"),
        Figure("frames not sent in time", 100 * unsent / (len(replies) + unsent), "%"),
    )
    return Part("Simulation", "recorded traffic" if traffic else "even traffic", figures)


def _traffic(options: CapacityOptions) -> list[list[float]]:
    """The moments of the frames of recorded sessions, each from 0 on; those of a few frames are left out."""
    found = []
    for path in sorted(options.sessions.glob(f"*/{PERCEPTS_FILE}")) if options.sessions is not None else ():
        try:
            times = [one.at for one in read_percepts(path)]
        except GuideError:
            continue
        if len(times) >= LEAST_ARRIVALS:
            found.append([at - times[0] for at in times])
    if options.sessions is not None and not found:
        raise InputError(f"{options.sessions} holds no session of {LEAST_ARRIVALS} frames: give another --sessions.")
    return found


def _arrivals(traffic: list[list[float]], headsets: int, rate: float, seconds: float) -> list[list[float]]:
    """The frames of so many headsets: recorded ones over and over, each from another place, or even ones."""
    made = []
    for number in range(headsets):
        if not traffic:
            made.append([number / headsets / rate + tick / rate for tick in range(round(seconds * rate))])
            continue
        times = traffic[number % len(traffic)]
        scale = (len(times) - 1) / (rate * max(times[-1], 1e-9))
        gaps = [scale * (later - earlier) for earlier, later in pairwise(times)]
        at, one = number / headsets / rate, list[float]()
        while at < seconds:
            one.append(at)
            at += gaps[(len(one) + 7 * number) % len(gaps)]
        made.append(one)
    return made


if __name__ == "__main__":
    entry(CapacityOptions, main)
