"""What replicas are told when they are started as actors; no cluster runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from guide.fleet import cluster as module
from guide.fleet.cluster import LOCAL, Cluster
from guide.record.picture_address import VARIABLE
from guide.serve.options import ServeOptions
from tests.ray_cluster import require_ray

ADDRESS = "s3://guide:hidden@pictures.example/folder"


class Remote:
    """Keeps what an actor is started with."""

    def __init__(self, _: type) -> None:
        self.options_given: dict[str, Any] = {}
        self.arguments: tuple[Any, ...] = ()

    def options(self, **given: Any) -> Remote:
        self.options_given = given
        return self

    def remote(self, *arguments: Any) -> Remote:
        self.arguments = arguments
        return self


@contextmanager
def serve_nothing(_: ServeOptions) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    server = uvicorn.Server(uvicorn.Config("nothing:app"))
    server.run = lambda sockets=None: None  # type: ignore[method-assign]
    with socket.create_server((LOCAL, 0)) as listening:
        yield server, listening, ""


def test_a_replica_hears_where_pictures_go_and_ray_logs_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    require_ray()
    monkeypatch.setattr("guide.fleet.cluster.ray.remote", Remote)
    monkeypatch.setattr(module, "log_as_json", lambda _: None)
    monkeypatch.setenv(VARIABLE, ADDRESS)
    cluster = Cluster(None, ServeOptions(threads=1), serve_nothing)
    actor = cluster._actors[cluster.start()]
    assert "hidden" not in str(actor.options_given)
    monkeypatch.setenv(VARIABLE, "memory://what-the-node-was-started-with")
    server = module._Server(*actor.arguments)
    server.end()
    assert os.environ[VARIABLE] == ADDRESS
