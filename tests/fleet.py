"""A fleet for tests: the real gateway before real servers, all in threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from guide.commands.serve import listening
from guide.fleet.forward import Place
from guide.fleet.gateway import make_gateway
from guide.fleet.replicas import Replicas
from guide.serve.connections import Connections
from guide.serve.options import ScaleOptions, ServeOptions
from guide.serve.tokens import Tokens
from tests.server import TOKEN, Served, in_thread, running
from tests.waiting import until


class Servers:
    """Replicas as servers in threads of the test."""

    version = "of the first gateway"

    def __init__(self, bundle: Path, data: Path) -> None:
        self._bundle, self._data, self._held = bundle, data, dict[str, ExitStack]()
        self.places: dict[str, Place] = {}
        self._count = 0

    @property
    def names(self) -> list[str]:
        return list(self._held)

    def start(self, token: str = TOKEN) -> str:
        self._count += 1
        name = f"replica-{self._count}"
        held = ExitStack()
        served = held.enter_context(running(self._bundle, self._data, is_fleet=True, token=token))
        self.places[name] = Place("127.0.0.1", served.port, 0, self.version)
        self._held[name] = held
        return name

    def where(self, name: str) -> Place | None:
        return self.places.get(name)

    def end(self, *names: str) -> None:
        for name in names:
            self.places.pop(name, None)
            self._held.pop(name).close()


@contextmanager
def fleet(bundle: Path, data: Path, scale: ScaleOptions, note: Path | None = None) -> Iterator[tuple[Served, Servers]]:
    servers, options = Servers(bundle, data), ServeOptions(bundle, port=0, note=note)
    connections = Connections(16)
    app = make_gateway(
        Replicas(servers, TOKEN, scale, options.limits.most_clients), Tokens(TOKEN), options.limits, connections
    )
    try:
        with in_thread(listening(app, options, TOKEN, None, connections)) as port:
            served = Served(port, data)
            until(lambda: sum(one["answers"] for one in replicas(served)) == scale.replicas)
            yield served, servers
    finally:
        servers.end(*servers.names)


def replicas(served: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.ask("/fleet").json["replicas"]
    return found
