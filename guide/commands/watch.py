"""`python -m guide watch`: follow one source and say what is being done, what comes next and what went wrong."""

from __future__ import annotations

import math
import shlex
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from guide import wire
from guide.bundle import read_bundle
from guide.commands.console import SourceConsole, ending_on_signals, print_line
from guide.commands.keys import OperatorKeys, is_at_terminal, reading_keys
from guide.domain import UNSURE_BELOW, Alert, Guidance, Question, Resolution, StepEvent, Update
from guide.errors import InputError, OutputError
from guide.ingest.base import NO_PICTURES, FrameSource
from guide.ingest.capture import CaptureSettings
from guide.ingest.live import LiveSource
from guide.ingest.source import SourceOptions, length_of, open_source, require_rate, tell_cut_off
from guide.ingest.streams import is_address
from guide.networks import Networks, start_networks
from guide.perceive.embedder import Device
from guide.procedure.actions import Action
from guide.procedure.ending import judge
from guide.procedure.explain import DOUBTFUL
from guide.procedure.model import Procedure
from guide.procedure.progress import Progress
from guide.procedure.tracker import only_asks
from guide.procedure.wording import title_of
from guide.record.picture_address import find_pictures
from guide.record.private_folder import require_writable_folder
from guide.record.retention import move_pictures
from guide.record.shipping import find_address, shipping
from guide.recording import Recording, RecordingOptions, SourceFacts, recorded
from guide.session import Session, follow_features
from guide.settings import LiveSettings

Row = NDArray[np.float32]  # (P,)

FEATURE_SUFFIXES = frozenset({".npy", ".npz"})
LEAST_SIDE = 16  # points of a picture: no hand can be made out in fewer
ENDING_STYLES = {"complete": "green", "look": "yellow", "not_complete": "bold red", "not_judged": None}
MARKS = {"alarm": "✖", "warning": "▲", "info": "●"}


@dataclass(frozen=True)
class WatchOptions:
    """Guide through a task on a recording or a camera: current step, next step, alerts."""

    source: Annotated[str, tyro.conf.Positional]
    """A video file, a folder of stills (with --rate), a camera (0 or name:...), an rtsp:// or http:// address,
    features (.npy with --rate, .npz with features and rate), or none: then the key d marks a step as done."""
    bundle: Path = Path("exported/demo")
    """The learned bundle."""
    rate: float | None = None
    """Stills or rows of features per second."""
    jsonl: bool = False
    """Print one JSON object per line instead of the terminal view."""
    emit_labels: bool = False
    """With --jsonl, also print every released label."""
    realtime: bool = False
    """Play a recording at its own pace instead of as fast as possible."""
    give_up_s: float = 60.0
    """The session ends when the camera or stream has been gone for this long."""
    device: Device = "auto"
    """Where to compute: auto, cpu or cuda."""
    live: Annotated[LiveSettings, tyro.conf.arg(name="")] = field(default_factory=LiveSettings)
    """How to recognise and when to speak."""
    recording: Annotated[RecordingOptions, tyro.conf.arg(name="")] = field(default_factory=RecordingOptions)
    """What to keep of the session."""


def main(options: WatchOptions) -> None:
    """Runs the command; Ctrl-C on a live source ends the session properly."""
    if options.recording.record:
        require_writable_folder(options.recording.data)
        find_pictures()  # an address that cannot be used is told before the work begins
    console = Console(highlight=False)
    source_console = SourceConsole(Console(stderr=options.jsonl, highlight=False), is_brief=options.jsonl)
    session, operator, updates = watch(options, source_console)
    view = JsonLines(console, session, options.emit_labels) if options.jsonl else Terminal(console, session)
    kept = options.recording
    with (
        shipping(kept.data, kept.records if kept.record else None, kept.keep_gb * 1e9, source_console.say),
        _recorded(options, session, source_console) as recording,
        ending_on_signals(source_console.source),
        _attended(operator, view, source_console),
    ):
        source_console.heard = None if recording is None else recording.note
        if session.is_by_hand and isinstance(view, Terminal):
            view.tell_next()
        for update in updates:
            view.show(update)
    source_console.end()
    view.end()
    if recording is not None and options.recording.record:
        try:
            move_pictures(options.recording.data, options.recording.records, recording.name)
        except OutputError as error:  # they stay in the folder until somebody can move them
            source_console.say(str(error))
        source_console.say(f"recorded as {recording.name}: python -m guide report {recording.name}{_data(options)}")


