"""Replicas as actors of a Ray cluster: placed on machines with free cores, and started again where they die.

No frame passes through Ray: each replica is a server with a port of its own. The only home of Ray on the live side.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from socket import socket
from typing import Any, Final

import uvicorn

from guide import __version__
from guide.errors import InputError, OutputError
from guide.fleet.forward import Place
from guide.fleet.logs import log_as_json
from guide.fleet.ray_address import find_cluster, refusal
from guide.record.picture_address import VARIABLE as PICTURES
from guide.serve.options import ScaleOptions, ServeOptions

try:
    import ray

    HAS_RAY = True
except ImportError:  # the extra is not installed
    HAS_RAY = False

log = logging.getLogger(__name__)

NAMESPACE: Final = "guide"
PREFIX: Final = "replica-"
GATEWAY: Final = "gateway"
ASK_S: Final = 0.5
END_S: Final = 40.0
LOCAL: Final = "127.0.0.1"

Serve = Callable[[ServeOptions], AbstractContextManager[tuple[uvicorn.Server, socket, str]]]


class Cluster:
    """Starts, finds and ends the replicas of a fleet; all of it blocks. Leaving it ends them, and all their sessions.

    Replicas outlive a process that was killed: the next one finds them. Two at a time would end each other's.
    """

    def __init__(self, address: str | None, options: ServeOptions, serve: Serve) -> None:
        """Raises InputError without Ray."""
        if not HAS_RAY:
            raise InputError("a fleet needs Ray, which is not installed: pip install -e '.[fleet]'.")
        self._address, self._options, self._serve = address, options, serve
        self._pictures = os.environ.get(PICTURES)
        # How many there are, and where the gateway listens, is nothing to a replica.
        inside = replace(options, host="", scale=ScaleOptions(gpus=options.scale.gpus))
        told = repr((__version__, inside, options.recording.records, self._pictures))
        self.version = hashlib.sha256(told.encode()).hexdigest()
        self._actors: dict[str, Any] = {}

    def __enter__(self) -> Cluster:
        quiet: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": logging.ERROR}
        place = None if self._address is None else find_cluster(self._address)
        try:
            if place is None:
                # Replicas are no work in the background, as which Ray would run them.
                ray.init("local", include_dashboard=False, _system_config={"worker_niceness": 0}, **quiet)
            else:
                ray.init(place, **quiet)
        except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as cause:
            if place is not None:
                raise refusal(place, cause) from cause
            words = " ".join(str(cause).split())
            raise OutputError(f"Ray cannot be started here ({words:.200}): see its logs in /tmp/ray.") from cause
        if place is not None:
            self._mark = _mark_as_taken()
        running = [
            one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if one["namespace"] == NAMESPACE
        ]
        self._actors = {name: ray.get_actor(name, NAMESPACE) for name in running if name.startswith(PREFIX)}
        return self

    def __exit__(self, *_: object) -> None:
        self.end(*self._actors)
        ray.shutdown()

    @property
    def names(self) -> list[str]:
        return sorted(self._actors, key=lambda name: int(name.removeprefix(PREFIX)))

    def start(self) -> str:
        """One more replica, as soon as the cluster has room for it; its name."""
        number = 1 + max((int(name.removeprefix(PREFIX)) for name in self._actors), default=0)
        name = f"{PREFIX}{number}"
        host = LOCAL if self._address is None else None
        actor = ray.remote(_Server).options(
            name=name, namespace=NAMESPACE, lifetime="detached", max_restarts=-1, scheduling_strategy="SPREAD",
            num_cpus=self._options.threads, num_gpus=self._options.scale.gpus, max_concurrency=2,
        )  # fmt: skip
        self._actors[name] = actor.remote(name, self._serve, self._options, host, self._pictures, self.version)
        return name

    def where(self, name: str) -> Place | None:
        """Where a replica listens; None while it is being started, or started again.

        One that cannot be started at all is forgotten, with a word in the log.
        """
        try:
            found: Place = ray.get(self._actors[name].where.remote(), timeout=ASK_S)
        except ray.exceptions.ActorDiedError as error:
            log.warning("%s could not be started: %s", name, str(error).strip().splitlines()[-1])
            self._actors.pop(name, None)
            return None
        except (ray.exceptions.GetTimeoutError, ray.exceptions.RayActorError, KeyError):
            return None
        return found

    def end(self, *names: str) -> None:
        """Ends replicas and all their sessions properly, all at the same time."""
        actors = [self._actors.pop(name) for name in names if name in self._actors]
        if actors:
            ray.wait([actor.end.remote() for actor in actors], num_returns=len(actors), timeout=END_S)
        for actor in actors:
            ray.kill(actor)


class _Mark:
    """Lives as long as the gateway that started it: its name is taken meanwhile."""


def _mark_as_taken() -> Any:
    """What says to others that the cluster has a gateway; InputError where it has one."""
    try:
        return ray.remote(_Mark).options(name=GATEWAY, namespace=NAMESPACE, num_cpus=0).remote()
    except ValueError as cause:
        ray.shutdown()
        raise InputError(
            "a gateway runs already on this Ray cluster, and a second one would end its sessions: end that one; "
            "if it was killed, try again in a moment."
        ) from cause


class _Server:
    """A server in the process of an actor."""

    def __init__(
        self, name: str, serve: Serve, options: ServeOptions, host: str | None, pictures: str | None, version: str
    ) -> None:
        log_as_json(name)
        self._version = version
        if pictures:  # they go where the gateway says, also from a node that was started without knowing
            os.environ[PICTURES] = pictures  # not by Ray, which would log the address with its password
        self._held = ExitStack()
        self._host: str = host or ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        self._server, self._socket, _ = self._held.enter_context(serve(replace(options, host=self._host)))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._port = self._socket.getsockname()[1]
        self._thread.start()
        log.info("listens on %s port %d", self._host, self._port)

    def where(self) -> Place:
        if not (self._thread.is_alive() or self._server.should_exit):
            os._exit(1)  # the server failed by itself: Ray starts another
        return Place(self._host, self._port, os.getpid(), self._version)

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join(END_S)
        self._held.close()
