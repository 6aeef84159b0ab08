"""The bundles of the server: each is loaded once and shared by all sessions that use it."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from pathlib import Path

from guide.bundle import MANIFEST, Bundle, fingerprint, read_bundle
from guide.errors import BundleError, InputError
from guide.networks import Networks, start_networks
from guide.perceive.batching import BatchedHead, BatchedTrunk, Batcher
from guide.perceive.embedder import Device
from guide.serve.metrics import Metrics
from guide.settings import Precision

log = logging.getLogger(__name__)

MOST_BUNDLES = 4


class Library:
    """Opens bundles by name; networks that many sessions use run in batches.

    >>> Library(Path("exported/demo"), Metrics()).folder
    PosixPath('exported')
    """

    def __init__(
        self, bundle: Path, metrics: Metrics, device: Device = "auto", precision: Precision = "auto", threads: int = 0
    ) -> None:
        self._default, self._metrics = bundle, metrics
        self._device, self._precision, self._threads = device, precision, threads
        self._loading = threading.Lock()  # bundles are read one after another, which takes seconds
        self._lock = threading.Lock()  # what follows; held for a moment only, since the event loop asks as well
        self._open: dict[str, tuple[Bundle, Networks]] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}  # of the manifests that were read
        self._retired: list[Networks] = []  # of bundles that were exported anew, as long as sessions use them
        self._uses: Counter[int] = Counter()  # by the identity of networks: how many sessions have them

    @property
    def folder(self) -> Path:
        """Where other bundles may lie: beside the one the server was started with."""
        return self._default.parent

    @property
    def default(self) -> str:
        return self._default.name

    def names(self) -> list[str]:
        """The bundles that can be chosen."""
        found = (path.parent.name for path in self.folder.glob("*/manifest.json"))
        return sorted(name for name in found if not name.startswith(".") and name.isprintable())

    def open(self, name: str | None = None) -> tuple[Bundle, Networks]:
        """A bundle and its networks, in use until `release`; unused ones make room. Else BundleError or InputError.

        One that was exported anew is read anew; sessions that run keep theirs.
        """
        folder = self._default if name is None else self._place(name)
        stamp = _stamp(folder)
        is_known = name is None and self._stamps.get(folder.name) == stamp  # not read anew for every client
        if is_known and (known := self._take(folder.name)) is not None:
            return known
        with self._loading:
            try:
                bundle = read_bundle(folder)
            except BundleError as error:
                if name is not None or (known := self._take(folder.name)) is None:
                    raise
                self._stamps[folder.name] = stamp
                log.warning("%s New sessions begin with the version before.", error)
                return known
            self._stamps[folder.name] = stamp
            if (known := self._take(folder.name, bundle)) is not None:
                return known
            self._make_room(folder.name)
            networks = self._start(bundle)
            self._put(folder.name, bundle, networks)
            return bundle, networks

    def release(self, networks: Networks) -> None:
        """A session does not need them any more; with the last, memory of large batches is given back.

        Those of a bundle that was exported anew are stopped then.
        """
        with self._lock:
            self._uses[id(networks)] -= 1
            is_over = self._uses[id(networks)] <= 0
            if is_over:
                del self._uses[id(networks)]
            retired = [one for one in self._retired if one is networks] if is_over else []
            self._retired = [one for one in self._retired if one not in retired]
        for one in retired:
            _stop(one)
        if is_over and networks.head is not None:
            networks.head.shrink()

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

    def _take(self, name: str, bundle: Bundle | None = None) -> tuple[Bundle, Networks] | None:
        """What is open under a name, from now on in use; nothing where that is not `bundle` as it lies on disk now."""
        with self._lock:
            known = self._open.get(name)
            if known is None or (bundle is not None and fingerprint(known[0]) != fingerprint(bundle)):
                return None
            self._uses[id(known[1])] += 1
            return known

    def _put(self, name: str, bundle: Bundle, networks: Networks) -> None:
        """Networks newly started, in use; those that had the name are stopped, once nobody needs them."""
        with self._lock:
            earlier = self._open.get(name)
            self._open[name] = bundle, networks
            self._uses[id(networks)] += 1
            is_needed = earlier is not None and self._uses[id(earlier[1])] > 0
            if earlier is not None and is_needed:
                self._retired.append(earlier[1])
        if earlier is not None and not is_needed:
            _stop(earlier[1])

    def _make_room(self, name: str) -> None:
        with self._lock:
            if name in self._open or len(self._open) < MOST_BUNDLES:
                return
            idle = [one for one, (_, found) in self._open.items() if one != self.default and not self._uses[id(found)]]
            if not idle:
                raise InputError(f"{MOST_BUNDLES} bundles are in use, no more can be loaded: end a session first.")
            _, networks = self._open.pop(idle[0])
        _stop(networks)


def _stamp(folder: Path) -> tuple[int, ...]:
    """Changes when a bundle is exported anew."""
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _stop(networks: Networks) -> None:
    for model in (networks.trunk, networks.head):
        if isinstance(model, BatchedTrunk | BatchedHead):
            model.batcher.close()
