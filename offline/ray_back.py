"""Tasks on a Ray cluster, one core or one GPU each. The only home of Ray in `offline`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Literal, TypeAlias

import ray
from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from guide.errors import InputError
from guide.fleet.ray_address import find_cluster, refusal
from offline.executor import ONE_THREAD, Result, use_one_thread

Device: TypeAlias = Literal["auto", "cpu", "cuda"]

NODE_ANSWER_S: Final = 120.0  # by when every node has done a small task: a busy one takes long to start a process


class RayBack:
    """On the nodes of the cluster at `address`, or with `auto` of the one this machine belongs to.

    A node that joins later is used, the work of one that dies goes to others. Raises InputError where no cluster
    answers, or no node has the GPU that is asked for.
    """

    deaths: tuple[type[BaseException], ...] = (
        LocalRayletDiedError, NodeDiedError, ObjectLostError, OutOfMemoryError, WorkerCrashedError,
    )  # fmt: skip

    def __init__(self, address: str, device: Device = "auto") -> None:
        place = find_cluster(address)
        try:
            ray.init(
                place, runtime_env={"env_vars": ONE_THREAD}, log_to_driver=False, logging_level=logging.ERROR,
                configure_logging=False,
            )  # fmt: skip
        except (OSError, RayError, RuntimeError, ValueError) as error:
            raise refusal(place, error) from error
        self.uses_gpu = device != "cpu" and _count("GPU") > 0
        if device == "cuda" and not self.uses_gpu:
            self.close()
            raise InputError("device cuda was asked for, but no node of the Ray cluster has a GPU: use --device cpu.")
        self._running: dict[Future[Any], Any] = {}

    def slots(self) -> int:
        return max(1, _count("GPU" if self.uses_gpu else "CPU"))

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        # Deaths are counted by the executor, for all backs alike.
        options = {"num_cpus": 1, "num_gpus": int(self.uses_gpu), "max_retries": 0}
        reference = _work.options(**options).remote(task)
        future: Future[Any] = reference.future()
        self._running[future] = reference
        return future

    def result(self, future: Future[Any]) -> Any:
        del self._running[future]
        try:
            return future.result()
        except RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None

    def on_each_node(self, task: Callable[[], Result]) -> dict[str, Result]:
        """What a small task gives on each node, by the node's address; raises InputError where one does not answer."""
        nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        places = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
        references = [_work.options(num_cpus=0, scheduling_strategy=place).remote(task) for place in places]
        try:
            answers = ray.get(references, timeout=NODE_ANSWER_S)
        except RayError as error:
            raise InputError(
                "every node of the Ray cluster should have this program installed and answer within "
                f"{NODE_ANSWER_S:.0f} s, but one does not ({type(error).__name__}): look at ray status."
            ) from error
        return {
            f"{node['NodeManagerAddress']} ({node['NodeID'][:8]})": one
            for node, one in zip(nodes, answers, strict=True)
        }

    def stop(self) -> None:
        for reference in self._running.values():
            ray.cancel(reference, force=True)
        self._running.clear()

    def close(self) -> None:
        ray.shutdown()


def _count(resource: str) -> int:
    """How many of them the nodes that are alive have."""
    return int(ray.cluster_resources().get(resource, 0))  # type: ignore[no-untyped-call]


@ray.remote
def _work(task: Callable[[], Any]) -> Any:
    use_one_thread()
    return task()
