"""All sessions of the server: started on a source with a bundle, found, ended, and kept for a while to be shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from guide.errors import InputError
from guide.ingest.base import FrameSource, SourceNotice
from guide.ingest.capture import CaptureSettings
from guide.ingest.live import LiveSource
from guide.ingest.pushed import Headsets, PushedFrames
from guide.ingest.source import SourceOptions, open_source
from guide.recording import Recording, RecordingOptions, SourceFacts, name_session, recorded
from guide.serve.library import Library
from guide.serve.metrics import Metrics
from guide.serve.run import Run, RunFacts
from guide.session import Session
from guide.settings import LiveSettings

HEADSET = "headset:"
LONGEST_NAME = 64
LONGEST_SOURCE = 2_000
MOST_FINISHED = 32
MOST_STILLS = 1_000  # a second: no folder holds more


class FullError(InputError):
    """The server runs as many sessions as it may.

    >>> str(FullError("32 sessions run, no more are taken."))
    '32 sessions run, no more are taken.'
    """


class TakenError(InputError):
    """A headset of this name has a session already.

    >>> str(TakenError("headset:helmet has a session already."))
    'headset:helmet has a session already.'
    """


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A client's request for a new session.

    >>> SessionRequest("headset: helmet").client
    'helmet'
    """

    source: str
    bundle: str | None = None
    """The name of its folder among the bundles of the server; without it, the one the server was started with."""
    person: str = ""
    rate: float | None = None
    """How many stills of a folder there are in a second."""
    realtime: bool = True
    """Whether a recording is played at its own speed."""

    @property
    def client(self) -> str | None:
        return self.source.removeprefix(HEADSET).strip() if self.source.startswith(HEADSET) else None


def read_session_request(plain: Mapping[str, Any]) -> SessionRequest:
    """The session that a client asks for; InputError with one sentence where the request is invalid.

    >>> read_session_request({"source": "0", "person": "shift 2"}).person
    'shift 2'
    """
    known = {"source", "bundle", "person", "rate", "realtime"}
    if strange := sorted(str(key)[:40] for key in plain if key not in known):
        raise InputError(f"a session has the fields {', '.join(sorted(known))}, got {strange[0]!r} as well.")
    rate, realtime, bundle = plain.get("rate"), plain.get("realtime", True), plain.get("bundle")
    if rate is not None and (type(rate) not in (int, float) or not 0 < rate <= MOST_STILLS):
        raise InputError(f"rate is a number of pictures a second, up to {MOST_STILLS}, got {rate!r:.40}.")
    if not isinstance(realtime, bool):
        raise InputError(f"realtime is true or false, got {realtime!r:.40}.")
    return SessionRequest(
        read_text(plain, "source", LONGEST_SOURCE),
        None if bundle is None else read_text(plain, "bundle", LONGEST_SOURCE),
        read_text(plain, "person", LONGEST_NAME) if "person" in plain else "",
        None if rate is None else float(rate),
        realtime,
    )


def read_text(plain: Mapping[str, Any], name: str, longest: int) -> str:
    """A text of one line that may be shown: nothing in it that a terminal or page would obey."""
    value = plain.get(name)
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise InputError(f"{name} is one line of up to {longest} characters, got {value!r:.40}.")
    return value.strip()


