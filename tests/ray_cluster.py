"""A Ray cluster of the tests' own: node processes of one core each on this machine, which can be killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.util import find_spec
from typing import Any

import pytest

OBJECTS_BYTES = 100 * 2**20


def require_ray() -> None:
    """Without Ray the test is left out, or fails where REQUIRE_RAY=1 asks for it."""
    if find_spec("ray") is not None:
        return
    reason = "no Ray was found: install the extra fleet."
    if os.environ.get("REQUIRE_RAY") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class RayCluster:
    """The first node has one core, others come and go."""

    def __init__(self) -> None:
        require_ray()
        self._folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # paths of sockets may have 107 letters
        self._patch = pytest.MonkeyPatch()
        self._patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        self._patch.setenv("RAY_worker_niceness", "0")  # else they wait for whatever else runs here
        self._patch.setenv("RAY_TMPDIR", self._folder)  # `auto` finds this cluster, and whoever has another keeps it
        from ray.cluster_utils import Cluster

        first = {"num_cpus": 1, "object_store_memory": OBJECTS_BYTES, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=first)
        self.address: str = self._cluster.address

    def add_node(self) -> Any:
        return self._cluster.add_node(num_cpus=1, object_store_memory=OBJECTS_BYTES)

    def kill_node(self, node: Any) -> None:
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()  # type: ignore[no-untyped-call]
        self._patch.undo()
        shutil.rmtree(self._folder, ignore_errors=True)
