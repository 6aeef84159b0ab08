"""What replicas are told when they are started as actors; no cluster runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from guide.errors import InputError
from guide.fleet import cluster as module
from guide.fleet.cluster import LOCAL, Cluster
from guide.record.picture_address import VARIABLE
from guide.serve.options import ScaleOptions, ServeOptions
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


def test_replicas_started_otherwise_are_told_from_those_that_there_are_only_more_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_ray()
    options = ServeOptions(threads=1, token="a-token-of-the-first")
    others = {
        "more of them": replace(options, scale=ScaleOptions(replicas=5), host="0.0.0.0"),
        "GPUs": replace(options, scale=ScaleOptions(gpus=0.5)),
        "token": replace(options, token="a-token-of-the-second"),
        "bundle": replace(options, bundle=Path("exported/other")),
        "records": replace(options, recording=replace(options.recording, records="postgresql:///records")),
    }
    first = Cluster(None, options, serve_nothing).version
    assert [name for name, one in others.items() if Cluster(None, one, serve_nothing).version == first] == [
        "more of them"
    ]
    monkeypatch.setenv(VARIABLE, ADDRESS)
    assert Cluster(None, options, serve_nothing).version != first


def test_each_replica_asks_ray_for_its_share_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    require_ray()
    monkeypatch.setattr("guide.fleet.cluster.ray.remote", Remote)
    options = ServeOptions(fleet=True, device="cuda", threads=2, scale=ScaleOptions(gpus=0.25))
    cluster = Cluster(None, options, serve_nothing)
    given = cluster._actors[cluster.start()].options_given
    assert (given["num_gpus"], given["num_cpus"]) == (0.25, 2)
    with pytest.raises(InputError, match="add --gpus 1"):
        ServeOptions(fleet=True, device="cuda")


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


def test_a_cluster_that_does_not_answer_is_one_sentence_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    require_ray()
    monkeypatch.setattr("guide.fleet.cluster.ray.init", lambda *_, **__: pytest.fail("it would try for minutes"))
    with (
        pytest.raises(InputError, match=r"nothing answers at 127\.0\.0\.1:1 \("),
        Cluster("127.0.0.1:1", ServeOptions(threads=1), serve_nothing),
    ):
        pass


def test_a_cluster_with_another_secret_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    require_ray()
    from ray.exceptions import AuthenticationError

    from offline.ray_back import RayBack

    def refuse(*_: object, **__: object) -> None:
        raise AuthenticationError("no authentication token was found")

    monkeypatch.setattr("ray.init", refuse)
    with socket.create_server((LOCAL, 0)) as listening:
        address = f"{LOCAL}:{listening.getsockname()[1]}"
        sentence = rf"{address} cannot be joined \(.*: RAY_AUTH_MODE and RAY_AUTH_TOKEN"
        with pytest.raises(InputError, match=sentence):
            RayBack(address)
        with pytest.raises(InputError, match=sentence), Cluster(address, ServeOptions(threads=1), serve_nothing):
            pass


def test_the_actor_ends_when_its_server_failed_so_that_ray_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    require_ray()
    ended: list[int] = []
    monkeypatch.setattr(module, "log_as_json", lambda _: None)
    monkeypatch.setattr("guide.fleet.cluster.os._exit", ended.append)
    server = module._Server("replica-1", serve_nothing, ServeOptions(threads=1), LOCAL, None, "")
    server._thread.join()
    server.where()
    assert ended == [1]
    server.end()
    server.where()
    assert ended == [1], "one that is being ended ends by itself"
