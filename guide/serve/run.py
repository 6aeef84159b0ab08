"""One session in the server: a thread follows its source; clients read its state, act on it and listen to it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from guide import wire
from guide.domain import Alert, Frame, Guidance, Question, Update
from guide.errors import GuideError, InputError
from guide.ingest.base import FrameSource, SourceNotice
from guide.ingest.live import LiveSource
from guide.ingest.mailbox import SourceHealth
from guide.ingest.pushed import PushedFrames
from guide.ingest.source import tell_cut_off
from guide.perceive.region import Region
from guide.procedure.actions import Action, read_action
from guide.recording import Recording
from guide.resuming import Earlier
from guide.serve.closed_session import ClosedSession
from guide.serve.memory import give_back
from guide.serve.metrics import Metrics
from guide.serve.picture import annotated_jpeg, framed, plain_jpeg
from guide.serve.playback import PacedPlayback
from guide.serve.schemas import RunState
from guide.serve.state import Plain, guidance_object, state_object, steps_object
from guide.serve.tokens import Identity
from guide.session import Session
from guide.settings import Precision

log = logging.getLogger(__name__)

MOST_NOTICES = 20
NEWEST_VISITS = 6  # that a phone shows of the order of work; all of it at the end
MOST_TIMES = 256  # of the newest frames, for the median and the slowest
MOST_STILLS = 9
MOST_ACTIONS = 5_000  # of a session, 7.5 MB: a headset's token takes some too
JOIN_S = 20.0  # longer than a recording waits for a disk that refuses

Fate = Literal["seen", "passed", "dropped", "damaged", "refused"]


class SessionListener(Protocol):
    """Receives what a session says; called in the session's thread, so it must not block."""

    def on_message(self, text: str) -> None: ...

    def on_frame(self, at: float, fate: Fate) -> None: ...

    def on_end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a session is about.

    >>> RunFacts("20300102-030405-00ff", "headset:helmet", "demo").client is None
    True
    """

    id: str
    source: str
    bundle: str
    person: str = ""
    client: str | None = None
    """The headset's name, if it is one."""
    keeps_pace: bool = False
    """Whether a recording is shown at its own speed."""
    provider: str = ""
    """What runs the networks."""
    precision: Precision = "float"
    """How precisely."""
    reason: str = ""
    """Why a wanted accelerator does not, or two looks take turns, or nothing."""
    folder: Path | None = None
    """Where its pictures are kept, if they are."""
    started: float = field(default_factory=time.time)


