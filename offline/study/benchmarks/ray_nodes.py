"""`python -m offline.study.benchmarks.ray_nodes`: the same recordings learned on one and on two Ray nodes of one core.

The nodes are processes on this machine, each pinned to a core of its own; the command that learns has a node without
cores and meanwhile waits for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from guide.benchmarks.figures import Figure, Part, processor, tell
from guide.bundle import read_bundle
from guide.commands.entry import entry
from guide.errors import GuideError, InputError
from offline.cluster import require_ray
from offline.demo.world import World, draw_once

LEAST_RATIO = 1.7
OBJECTS_BYTES = 200 * 2**20
SEEN, TRAINED = "run ", "training ended"  # how the lines begin that the command says when it has seen, and trained


@dataclass(frozen=True)
class RayNodesOptions:
    """Learn the same recordings on one and on two Ray nodes of one core each, and compare times and bundles."""

    videos: Path | None = None
    """A folder of recordings of one task; without, the twelve demonstrations of the demo, which are drawn."""
    demo: Path = Path(".cache/demo")
    """Where these are, or go."""
    json: Path | None = None
    """Write all figures to this file as well."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Seconds until all recordings were seen, all heads trained, and the bundle written; and its files with hashes."""

    seen_s: float
    trained_s: float
    whole_s: float
    files: dict[str, object]


def measure(videos: Path, work: Path) -> Part:
    """Both runs, each with an empty cache."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise InputError(f"two nodes of one core each need two cores, this machine gives {len(cores)}: use another.")
    before = os.getloadavg()[0]
    one, two = (learn(videos, work / str(count), cores[:count]) for count in (1, 2))
    is_same = one.files == two.files
    figures = (
        Figure("1 node: recordings seen", one.seen_s, "s"),
        Figure("1 node: heads trained", one.trained_s, "s"),
        Figure("1 node: whole command", one.whole_s, "s"),
        Figure("2 nodes: recordings seen", two.seen_s, "s"),
        Figure("2 nodes: heads trained", two.trained_s, "s"),
        Figure("2 nodes: whole command", two.whole_s, "s"),
        Figure("times as fast, seen and trained", one.trained_s / two.trained_s, least=LEAST_RATIO),
        Figure("times as fast, whole command", one.whole_s / two.whole_s),
        Figure("the same bundle", float(is_same), least=1.0),
    )
    note = f"load of the machine before it began: {before:.1f}, which should be 0"
    return Part(f"Learning from {videos} on Ray", processor(), figures, (note,))


def learn(videos: Path, work: Path, cores: list[int]) -> Learned:
    """Learns on a cluster with a node for each core; times count from when the recordings were found."""
    words = [str(videos), "--out", str(work / "bundle"), "--cache", str(work / "cache"), "--device", "cpu"]
    with nodes(cores) as address:
        command = [sys.executable, "-m", "offline.train", *words, "--ray", address]
        moments: list[tuple[str, float]] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            moments += [(line, time.monotonic()) for line in process.stdout]
        if process.returncode != 0:
            raise GuideError(f"learning on {len(cores)} nodes failed: what it says above tells why.")
    began = moments[0][1]
    seen, trained = (next(at for line, at in moments if line.startswith(word)) - began for word in (SEEN, TRAINED))
    return Learned(seen, trained, moments[-1][1] - began, read_bundle(work / "bundle").facts["files"])


@contextmanager
def nodes(cores: list[int]) -> Iterator[str]:
    """A cluster on this machine with a node pinned to each core; gives its address."""
    require_ray()
    from ray.cluster_utils import Cluster

    mine = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:  # paths of sockets may have 107 letters
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": folder}  # who has another cluster keeps it
        os.environ |= {"RAY_worker_niceness": "0"}  # else its workers give way to whatever else runs here
        size: dict[str, Any] = {"object_store_memory": OBJECTS_BYTES, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **size})
        try:
            for core in cores:
                os.sched_setaffinity(0, {core})  # what a node starts inherits it
                cluster.add_node(num_cpus=1, **size)
            os.sched_setaffinity(0, mine)
            yield cluster.address
        finally:
            os.sched_setaffinity(0, mine)
            cluster.shutdown()  # type: ignore[no-untyped-call]


def main(options: RayNodesOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    videos = options.videos
    if videos is None:
        draw_once(World(seed=1, recordings=12, live=5), options.demo, console)
        videos = options.demo / "train"
    with tempfile.TemporaryDirectory(prefix="ray-nodes-") as work:
        tell(processor(), [measure(videos.resolve(), Path(work))], console, options.json)


if __name__ == "__main__":
    entry(RayNodesOptions, main)