class Runs:
    """Starts, finds and ends sessions; safe to call from any thread."""

    def __init__(
        self, library: Library, live: LiveSettings, recording: RecordingOptions, metrics: Metrics, most: int = 32,
        capture: CaptureSettings | None = None,
    ) -> None:  # fmt: skip
        self.library, self.metrics = library, metrics
        self._live, self._recording, self._most = live, recording, most
        self._capture = capture or CaptureSettings()
        self._headsets = Headsets()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._starting: list[str | None] = []  # the clients whose session is being made
        self._is_closed = False

    def all(self) -> tuple[Run, ...]:
        """Running and newly finished ones, oldest first."""
        with self._lock:
            return tuple(self._runs.values())

    def running(self) -> tuple[Run, ...]:
        return tuple(run for run in self.all() if not run.is_over)

    def find(self, name: str) -> Run | None:
        with self._lock:
            return self._runs.get(name)

    def of_client(self, client: str) -> Run | None:
        """The running session of a headset."""
        return next((run for run in self.running() if run.facts.client == client), None)

    def start(self, request: SessionRequest) -> Run:
        """A new session; FullError where there are enough, TakenError where the headset has one already."""
        self._reserve(request)
        try:
            run = self._make(request)
            with self._lock:
                self._runs[run.facts.id] = run
                self._forget_old()
                is_late = self._is_closed
        finally:
            with self._lock:
                self._starting.remove(request.client)
        if is_late:  # it was being made while all others were ended
            run.end()
        run.start()
        return run

    def _reserve(self, request: SessionRequest) -> None:
        with self._lock:
            running = [run.facts.client for run in self._runs.values() if not run.is_over] + self._starting
            if self._is_closed or len(running) >= self._most:
                raise FullError(
                    f"{len(running)} sessions run, no more than {self._most} are taken: end one or try later."
                )
            if request.client is not None and request.client in running:
                raise TakenError(f"{request.source} has a session already: end that one first.")
            self._starting.append(request.client)

    def close(self) -> None:
        """Ends all sessions properly, all at the same time."""
        with self._lock:
            self._is_closed = True
        running = self.running()
        for run in running:
            run.end()
        for run in running:
            run.join()

    def _make(self, request: SessionRequest) -> Run:
        with ExitStack() as held:  # what was taken is given back where the session cannot be made
            bundle, networks = self.library.open(request.bundle)
            held.callback(self.library.release, networks)
            notes = _Notes()
            session = Session(bundle, networks, self._live)
            source = self._open(request, notes)
            if request.client is not None:
                held.callback(self._headsets.remove, request.client)  # names come from outside: they must not pile up
            live = source.is_live
            gauge = (lambda: asdict(source.health())) if isinstance(source, LiveSource | PushedFrames) else None
            options = replace(self._recording, person=request.person or self._recording.person)
            kept, recording, name = self._record(session, options, SourceFacts(source.name, live, gauge), notes)
            held.enter_context(kept)
            folder = options.data / name if recording is not None and options.record and options.pictures else None
            facts = RunFacts(
                name, source.name, bundle.folder.name, options.person, request.client, request.realtime and not live,
                networks.provider, networks.precision, networks.reason, folder,
            )  # fmt: skip
            notes.run = run = Run(facts, session, source, self.metrics, recording)
            run.held.enter_context(held.pop_all())
            return run

    def _record(
        self, session: Session, options: RecordingOptions, source: SourceFacts, notes: _Notes
    ) -> tuple[ExitStack, Recording | None, str]:
        """A recording that has begun, if one is wanted, and a name that no other session here has."""
        while True:
            held = ExitStack()
            recording = held.enter_context(recorded(session, options, source, notes.warn))
            name = name_session(time.time()) if recording is None else recording.name
            if self.find(name) is None:
                return held, recording, name
            held.close()  # one that has heard nothing leaves no trace

    def _open(self, request: SessionRequest, notes: _Notes) -> FrameSource:
        if request.client is not None:
            return self._headsets.register(read_client(request.client), self._capture, notes.hear)
        return open_source(request.source, SourceOptions(request.rate, self._capture, self._headsets), notes.hear)

    def _forget_old(self) -> None:
        finished = [name for name, run in self._runs.items() if run.is_over]
        for name in finished[: max(0, len(finished) - MOST_FINISHED)]:
            del self._runs[name]


def read_client(name: object) -> str:
    """The name of a headset, fit to be shown and to be part of an address.

    >>> read_client(" helmet ")
    'helmet'
    """
    client = read_text({"client": name}, "client", LONGEST_NAME)
    if not client:
        raise InputError("client is the headset's name, nothing came.")
    return client


class _Notes:
    """Passes on what is told of a source, which is opened before its session is."""

    def __init__(self) -> None:
        self.run: Run | None = None

    def hear(self, notice: SourceNotice) -> None:
        if self.run is not None:
            self.run.note(notice)

    def warn(self, words: str) -> None:
        if self.run is not None:
            self.run.warn(words)
