"""All sessions of the server: started on a source with a bundle, found, ended, and kept for a while to be shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

import msgspec

from guide.bundle import Bundle
from guide.errors import InputError
from guide.ingest.base import NO_PICTURES, FrameSource, SourceNotice
from guide.ingest.capture import CaptureSettings
from guide.ingest.live import LiveSource
from guide.ingest.pushed import Headsets, PushedFrames
from guide.ingest.source import SourceOptions, open_source
from guide.networks import Networks
from guide.record.keeping import read_keeping
from guide.record.shipping import Shipper
from guide.recording import Recording, RecordingOptions, SourceFacts, name_session, recorded, session_facts
from guide.resuming import RESUME_S, Earlier, resume
from guide.serve.library import Library
from guide.serve.metrics import Metrics
from guide.serve.run import Run, RunFacts
from guide.serve.schemas import HEADSET, LONGEST_NAME, SessionRequest
from guide.session import Session
from guide.settings import LiveSettings
from guide.validation import misfit

MOST_FINISHED = 32


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


def read_session_request(plain: Mapping[str, Any]) -> SessionRequest:
    """The session that a client asks for; InputError with one sentence where it asks for nonsense.

    >>> read_session_request({"source": "0", "person": "shift 2"}).person
    'shift 2'
    """
    try:
        wish = msgspec.convert(plain, SessionRequest)
    except msgspec.ValidationError as error:
        raise InputError(f"a session cannot be started: {misfit(error, plain)}.") from error
    texts = {name: text for name in ("source", "bundle", "person") if (text := getattr(wish, name)) is not None}
    for name, text in texts.items():
        if not text.isprintable():  # a terminal or page would obey it
            raise InputError(f"{name} is one line of characters that can be shown, got {text!r:.40}.")
    return msgspec.structs.replace(wish, **{name: text.strip() for name, text in texts.items()})


class Runs:
    """Starts, finds and ends sessions; safe to call from any thread."""

    def __init__(
        self, library: Library, live: LiveSettings, recording: RecordingOptions, metrics: Metrics, most: int = 32,
        capture: CaptureSettings | None = None,
    ) -> None:  # fmt: skip
        self.library, self.metrics = library, metrics
        self.shipper: Shipper | None = None
        """What ships the records, where they lie in a database elsewhere."""
        self._live, self._recording, self._most = live, recording, most
        self._capture = capture or CaptureSettings()
        self._headsets = Headsets()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._starting: list[str | None] = []  # the clients whose session is being made
        self._resuming = threading.Lock()  # one after another: they would only get into each other's way
        self._is_closed = False
        self._began = time.monotonic()

    def records_trouble(self) -> str:
        """Why records wait on this machine's disk just now, if they do."""
        return "" if self.shipper is None else self.shipper.trouble

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

    def start(self, request: SessionRequest, machine: str | None = None) -> Run:
        """A new session; FullError where there are enough, TakenError where the headset has one already.

        A stream's address leads to the `machine` of that number, if one is given.
        """
        self._reserve(request)
        try:
            run = self._make(request, machine)
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

    def _make(self, request: SessionRequest, machine: str | None) -> Run:
        with ExitStack() as held:  # what was taken is given back where the session cannot be made
            bundle, networks = self.library.open(request.bundle)
            held.callback(self.library.release, networks)
            notes = _Notes()
            running = Networks() if request.source == NO_PICTURES else networks
            options = self._recording.heeding(read_keeping(self._recording.data))
            options = replace(options, person=request.person or options.person)
            earlier = self._resume(request, bundle, running, options)
            session = Session(bundle, running, self._live) if earlier is None else earlier.session
            source = self._open(request, notes, 0.0 if earlier is None else earlier.at, machine)
            if request.client is not None:
                held.callback(self._headsets.remove, request.client)  # names come from outside: they must not pile up
            live = source.is_live
            slow = session.keep_up() if live else ""
            gauge = (lambda: asdict(source.health())) if isinstance(source, LiveSource | PushedFrames) else None
            about = SourceFacts(source.name, live, gauge)
            kept, recording, name = self._record(session, options, about, notes, earlier)
            held.enter_context(kept)
            folder = options.data / name if recording is not None and options.record and options.pictures else None
            facts = RunFacts(
                name, source.name, bundle.folder.name, options.person, request.client, request.realtime and not live,
                running.provider, running.precision, " ".join(filter(None, (running.reason, slow))), folder,
            )  # fmt: skip
            if earlier is not None:
                facts = replace(facts, started=earlier.stored.facts.started)
            notes.run = run = Run(facts, session, source, self.metrics, recording, self.records_trouble)
            if earlier is not None:
                run.go_on(earlier)
            run.held.enter_context(held.pop_all())
            return run

    def _resume(
        self, request: SessionRequest, bundle: Bundle, networks: Networks, options: RecordingOptions
    ) -> Earlier | None:
        """Where a headset's session stood when its server, this or another of the fleet, was killed a moment ago."""
        now, source = time.time(), HEADSET + (request.client or "")
        is_early = options.is_fleet or time.monotonic() - self._began <= RESUME_S
        if request.client is None or not options.record or not is_early:
            return None
        with self._resuming:
            return resume(
                options.data, options.records, source, now, lambda: Session(bundle, networks, self._live),
                lambda session: session_facts(name_session(now), now, session, options, source), options.is_fleet,
            )  # fmt: skip

    def _record(
        self, session: Session, options: RecordingOptions, source: SourceFacts, notes: _Notes, earlier: Earlier | None
    ) -> tuple[ExitStack, Recording | None, str]:
        """A recording that has begun, if one is wanted, and a name that no other session here has.

        One that goes on keeps its name, though this server may still show how it ended here.
        """
        while True:
            held = ExitStack()
            recording = held.enter_context(recorded(session, options, source, notes.warn, earlier))
            name = name_session(time.time()) if recording is None else recording.name
            if earlier is not None or self.find(name) is None:
                return held, recording, name
            held.close()  # one that has heard nothing leaves no trace

    def _open(self, request: SessionRequest, notes: _Notes, begin: float, machine: str | None) -> FrameSource:
        if request.client is not None:
            return self._headsets.register(read_client(request.client), self._capture, notes.hear, begin)
        options = SourceOptions(request.rate, self._capture, self._headsets, machine)
        return open_source(request.source, options, notes.hear)

    def _forget_old(self) -> None:
        finished = [name for name, run in self._runs.items() if run.is_over]
        for name in finished[: max(0, len(finished) - MOST_FINISHED)]:
            del self._runs[name]


def read_client(name: object) -> str:
    """The name of a headset, fit to be shown and to be part of an address.

    >>> read_client(" helmet ")
    'helmet'
    """
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not name.isprintable() or not name.strip():
        raise InputError(f"client is the headset's name in up to {LONGEST_NAME} characters, got {name!r:.40}.")
    return name.strip()


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