class Run:
    """Follows a source with a session until it ends; `end` ends it. What it says goes to its listeners, in order."""

    def __init__(
        self, facts: RunFacts, session: Session, source: FrameSource, metrics: Metrics,
        recording: Recording | None = None, records_trouble: Callable[[], str] = str,
    ) -> None:  # fmt: skip
        """`records_trouble` says what is wrong with the way of the records to a database elsewhere, if anything is."""
        self.facts = facts
        self.state: RunState = "running"
        self.problem = ""
        self._session, self._source, self._metrics = session, source, metrics
        self._bundle, self._tracker = session.bundle, session.tracker
        self._recording = recording
        self._records_trouble, self._was_recorded = records_trouble, "off"
        self._closed: ClosedSession | None = None
        self.held = ExitStack()
        """What is closed with the session, its recording above all."""
        self._lock = threading.Lock()  # frames and actions come from different threads; an undo may hold it for seconds
        self._listening = threading.Lock()  # held for a moment only: the event loop takes it
        self._listeners: tuple[SessionListener, ...] = ()
        self._frame: Frame | None = None
        self._region: Region | None = None  # where the second look went last, if it is to be shown
        self._packed: dict[bool, tuple[int, bytes]] = {}  # with words on it, and without
        self._notices: deque[Plain] = deque(maxlen=MOST_NOTICES)
        self._alerts: dict[int, str] = {}
        self.processed = self._steps = 0
        self._dropped = 0
        self._times_s: deque[float] = deque(maxlen=MOST_TIMES)
        self._taken_at: float | None = None
        self._at = 0.0
        self._stop = threading.Event()
        self._is_cut = False
        self._playback = PacedPlayback(self._stop)
        self.begun = threading.Event()
        """Set once the first frame has come, or it is known that none will."""
        self._shown = state_object(session)
        self.steps = [{**one, "stills": len(self._stills(one["step"]))} for one in steps_object(session.procedure)]
        self.rate = session.perceiver.rate
        self._thread = threading.Thread(target=self._work, name=f"session {facts.id}", daemon=True)

    @property
    def is_over(self) -> bool:
        return self.state != "running"

    @property
    def standing(self) -> int:
        """How many alerts stand."""
        return len(self._shown["alerts"])

    @property
    def source(self) -> FrameSource:
        return self._source

    def go_on(self, earlier: Earlier) -> None:
        """Counts what was before the server was killed; to be called before it starts."""
        self.processed = earlier.stored.frames
        self._at = earlier.stored.at
        self._steps = sum(event.state == "confirmed" for event in earlier.contents.steps)
        self._alerts = {alert.id: alert.kind for alert in earlier.contents.alerts}
        self._notice(earlier.at, "resumed", "the server was killed; the session goes on where it stood.")

    def start(self) -> None:
        self._thread.start()

    def add_listener(self, listener: SessionListener) -> None:
        with self._listening:
            self._listeners = (*self._listeners, listener)

    def remove_listener(self, listener: SessionListener) -> None:
        with self._listening:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

    def end(self, is_cut: bool = False) -> None:
        """Asks for a proper end: the frames end, the whole is judged, the recording is closed.

        What is cut is not judged, for much of it is lacking: somebody only wants to begin anew.
        """
        self._is_cut = is_cut
        self._stop.set()
        self._playback.set_paused(False)
        if isinstance(self._source, PushedFrames):
            self._source.end()
        elif self._source.is_live:  # a file is closed by the thread that reads it
            self._source.close()

    def join(self, timeout_s: float = JOIN_S) -> None:
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def act(self, plain: Mapping[str, Any], identity: Identity) -> Plain:
        """Takes an operator's action; InputError with one sentence where it makes no sense or comes too late.

        It is stored under the person's name and that of the token.
        """
        with self._lock:
            if len(self._tracker.actions) >= MOST_ACTIONS:
                raise InputError(f"{MOST_ACTIONS} actions were taken in this session: start another one.")
            action = read_action(plain, self._at, self.facts.person)
            action = replace(action, person=identity.signed(action.person))
            if self.is_over:
                return self._answer(action)
            said = self._session.act(action)
            self._metrics.count("guide_actions_total", kind=action.kind)
            taken = wire.action_object(self._session.tracker.actions[-1])
            self._shown = state_object(self._session)  # first: who hears of it looks at it at once
            self._say(wire.dump(taken))
            self._tell(said)
            self._playback.set_paused(bool(self._shown["paused"]))  # a recording that is played stands still meanwhile
        return taken

    def _answer(self, action: Action) -> Plain:
        """Takes an answer to an alert when all is over; the lock is held."""
        if self._closed is None:
            raise InputError("this session is over: start another one.")
        said = self._closed.act(action)
        self._metrics.count("guide_actions_total", kind=action.kind)
        self._shown = {**self._shown, **self._closed.shown()}
        taken = wire.action_object(self._closed.tracker.actions[-1])
        self._say(wire.dump(taken))
        self._tell(said)
        self._say(wire.dump(self._summary()))
        return taken

    def note(self, notice: SourceNotice) -> None:
        """What happened to the source; told in the session's own thread."""
        self._notice(notice.at, notice.kind, notice.text)
        if (recording := self._recording) is not None:
            recording.note(notice.at, f"{notice.kind}: {notice.text}")

    def warn(self, words: str) -> None:
        """What happened to the recording; told in any thread."""
        self._notice(self._at, "recording", words)

    def _notice(self, at: float, kind: str, text: str) -> None:
        self._metrics.count("guide_notices_total", kind=kind)
        plain = {"type": "notice", "at": round(at, 3), "kind": kind, "text": text}
        self._notices.append(plain)
        self._say(wire.dump(plain))

    def show(self) -> Plain:
        """Where the session stands, all that a page needs."""
        alerts = [{**one, "snapshot": self.snapshot(one["id"]) is not None} for one in self._shown["alerts"]]
        return {**self.show_in_memory(), "alerts": alerts}

    def show_in_memory(self) -> Plain:
        """Where the session stands, as far as no disk is read, which may hang."""
        facts = {"session": self.facts.id, "state": self.state, "problem": self.problem, "started": self.facts.started,
                 "source": self.facts.source, "bundle": self.facts.bundle, "person": self.facts.person,
                 "client": self.facts.client}  # fmt: skip
        return {**facts, **self._shown, "health": self._health()}

    def picture(self, has_words: bool = True) -> tuple[int, bytes] | None:
        """The newest picture, annotated or bare, and its number; encoded once, however many viewers ask for it."""
        frame, packed = self._frame, self._packed.get(has_words)
        if frame is None:
            return packed
        if packed is None or packed[0] != frame.number:
            image = frame.image if self._region is None else framed(frame.image, self._region)
            made = annotated_jpeg(image, self._shown) if has_words else plain_jpeg(image)
            packed = self._packed[has_words] = frame.number, made
        return packed

    def still(self, step: int, number: int) -> Path | None:
        """A picture of the step from the demonstrations; the first is number 1."""
        found = self._stills(step)
        return found[number - 1] if 0 < number <= len(found) else None

    def _stills(self, step: int) -> list[Path]:
        bundle = self._bundle
        names = [f"stills/{step:02d}_{number}.jpg" for number in range(1, MOST_STILLS + 1)]
        return [bundle.path(name) for name in names if bundle.has(name)]

    def snapshot(self, alert: int) -> Path | None:
        """The picture that was kept of an alert's moment, if one was."""
        found = [] if self.facts.folder is None else sorted(self.facts.folder.glob(f"still-*-alert-{alert}.jpg"))
        return found[-1] if found else None

    def health(self) -> SourceHealth:
        source = self._source
        return source.health() if isinstance(source, LiveSource | PushedFrames) else SourceHealth()

    @property
    def age_s(self) -> float:
        """How old the newest frame is that was looked at; it grows where none comes, until the session is over."""
        if self._taken_at is None or self.is_over or not self._source.is_live:
            return self.health().age_s
        return self.health().age_s + time.monotonic() - self._taken_at

    def _health(self) -> Plain:
        health = {name: round(value, 3) for name, value in asdict(replace(self.health(), age_s=self.age_s)).items()}
        times_s = sorted(self._times_s)
        speed = {f"p{share}_ms": _quantile_ms(times_s, share) for share in (50, 95)}
        return {**health, **speed, "provider": self.facts.provider, "precision": self.facts.precision,
                "reason": self.facts.reason,
                "processed": self.processed, "rate": self.rate, "is_live": self._source.is_live,
                "recording": self._is_recorded(),
                "notices": list(self._notices)}  # fmt: skip

    def _is_recorded(self) -> str:
        """Whether the session is being kept: `ok`, `off`, or what is wrong with it."""
        recording = self._recording  # it may be let go of in another thread
        return self._was_recorded if recording is None else recording.trouble or self._records_trouble() or "ok"

    def _work(self) -> None:
        try:
            for frame in self._source.frames(self._wants):
                if self.facts.keeps_pace:
                    self._playback.wait_for(frame.at)
                if self._stop.is_set() and not self._source.is_live:
                    break
                self._take(frame)
            if not self._is_cut:
                is_cut_off = tell_cut_off(self._source, self._at, self.note)
                with self._lock:
                    self._show(self._session.finish(is_cut_off))
            self._close("finished")
        except GuideError as error:
            self._close("failed", str(error))
        except Exception:  # our own fault: told in the log in full, to clients in one sentence
            log.exception("session %s broke off", self.facts.id)
            self._close("failed", "the session broke off by a fault of the program: see the server's log.")

    def _wants(self, at: float) -> bool:
        is_due = self._session.perceiver.is_due(at)
        if not is_due:
            self._handled(at, "passed")
        return is_due

    def _take(self, frame: Frame) -> None:
        if self._source.is_live:
            self._metrics.time("wait", max(0.0, self.health().age_s))
        began = self._taken_at = time.monotonic()
        self._frame = frame
        self.begun.set()
        # Networks take their time and touch nothing that an action would: nobody waits for them to act.
        percept = self._session.perceive(frame)
        self._region = percept.region if self._session.settings.show_region else None
        with self._lock:
            self._at = frame.at
            self._show(self._session.perceived(percept))
        self._times_s.append(time.monotonic() - began)
        self._metrics.time("see", self._times_s[-1])
        self.processed += 1
        self._metrics.count("guide_frames_processed_total")
        self._count_dropped()
        self._handled(frame.at, "seen")

    def _count_dropped(self) -> None:
        dropped = self.health().dropped
        if dropped > self._dropped:
            self._metrics.count("guide_frames_dropped_total", dropped - self._dropped, why="newer")
        self._dropped = dropped

    def _show(self, updates: tuple[Update, ...]) -> None:
        """Says what a frame led to; the lock is held."""
        for update in updates:
            self._steps += sum(event.state == "confirmed" for event in update.events)
            for event in update.events:
                self._say(wire.dump(wire.event_object(event, self._session.procedure)))
            self._tell(update.guidance)
        if updates:
            self._shown = state_object(self._session)
            self._say(wire.dump(self._where()))

    def _where(self) -> Plain:
        """The newest label with where the session stands: what a page shows between two events."""
        shown = self._shown
        return {"type": "now", "at": shown["at"], "step": shown["step"], "next": shown["next"][:3],
                "progress": shown["progress"], "timeline": shown["timeline"][-NEWEST_VISITS:],
                "paused": shown["paused"]}  # fmt: skip

    def _tell(self, said: tuple[Guidance, ...]) -> None:
        for one in said:
            if isinstance(one, Alert):
                if one.id not in self._alerts:
                    self._metrics.count("guide_alerts_total", kind=one.kind)
                self._alerts[one.id] = one.kind
            elif isinstance(one, Question):
                self._metrics.count("guide_questions_total")
            self._say(wire.dump(guidance_object(one, self._tracker)))

    def _say(self, text: str) -> None:
        for listener in self._listeners:
            listener.on_message(text)

    def _handled(self, at: float, fate: Fate) -> None:
        for listener in self._listeners:
            listener.on_frame(at, fate)

    def _close(self, state: RunState, problem: str = "") -> None:
        """Closes source and recording and tells everybody; whatever fails here is told as well."""
        with self._lock:  # an answer waits until all is stored, and is then added to it
            try:
                with self.held:
                    self._source.close()
            except GuideError as error:
                state, problem = "failed", f"{problem} {error}".strip()
            except Exception:
                log.exception("session %s could not be closed properly", self.facts.id)
                state, problem = "failed", problem or "the session could not be stored whole: see the server's log."
            self._packed.clear()  # what was said last shall stand on it
            self._packed = {has_words: kept for has_words in (True, False) if (kept := self.picture(has_words))}
            self._forget("Broken off by a fault" if state == "failed" else self._session.why_not_judged)
            self.state, self.problem = state, problem  # last: who sees that it is over sees the verdict too
        self.begun.set()
        if problem:
            log.warning("session %s: %s", self.facts.id, problem)
        self._say(wire.dump(self._summary()))
        for listener in self._listeners:
            listener.on_end()
        give_back()

    def _forget(self, why_not: str) -> None:
        """Lets go of all that was only needed while it ran: finished sessions are shown for a while, many of them."""
        self._frame = None
        closed = None if self._recording is None else self._recording.closed
        keep = None if closed is None else closed.add
        self._closed = ClosedSession(self._tracker, why_not, keep, self._session.endings)
        self._shown = {**self._shown, **self._closed.shown()}
        self._was_recorded, self._recording = self._is_recorded(), None
        del self._session

    def _summary(self) -> Plain:
        alerts = dict(sorted(Counter(self._alerts.values()).items()))
        return {"type": "summary", "frames": self.processed, "steps": self._steps, "alerts": alerts,
                "rate": self.rate, "state": self.state, "problem": self.problem,
                **{name: self._shown[name] for name in ("ending", "progress", "timeline")}}  # fmt: skip


def _quantile_ms(times_s: list[float], share: int) -> float | None:
    """Milliseconds within which so many percent of the frames were looked at; `times_s` are sorted."""
    return round(1e3 * times_s[min(len(times_s) * share // 100, len(times_s) - 1)], 1) if times_s else None
