"""A session as a report: what happened, as plain values that the writers below turn into pages and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guide.domain import Alert, Question, Resolution, StepEvent
from guide.record.values import Contents, HealthSample, StoredAction, StoredPicture, StoredSession

UNKNOWN_NAME = "unknown activity"
STILL_S = 2.0
"""A step may be over by so much when it is confirmed: labels wait to settle."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What the demonstrations say of a step: its name, and shortest, 10 %, median, 90 % and longest seconds if known.

    >>> StepFacts(2, "fold", (2.0, 2.5, 3.0, 4.0, 5.0)).durations_s[2]
    3.0
    """

    number: int
    name: str
    durations_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class StepVisit:
    """A step that was done in the session, with the still of its beginning, if there is one."""

    step: int
    name: str
    start: float
    end: float
    confidence: float
    still: str | None = None
    paused_s: float = 0.0
    """Seconds of it in which the session was paused, or the step rested."""

    @property
    def seconds(self) -> float:
        """How long it was worked on; a pause does not count."""
        return self.end - self.start - self.paused_s


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """An alert from its beginning to its end: as grave as it grew, and what became of it."""

    alert: Alert
    raised_at: float
    name: str
    resolution: Resolution | None
    still: str | None = None

    @property
    def outcome(self) -> str:
        if self.resolution is None:
            return "stands"
        return "withdrawn" if self.resolution.is_withdrawn else "resolved"


@dataclass(frozen=True, slots=True)
class SessionReport:
    """Everything a reader wants to know of a session."""

    session: StoredSession
    steps: tuple[StepFacts, ...]
    visits: tuple[StepVisit, ...]
    alerts: tuple[AlertHistory, ...]
    actions: tuple[StoredAction, ...]
    notes: tuple[HealthSample, ...]
    clips: tuple[StoredPicture, ...]
    contents: Contents
    length_s: float

    @property
    def unanswered(self) -> tuple[Question, ...]:
        """The questions that stood when all was over, each once: nobody answered them, and nothing else did."""
        back = taken_back(self.actions)
        answered = {one.target for one in self.actions if one.kind == "answer" and one.number not in back}
        closed = answered | {one.id for one in self.contents.final}
        return tuple({one.id: one for one in self.contents.questions if one.id not in closed}.values())

    @property
    def ending(self) -> str:
        """The kind of the verdict; nothing where there is none."""
        return self.contents.outcomes[-1].ending if self.contents.outcomes else ""

    @property
    def done(self) -> int:
        """How many steps were done, each counted once; what a person called done as well, where the end was judged."""
        if self.contents.outcomes:
            return len(json.loads(self.contents.outcomes[-1].done))
        return len({visit.step for visit in self.visits if visit.step > 0})

    def name(self, step: int) -> str:
        return next((one.name for one in self.steps if one.number == step), UNKNOWN_NAME)


def make_report(session: StoredSession, contents: Contents, steps: Iterable[StepFacts]) -> SessionReport:
    """The report of a stored session: what was held to be done at its end.

    Where its end was not judged, it tells the steps that were confirmed on the way; what was too brief is left out.
    """
    known = {step.number: step for step in steps}
    names = {number: step.name for number, step in known.items()}
    length_s = max([session.at, *(label.at for label in contents.labels[-1:]), *(one.at for one in contents.steps)])
    return SessionReport(
        session,
        tuple(known.values()),
        _turns(contents, names, length_s),
        _stories(contents, names),
        contents.actions,
        tuple(one for one in contents.health if one.note),
        tuple(one for one in contents.pictures if one.of == "video"),
        contents,
        length_s,
    )


def taken_back(actions: Sequence[StoredAction]) -> dict[int, int]:
    """By the number of each action that was taken back, that of the undo; an undo taken back itself counts for nothing.

    >>> pause, undo = StoredAction(1, 0.0, 0.0, 0, "pause"), StoredAction(2, 0.0, 0.0, 0, "undo", target=1)
    >>> taken_back([pause, undo]), taken_back([pause, undo, StoredAction(3, 0.0, 0.0, 0, "undo", target=2)])
    ({1: 2}, {2: 3})
    """
    back: dict[int, int] = {}
    for action in reversed(actions):
        if action.kind == "undo" and action.target is not None and action.number not in back:
            back.setdefault(action.target, action.number)
    return back


def _turns(contents: Contents, names: Mapping[int, str], length_s: float) -> tuple[StepVisit, ...]:
    """The turns at steps as the session held them at its end, beside what it has no word on.

    That is unknown activity, and all that came before somebody began anew.
    """
    confirmed = _visits(contents, names, length_s)
    if not contents.outcomes:
        return confirmed
    began = _began_anew(contents.actions)
    before = [replace(one, end=min(one.end, began)) for one in confirmed if one.start < began]
    unknown = [one for one in confirmed if one.step <= 0 and one.start >= began]
    held = [_held(turn, names, confirmed) for turn in json.loads(contents.outcomes[-1].visits)]
    return tuple(sorted([*before, *unknown, *_with_stills(held, before, contents)], key=lambda one: one.start))


def _began_anew(actions: Sequence[StoredAction]) -> float:
    back = taken_back(actions)
    return max((one.at for one in actions if one.kind == "restart" and one.number not in back), default=-math.inf)


def _held(turn: Sequence[float], names: Mapping[int, str], confirmed: Sequence[StepVisit]) -> StepVisit:
    """A turn that was held to be done, as sure as the labels of its time were; 0 where they said otherwise."""
    step, start, end, busy_s = int(turn[0]), *turn[1:]
    alike = [one for one in confirmed if one.step == step and one.start < end and one.end > start]
    confidence = max((one.confidence for one in alike), default=0.0)
    paused_s = max(0.0, end - start - busy_s)
    return StepVisit(step, names.get(step, UNKNOWN_NAME), start, end, confidence, paused_s=paused_s)


def _with_stills(held: Iterable[StepVisit], before: Iterable[StepVisit], contents: Contents) -> list[StepVisit]:
    """Each turn with the first still of its step from its time, which was taken when the step was confirmed."""
    taken = {one.still for one in before}
    stills = [one for one in contents.pictures if one.of == "step" and one.file not in taken]
    found = [(one, [still for still in stills if still.number == one.step]) for one in held]
    return [
        replace(one, still=next((still.file for still in alike if one.start <= still.at <= one.end + STILL_S), None))
        for one, alike in found
    ]


def _visits(contents: Contents, names: Mapping[int, str], length_s: float) -> tuple[StepVisit, ...]:
    ends = {(one.step, one.start): one for one in contents.steps if one.state == "ended"}
    stills = [one for one in contents.pictures if one.of == "step"]
    visits, pauses = [], pauses_of(contents.actions, length_s)
    for event in contents.steps:
        if event.state == "confirmed":
            ended = ends.get((event.step, event.start))
            end = ended.end if ended is not None and ended.end is not None else length_s
            name = names.get(event.step, UNKNOWN_NAME)
            confidence = ended.confidence if ended is not None else event.confidence
            still = _take_still(stills, event)
            end = max(end, event.start)
            paused_s = sum(max(0.0, min(end, until) - max(event.start, since)) for since, until in pauses)
            visits.append(StepVisit(event.step, name, event.start, end, confidence, still, paused_s))
    return tuple(visits)


def pauses_of(actions: Sequence[StoredAction], length_s: float) -> list[tuple[float, float]]:
    """When the session was paused, from when until when.

    >>> pauses_of([StoredAction(1, 3.0, 0.0, 0, "pause"), StoredAction(2, 5.0, 0.0, 0, "resume")], 9.0)
    [(3.0, 5.0)]
    """
    back, since, pauses = taken_back(actions), None, []
    for action in actions:
        if action.number in back:
            continue
        if action.kind == "pause" and since is None:
            since = action.at
        elif action.kind in ("resume", "restart") and since is not None:
            pauses.append((since, action.at))
            since = None
    return pauses if since is None else [*pauses, (since, max(since, length_s))]


def _take_still(stills: list[StoredPicture], event: StepEvent) -> str | None:
    """The first still of the step that no earlier visit took: they were asked for in the order of the visits."""
    found = next((one for one in stills if one.number == event.step), None)
    if found is not None:
        stills.remove(found)
    return found.file if found is not None else None


def _stories(contents: Contents, names: Mapping[int, str]) -> tuple[AlertHistory, ...]:
    stills = {one.number: one.file for one in reversed(contents.pictures) if one.of == "alert"}
    raised: dict[int, float] = {}
    newest: dict[int, Alert] = {}
    for alert in contents.alerts:
        raised.setdefault(alert.id, alert.at)
        newest[alert.id] = alert
    ends = {one.id: one for one in contents.final}
    return tuple(
        AlertHistory(alert, raised[number], names.get(alert.step, UNKNOWN_NAME), ends.get(number), stills.get(number))
        for number, alert in newest.items()
    )


def to_plain(report: SessionReport) -> dict[str, Any]:
    """The report for JSON: every row of the session, with names."""
    facts, contents = report.session.facts, report.contents
    return {
        "session": report.session.id,
        "state": report.session.state,
        "verdict": report.session.verdict,
        "person": facts.person,
        "bundle": facts.bundle,
        "bundle_hash": facts.bundle_hash,
        "source": facts.source,
        "started": facts.started,
        "ended": report.session.ended,
        "length_s": report.length_s,
        "frames": report.session.frames,
        "settings": json.loads(facts.settings),
        "steps": [_plain(visit) for visit in report.visits],
        "alerts": [
            {**_plain(story.alert), "name": story.name, "raised_at": story.raised_at, "outcome": story.outcome}
            for story in report.alerts
        ],
        "resolutions": [_plain(one) for one in contents.resolutions],
        "questions": [_plain(one) for one in contents.questions],
        "actions": [_plain(one) for one in contents.actions],
        "health": [{**_plain(one), "values": json.loads(one.values)} for one in contents.health],
        "labels": [[one.at, one.step, round(one.confidence, 4)] for one in contents.labels],
    }


def _plain(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}