def _recorded(
    options: WatchOptions, session: Session, source_console: SourceConsole
) -> AbstractContextManager[Recording | None]:
    live = source_console.source
    source = (
        SourceFacts(options.source) if live is None else SourceFacts(live.name, True, lambda: asdict(live.health()))
    )
    return recorded(session, options.recording, source, source_console.say)


def _attended(
    operator: OperatorKeys, view: JsonLines | Terminal, source_console: SourceConsole
) -> AbstractContextManager[None]:
    """Within it a person at the terminal may act by keys, where a live source is followed for people."""
    if source_console.source is None or isinstance(view, JsonLines):
        return nullcontext()
    operator.shown, operator.end = view.acted, source_console.source.close
    return reading_keys(operator, source_console.say)


def _data(options: WatchOptions) -> str:
    folder = options.recording.data
    where = "" if folder == RecordingOptions().data else f" --data {shlex.quote(str(folder))}"
    return where if options.recording.records == find_address(None) else f"{where} --records ADDRESS"


def watch(options: WatchOptions, source_console: SourceConsole) -> tuple[Session, OperatorKeys, Iterator[Update]]:
    """A session on the bundle, who may act on it, and the updates of the source."""
    bundle = read_bundle(options.bundle)
    is_by_hand = options.source == NO_PICTURES
    if is_by_hand and (options.jsonl or not is_at_terminal()):
        raise InputError(
            "without pictures the key d says that a step is done, but nobody can press it here: run it at a terminal "
            "without --jsonl, or use the page Live with the source No camera."
        )
    networks = Networks() if is_by_hand else start_networks(bundle, options.device, precision=options.live.precision)
    session = Session(bundle, networks, options.live)
    operator = OperatorKeys(session, options.recording.person)
    path = Path(options.source)
    if path.suffix.lower() in FEATURE_SUFFIXES and not is_address(options.source):
        if bundle.has("trunk.onnx"):
            raise InputError(
                f"this bundle was learned from pictures, {path} holds features: give it a video or a folder of stills."
            )
        rows, rate = _features(options, path)
        return session, operator, follow_features(_keep_pace(rows, rate) if options.realtime else rows, rate, session)
    live = CaptureSettings(give_up_s=options.give_up_s)
    source = open_source(options.source, SourceOptions(options.rate, live), source_console.note)
    source_console.source = source if isinstance(source, LiveSource) else None
    if source.is_live and (note := session.keep_up()):
        source_console.say(note)
    began = time.monotonic() if options.realtime and not source.is_live else None
    return session, operator, _follow(source, session, operator, source_console, began)


def _follow(
    source: FrameSource, session: Session, operator: OperatorKeys, source_console: SourceConsole, began: float | None
) -> Iterator[Update]:
    """Updates of a source's frames; only the frames that are due are converted to pictures.

    The session is locked until an update was shown: an action in between would be shown before what it answers.
    """
    is_told = False
    for frame in source.frames(session.perceiver.is_due):
        if not is_told and min(frame.image.shape[:2]) < LEAST_SIDE:
            height, width = frame.image.shape[:2]
            source_console.say(
                f"pictures of {LEAST_SIDE} x {LEAST_SIDE} or more were expected, {source.name} has {width} x {height}: "
                "nothing can be recognised in them, so do not rely on the guidance."
            )
            is_told = True
        if began is not None:
            time.sleep(max(0.0, frame.at - (time.monotonic() - began)))
        percept = session.perceive(frame)  # takes its time, and touches nothing that an action would
        with operator.lock:
            operator.at = frame.at
            yield from session.perceived(percept)
        if source.is_live:
            source_console.frame_processed(frame.at, session.perceiver.rate)
        else:
            source_console.recording_watched(frame.at, length_of(source))
    is_cut_off = tell_cut_off(source, operator.at, source_console.note)
    with operator.lock:
        yield from session.finish(is_cut_off)


