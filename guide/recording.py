"""A session's recording: hears all that happens in it and hands it to the store, the pictures and the webhook."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import tyro

from guide import wire
from guide.bundle import fingerprint
from guide.domain import Alert, Frame, Guidance, Resolution, Update
from guide.perceive.perceiver import Percept
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.ending import judge
from guide.procedure.export import to_plain
from guide.record.keeping import Keeping
from guide.record.pictures import PictureSettings, PictureWriter
from guide.record.shipping import find_address, open_for_writing
from guide.record.values import (
    HealthSample,
    Row,
    SessionFacts,
    SessionState,
    StoredAction,
    StoredOutcome,
    StoredPercept,
)
from guide.record.webhook import Webhook, check_address
from guide.record.writer import SessionWriter
from guide.resuming import Earlier
from guide.session import Session

log = logging.getLogger(__name__)

SAMPLE_S = 10.0
Gauge = Callable[[], Mapping[str, float]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class RecordingOptions:
    """What is kept of a session, and who hears of its alerts."""

    record: bool = False
    """Record the session: labels, steps, alerts, actions, and what an exact replay needs."""
    data: Path = Path("sessions")
    """The folder of the sessions."""
    person: str = ""
    """Who does the work; stored with the session."""
    pictures: bool = True
    """Store pictures: the video, and a still of each step and alert. With --no-pictures none is ever stored."""
    video: bool = True
    """Store the video; stills are stored with --no-video too."""
    keep_days: float = 30.0
    """Days after which the pictures and the replay data of the session are deleted; 0 never deletes them."""
    keep_gb: float = 0.0
    """Gigabytes that all sessions together may take; the oldest pictures are deleted first. 0 means no limit."""
    webhook: str | None = None
    """An http or https address to which each alert is posted as JSON."""
    is_fleet: tyro.conf.Suppress[bool] = False
    """Whether other machines may have to go on with the session."""
    records: str | None = field(default=None, repr=False)  # it may hold a password
    """Keep the records in PostgreSQL, postgresql://USER@HOST/DATABASE; pictures stay in the folder. Without it the
    environment variable CNC_RECORDS gives the address, else records are in SQLite in the folder."""

    def heeding(self, keeping: Keeping | None) -> RecordingOptions:
        """The same with what the dashboard was told for the folder; pictures are kept where both say so."""
        if keeping is None:
            return self
        pictures = self.pictures and keeping.pictures
        return replace(self, keep_days=keeping.keep_days, keep_gb=keeping.keep_gb, pictures=pictures)

    def __post_init__(self) -> None:
        Keeping(self.keep_days, self.keep_gb)  # refuses what is no number of days or gigabytes
        object.__setattr__(self, "person", _text(self.person))  # it is stored, sent and shown with every action
        if self.webhook is not None:
            check_address(self.webhook)
        object.__setattr__(self, "records", find_address(self.records))


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a recording should know of the source: a name without secrets, whether it is live, how it fares."""

    name: str
    is_live: bool = False
    gauge: Gauge | None = None


