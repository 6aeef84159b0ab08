"""What so many headsets need: a model from measured costs, and a simulation of the queues before the replicas."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

BUSY: Final = 0.6
"""How busy anything is to be at most: above, queues grow quickly and nothing is left for a machine that dies."""
IN_FLIGHT: Final = 2
NETWORK_BYTES: Final = 125e6  # 1 Gb a second


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured on one machine: seconds of processor time, bytes, and rows."""

    frame_s: float
    """Of a replica for a frame, networks included."""
    network_s: float
    """Of that, the networks, which a GPU would take over."""
    gateway_s: float
    """Of the gateway for a frame."""
    frame_bytes: float
    replica_bytes: float
    """Memory of a replica without sessions."""
    session_bytes: float
    """Memory that a session adds."""
    rows: float
    """Records a second of a session."""
    writes: float
    """Transactions a second of a session."""
    write_s: float | None = None
    """Of one connection for a transaction; None where no database was measured."""
    gpu_rate: float | None = None
    """Frames a second that a GPU's networks hold; None where none was measured."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What so many headsets need."""

    headsets: int
    replica_cores: float
    gateway_cores: float
    gpus: float | None
    gpu_cores: float
    """Cores beside the GPUs: what is left of a frame without its networks."""
    replicas: int
    memory_bytes: float
    network_bytes: float
    """A second through the gateway, in and out."""
    rows: float
    writes: float
    connections: float | None
    """Machines that ship, one connection each, so that every write is a transaction; with fewer, writes are merged."""


def needs(headsets: int, rate: float, costs: Costs) -> Needs:
    """What headsets of so many frames a second need, nothing busier than BUSY.

    >>> costs = Costs(0.03, 0.025, 0.0003, 30e3, 250e6, 5e6, 12.0, 2.5)
    >>> found = needs(100, 5.0, costs)
    >>> round(found.replica_cores, 1), found.replicas, round(found.gateway_cores, 2)
    (25.0, 25, 0.25)
    """
    frames = headsets * rate
    cores = frames * costs.frame_s / BUSY
    replicas = max(1, math.ceil(cores))
    return Needs(
        headsets=headsets,
        replica_cores=cores,
        gateway_cores=frames * costs.gateway_s / BUSY,
        gpus=None if costs.gpu_rate is None else frames / (costs.gpu_rate * BUSY),
        gpu_cores=frames * (costs.frame_s - costs.network_s) / BUSY,
        replicas=replicas,
        memory_bytes=replicas * costs.replica_bytes + headsets * costs.session_bytes,
        network_bytes=2 * frames * costs.frame_bytes,
        rows=headsets * costs.rows,
        writes=headsets * costs.writes,
        connections=None if costs.write_s is None else headsets * costs.writes * costs.write_s / BUSY,
    )


def walls(rate: float, costs: Costs) -> list[tuple[str, float]]:
    """What cannot be doubled by one more machine, and the headsets at which it is busy, the first wall first."""
    found = [
        ("one gateway, which is one core", BUSY / (rate * costs.gateway_s)),
        ("the gateway's network of 1 Gb a second", BUSY * NETWORK_BYTES / (rate * costs.frame_bytes)),
        ("a replica without a GPU, one core", BUSY / (rate * costs.frame_s)),
        ("a replica with a GPU, whose Python is one core", BUSY / (rate * max(costs.frame_s - costs.network_s, 1e-9))),
    ]
    if costs.write_s is not None:
        found.append(("a machine's connection, before writes are merged",
                      BUSY / (costs.writes * costs.write_s)))  # fmt: skip
    return sorted(found, key=lambda wall: wall[1])


def simulate(
    arrivals: Sequence[Sequence[float]], replicas: int, frame_s: float, seed: int = 0
) -> tuple[list[float], int]:
    """Seconds from each frame to its reply, and how many frames could not be sent in time, as two were in flight.

    `arrivals` are a headset's moments of capture. Each headset stays with its replica, which sees one frame at a time,
    the one that came first; how long a frame takes wavers by a fifth.

    >>> simulate([[0.0, 1.0]], 1, 0.0)
    ([0.0, 0.0], 0)
    """
    chance = random.Random(seed)
    events = [(at, headset) for headset, times in enumerate(arrivals) for at in times]
    heapq.heapify(events)
    free = [0.0] * replicas
    waiting: list[list[float]] = [[] for _ in arrivals]  # when each frame in flight is replied to
    replies, unsent = [], 0
    while events:
        at, headset = heapq.heappop(events)
        waiting[headset] = [end for end in waiting[headset] if end > at]
        if len(waiting[headset]) >= IN_FLIGHT:
            unsent += 1
            continue
        replica = headset % replicas
        free[replica] = max(at, free[replica]) + frame_s * chance.uniform(0.8, 1.2)
        waiting[headset].append(free[replica])
        replies.append(free[replica] - at)
    return replies, unsent