def _keep_pace(rows: Iterable[Row], rate: float) -> Iterator[Row]:
    """The rows of features, each not before its time."""
    began = time.monotonic()
    for number, row in enumerate(rows):
        time.sleep(max(0.0, number / rate - (time.monotonic() - began)))
        yield row


def _features(options: WatchOptions, path: Path) -> tuple[NDArray[np.float32], float]:
    """Rows of features (T, D) and how many there are in a second, which an archive says itself."""
    try:
        rows, rate = _load(path)
    except KeyError as cause:
        raise InputError(
            f"{path} must hold the keys features and rate, but lacks one ({cause}): save it with numpy."
        ) from cause
    except (OSError, ValueError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as cause:
        raise InputError(
            f"features were expected in {path}, but it cannot be read ({cause}): save it with numpy."
        ) from cause
    if rows.ndim != 2 or not len(rows) or rows.dtype.kind not in "fiu" or not np.isfinite(rows).all():
        raise InputError(f"features are a table of finite numbers T x D, {path} holds {rows.dtype} {rows.shape}.")
    if rate is not None and not 0 < rate < math.inf:
        raise InputError(f"{path} says {rate} rows a second, a number above 0 was expected: save it with another rate.")
    return np.asarray(rows, np.float32), require_rate(path, options.rate, "rows or pictures") if rate is None else rate


def _load(path: Path) -> tuple[NDArray[Any], float | None]:
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded, None
    with loaded:
        return np.asarray(loaded["features"]), float(loaded["rate"])


class JsonLines:
    """The view for programs: one JSON object a line, a summary at the end."""

    def __init__(self, console: Console, session: Session, with_labels: bool) -> None:
        self._console, self._session, self._with_labels = console, session, with_labels
        self._frames = self._steps = 0
        self._at = -math.inf
        self._alerts: dict[int, str] = {}  # by id: an alert that grows graver comes again under its own

    def show(self, update: Update) -> None:
        is_new = update.label.at > self._at  # the closing update may repeat the last label
        self._at = update.label.at
        self._frames += is_new
        self._steps += sum(event.state == "confirmed" for event in update.events)
        self._alerts |= {said.id: said.kind for said in update.guidance if isinstance(said, Alert)}
        for line in wire.lines(update, self._session.procedure, self._with_labels and is_new):
            self._console.out(line, highlight=False)

    def end(self) -> None:
        summary = {
            "type": "summary",
            "frames": self._frames,
            "steps": self._steps,
            "alerts": dict(sorted(Counter(self._alerts.values()).items())),
            "rate": self._session.perceiver.rate,
        }
        self._console.out(wire.dump(summary), highlight=False)


def next_words(progress: Progress, procedure: Procedure) -> str:
    """What comes next, and how many demonstrations that did the same so far went on so."""
    if not progress.next_steps:
        return ""
    first = progress.next_steps[0]
    counts = f" ({first.count} of {first.total} did this next)" if first.count else ""
    is_strange = progress.current in progress.strange
    return f"{'   (of another variant)' if is_strange else ''}   next: {procedure.name(first.step)}{counts}"


class Terminal:
    """The terminal view: a line whenever something changes, and a timeline of the whole at the end."""

    def __init__(self, console: Console, session: Session) -> None:
        self._console, self._session = console, session
        self._ends: dict[tuple[float, int], float | None] = {}  # by start and step, of the steps that were confirmed
        self._standing: dict[int, Alert] = {}  # by id, as grave as they grew, at the time they were raised
        self._said: dict[int, str] = {}  # by id, alerts and questions in words
        self._at = 0.0  # labels wait to settle, so a step may come after what was said of a later moment

    def show(self, update: Update) -> None:
        for event in update.events:
            self._show_step(event)
        for said in update.guidance:
            self._show_guidance(said)

    def end(self) -> None:
        self._print(f"  timeline: {self._timeline()}")
        count = len(self._standing)
        stands = f"{count} alert{'s stand' if count > 1 else ' stands'}" if count else "no alert stands"
        ending = judge(self._session.tracker, self._session.why_not_judged)
        self._print(f"  {ending.words}; {stands}", ENDING_STYLES[ending.kind])
        if only_asks(self._session.procedure, self._session.tracker.state):
            self._print(f"  {DOUBTFUL}")

    def acted(self, action: Action, said: tuple[Guidance, ...]) -> None:
        """Shows what somebody did at the terminal, and what was said because of it."""
        about = "" if action.step is None else f": {self._session.procedure.name(action.step)}"
        about += "" if action.target is None else f" {action.target}"
        answer = {True: ": yes", False: ": no", None: ""}[action.answer]
        self._tell(action.at, f"☞ {action.number} {action.kind.replace('_', ' ')}{about}{answer}", "blue")
        for one in said:
            self._show_guidance(one)
        if self._session.is_by_hand:
            self.tell_next()

    def tell_next(self) -> None:
        """What comes next, where nothing is seen that could lead to it."""
        words = next_words(self._session.tracker.progress, self._session.procedure).strip()
        self._print(f"           {words or 'all steps are done'}")

    def _timeline(self) -> str:
        """The confirmed steps with their seconds, and the alerts that stand, in the order of time."""
        name = self._session.procedure.name
        steps = [
            (start, f"{name(step)} {start:.0f}-{'' if end is None else f'{end:.0f}'}")
            for (start, step), end in self._ends.items()
        ]
        alerts = [
            (alert.at, f"{MARKS[alert.severity]} {alert.kind.replace('_', ' ')} {name(alert.step)}")
            for alert in self._standing.values()
        ]
        marked = self._session.tracker.state.visits if self._session.is_by_hand else ()
        steps += [(visit.start, f"{name(visit.step)} {visit.start:.0f}") for visit in marked]
        in_time = sorted(steps + alerts, key=lambda entry: entry[0])
        return " | ".join(text for _, text in in_time) or "no step was confirmed"

    def _show_step(self, event: StepEvent) -> None:
        name, key = self._session.procedure.name(event.step), (event.start, event.step)
        if event.state == "ended" and key in self._ends:
            self._ends[key] = event.end
        if event.state == "confirmed":
            self._ends[key] = None
            hint = next_words(self._session.tracker.progress, self._session.procedure)
            doubt = f" (unsure, {100 * event.confidence:.0f} %)" if event.confidence < UNSURE_BELOW else ""
            self._tell(event.at, f"▶ {name}{doubt}{hint}")

    def _show_guidance(self, said: Guidance) -> None:
        match said:
            case Alert():
                raised = self._standing.get(said.id, said)
                self._standing[said.id] = replace(said, at=raised.at)
                self._said[said.id] = title_of(said.kind, self._session.procedure.name(said.step))
                text = f"{MARKS[said.severity]} {said.id} {self._said[said.id]} ({said.evidence})"
                self._tell(said.at, text, "bold red" if said.severity == "alarm" else "yellow")
            case Resolution():
                self._standing.pop(said.id, None)
                word = "withdrawn" if said.is_withdrawn else "resolved"
                self._tell(said.at, f"✔ {said.id} {word}: {self._said.get(said.id, '')}", "green")
            case Question():
                self._said[said.id] = said.text
                self._tell(said.at, f"? {said.id} {said.text}", "cyan")

    def _tell(self, at: float, text: str, style: str | None = None) -> None:
        """A line with the time at which it is said, which never goes back."""
        self._at = max(self._at, at)
        self._print(f"  {self._at:6.1f} s  {text}", style)

    def _print(self, text: str, style: str | None = None) -> None:
        print_line(self._console, text, style)