def name_session(started: float) -> str:
    """A new name, by the time of day where the machine stands."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(started))}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class ClosedRecording:
    """A closed recording, to which answers to its alerts can still be added."""

    data: Path
    name: str
    frames: int
    at: float
    why_not: str
    """Why what was done cannot be judged, if so."""
    records: str | None = field(default=None, repr=False)

    def add(self, action: Action, said: tuple[Guidance, ...], tracker: AttendedTracker) -> None:
        """Stores an answer and what follows from it; raises OutputError where the disk refuses."""
        now = time.time()
        rows = [_stored(action, now, self.frames + 1), *said, _outcome(tracker, self.why_not)]
        with open_for_writing(self.data, self.name, self.records, is_new=False) as store:
            store.write(self.name, rows, self.frames, self.at, now)


class Recording:
    """Listens to a session and keeps it. `name` is the session's, to be found again with `python -m guide sessions`."""

    def __init__(
        self, session: Session, options: RecordingOptions, source: SourceFacts, tell: Tell,
        earlier: Earlier | None = None,
    ) -> None:  # fmt: skip
        """One that goes on with what was stored `earlier`, if that is given."""
        started = time.time()
        stored = None if earlier is None else earlier.stored
        self.name = name_session(started) if stored is None else stored.id
        self._session, self._source = session, source
        self._frames, self._at = (0, 0.0) if stored is None else (stored.frames, stored.at)
        self._sampled_at = self._at
        self._began = time.monotonic() - (0.0 if earlier is None else earlier.at)
        self.is_finished = False
        self._alerts = {alert.id for alert in earlier.contents.alerts} if earlier is not None else set[int]()
        self._writer: SessionWriter | None = None
        self._pictures: PictureWriter | None = None
        self._webhook = Webhook(options.webhook, tell=tell) if options.webhook else None
        self._person, self._data, self._records = options.person, options.data, options.records
        if options.record:
            facts = session_facts(self.name, started, session, options, source.name)
            self._writer = writer = SessionWriter(
                options.data, facts, tell=tell, most_bytes=options.keep_gb * 1e9, resumed=stored,
                open_store=lambda folder: open_for_writing(folder, self.name, options.records),
                is_shared=options.is_fleet and options.records is not None,
            )  # fmt: skip
            if earlier is not None:
                self.note(
                    earlier.at, f"the server was killed; the session goes on after {earlier.at - self._at:.0f} s."
                )
            if options.pictures and session.bundle.has("trunk.onnx"):
                settings = PictureSettings(has_video=options.video, is_patient=not source.is_live)
                taken = () if earlier is None else earlier.contents.pictures
                self._pictures = PictureWriter(
                    writer.folder, lambda picture: writer.put(picture), settings, tell, taken
                )

    @property
    def closed(self) -> ClosedRecording | None:
        """Takes answers after the end; None if nothing is stored."""
        if self._writer is None:
            return None
        why_not = self._session.why_not_judged
        return ClosedRecording(self._data, self.name, self._frames, self._at, why_not, self._records)

    @property
    def trouble(self) -> str:
        """Why nothing can be stored just now, in a sentence; nothing when all is well."""
        return self._writer.trouble if self._writer is not None else ""

    def saw(self, frame: Frame) -> None:
        if self._pictures is not None:
            self._pictures.push(frame)

    def perceived(self, percept: Percept, updates: tuple[Update, ...]) -> None:
        seen = StoredPercept(self._frames, percept.at, percept.embedding)
        self._frames, self._at = self._frames + 1, percept.at
        if self._writer is not None:
            self._writer.put(seen, *_rows(updates), frames=self._frames, at=percept.at)
            self._sample()
        self._show(updates)

    def acted(self, action: Action, said: tuple[Guidance, ...]) -> None:
        if self._writer is not None:
            # What comes after the end comes after one frame more than there are.
            after = self._frames + (1 if self.is_finished else 0)
            outcome = [self._outcome()] if self.is_finished else []
            self._writer.put(_stored(action, time.time(), after), *said, *outcome)
        self._tell_alerts(said)

    def finished(self, updates: tuple[Update, ...]) -> None:
        self.is_finished = True
        if self._writer is not None:
            rows = _rows(updates)  # none where no frame ever came: such a session leaves no trace
            self._writer.put(*rows, *([self._outcome()] if rows else []))
        self._show(updates)

    def note(self, at: float, words: str) -> None:
        """Keeps a note on how the session fares, such as a camera that was lost."""
        if self._writer is not None:
            self._writer.put(HealthSample(at, time.time(), words))

    def close(self, state: SessionState = "finished") -> None:
        """Ends the recording; raises OutputError where something could not be stored."""
        self._session.listener = None
        with (
            ExitStack() as ending
        ):  # the other way round: the store hears of the last pictures, and waits for no network
            if self._webhook is not None:
                ending.callback(self._webhook.close)
            if self._writer is not None:
                ending.callback(self._writer.close, state)
            if self._pictures is not None:
                ending.callback(self._pictures.close)

    def _outcome(self) -> StoredOutcome:
        return _outcome(self._session.tracker, self._session.why_not_judged)

    def _show(self, updates: tuple[Update, ...]) -> None:
        """Asks for pictures of what became known, and posts alerts."""
        for update in updates:
            for event in update.events:
                if event.state == "confirmed" and self._pictures is not None:
                    self._pictures.want("step", event.step, event.at)
            self._tell_alerts(update.guidance)

    def _tell_alerts(self, said: tuple[Guidance, ...]) -> None:
        for one in said:
            if isinstance(one, Alert) and self._pictures is not None and one.id not in self._alerts:
                self._pictures.want("alert", one.id, one.at)
            if isinstance(one, Alert):
                self._alerts.add(one.id)
            is_told = isinstance(one, Alert) or (isinstance(one, Resolution) and one.id in self._alerts)
            if self._webhook is not None and is_told:
                plain = wire.guidance_object(one, self._session.procedure)
                self._webhook.post({**plain, **self._about()})

    def _about(self) -> dict[str, Any]:
        return {
            "session": self.name,
            "person": self._person,
            "bundle": _text(self._session.bundle.folder.name),
            "source": _text(self._source.name),
        }

    def _sample(self) -> None:
        """How the session fares, now and then."""
        if self._writer is None or self._at - self._sampled_at < SAMPLE_S:
            return
        self._sampled_at = self._at
        values: dict[str, float] = {"frames": self._frames, "waiting": self._writer.kept}
        if self._source.is_live:
            values["behind_s"] = round(time.monotonic() - self._began - self._at, 3)
        if self._pictures is not None:
            values["pictures_dropped"] = self._pictures.dropped
        if self._source.gauge is not None:
            values |= self._source.gauge()
        self._writer.put(HealthSample(self._at, time.time(), values=json.dumps(values)))


