"""The bundles of the server: each read and started once, and shared by all sessions that use it."""

from __future__ import annotations

import threading
from pathlib import Path

from guide.bundle import Bundle, fingerprint, read_bundle
from guide.errors import InputError
from guide.perceive.batching import BatchedHead, BatchedTrunk, Batcher
from guide.perceive.embedder import Device
from guide.serve.metrics import Metrics
from guide.session import Networks, start_networks
from guide.settings import Precision

MOST_BUNDLES = 4


class Library:
    """Opens bundles by name; networks that many sessions use run in batches.

    >>> Library(Path("exported/demo"), Metrics()).folder
    PosixPath('exported')
    """

    def __init__(
        self, bundle: Path, metrics: Metrics, device: Device = "auto", precision: Precision = "float", threads: int = 0
    ) -> None:
        self._default, self._metrics = bundle, metrics
        self._device, self._precision, self._threads = device, precision, threads
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Bundle, Networks]] = {}
        self._retired: list[Networks] = []  # of bundles that were exported anew: sessions may still use them

    @property
    def folder(self) -> Path:
        """Where other bundles may lie: beside the one the server was started with."""
        return self._default.parent

    @property
    def default(self) -> str:
        return self._default.name

    def names(self) -> list[str]:
        """The bundles that can be asked for."""
        found = (path.parent.name for path in self.folder.glob("*/manifest.json"))
        return sorted(name for name in found if not name.startswith(".") and name.isprintable())

    def open(self, name: str | None = None, in_use: frozenset[str] | set[str] = frozenset()) -> tuple[Bundle, Networks]:
        """A bundle and its networks; those of bundles not `in_use` make room. Raises BundleError or InputError."""
        folder = self._default if name is None else self._place(name)
        with self._lock:
            if name is None and (known := self._open.get(folder.name)) is not None:
                return known  # the one the server was started with is not read anew for every client
            bundle = read_bundle(folder)
            known = self._open.get(folder.name)
            if known is None or fingerprint(known[0]) != fingerprint(bundle):
                if known is not None:
                    self._retired.append(self._open.pop(folder.name)[1])
                self._make_room(in_use)
                known = bundle, self._start(bundle)
                self._open[folder.name] = known
            return known

    def batchers(self) -> list[tuple[str, Batcher]]:
        """The batchers that run, by the name of their network."""
        with self._lock:
            networks = [(name, found) for name, (_, found) in self._open.items()]
        return [
            (f"{name}/{part}", model.batcher)
            for name, found in networks
            for part, model in (("trunk", found.trunk), ("head", found.head))
            if isinstance(model, BatchedTrunk | BatchedHead)
        ]

    def close(self) -> None:
        """Stops all networks."""
        with self._lock:
            for networks in [*self._retired, *(found for _, found in self._open.values())]:
                _stop(networks)

    def _place(self, name: str) -> Path:
        """The folder of a bundle, by its name or path; no other place is looked at."""
        plain = name.rstrip("/").rsplit("/", 1)[-1]
        if plain not in self.names() or (plain != name and (self.folder / plain).resolve() != Path(name).resolve()):
            known = ", ".join(self.names()) or "none"
            raise InputError(f"there is no bundle {name!r:.80} in {self.folder.name}; there are: {known}.")
        return self.folder / plain

    def _start(self, bundle: Bundle) -> Networks:
        networks = start_networks(bundle, self._device, self._threads, self._precision, BatchedTrunk, BatchedHead)
        for stage, model in (("trunk", networks.trunk), ("head", networks.head)):
            if isinstance(model, BatchedTrunk | BatchedHead):
                model.batcher.timed = lambda seconds, stage=stage: self._metrics.time(stage, seconds)
        return networks

    def _make_room(self, in_use: frozenset[str] | set[str]) -> None:
        idle = [name for name in self._open if name not in in_use and name != self.default]
        if len(self._open) >= MOST_BUNDLES and not idle:
            raise InputError(f"{MOST_BUNDLES} bundles are in use, no more are taken: end a session first.")
        if len(self._open) >= MOST_BUNDLES:
            _stop(self._open.pop(idle[0])[1])


def _stop(networks: Networks) -> None:
    for model in (networks.trunk, networks.head):
        if isinstance(model, BatchedTrunk | BatchedHead):
            model.batcher.close()