@contextmanager
def recorded(
    session: Session, options: RecordingOptions, source: SourceFacts, tell: Tell = log.warning,
    earlier: Earlier | None = None,
) -> Iterator[Recording | None]:  # fmt: skip
    """Within it the session is recorded, if that is wanted; it ends as finished only where its end was judged."""
    if not options.record and not options.webhook:
        yield None
        return
    recording = Recording(session, options, source, tell, earlier)
    session.listener = recording
    try:
        yield recording
    finally:
        recording.close("finished" if recording.is_finished and not session.is_cut_off else "interrupted")


def session_facts(name: str, started: float, session: Session, options: RecordingOptions, source: str) -> SessionFacts:
    """What a session is stored under."""
    return SessionFacts(
        id=name,
        started=started,
        person=options.person,
        bundle=_text(str(session.bundle.folder)),
        bundle_hash=fingerprint(session.bundle),
        source=_text(source),
        settings=json.dumps({**asdict(session.settings), "precision": session.precision}),
        procedure=json.dumps(to_plain(session.procedure)),
        keep_days=options.keep_days or None,
    )


def _text(words: str) -> str:
    """Words that can be stored and sent: a file's name may hold bytes that are no letters, which become question marks.

    >>> _text("vid\\udce9o.mp4")
    'vid?o.mp4'
    """
    return words.encode("utf-8", "replace").decode()


def _rows(updates: tuple[Update, ...]) -> list[Row]:
    return [row for update in updates for row in (update.label, *update.events, *update.guidance)]


def _outcome(tracker: AttendedTracker, why_not: str) -> StoredOutcome:
    """What the tracker holds as done, and the verdict; a turn at a step that a person called not done is none."""
    state, ending = tracker.state, judge(tracker, why_not)
    turns = [visit for visit in state.visits if visit.step not in state.denied]
    visits = [[one.step, round(one.start, 3), round(one.end, 3), round(one.busy_s, 3)] for one in turns]
    return StoredOutcome(state.at, json.dumps(tracker.progress.done), json.dumps(visits), ending.kind, ending.words)


def _stored(action: Action, wall: float, after: int) -> StoredAction:
    return StoredAction(
        action.number,
        action.at,
        wall,
        after,
        action.kind,
        action.target,
        action.step,
        action.answer,
        action.snooze_s,
        action.person,
        action.comment,
    )
