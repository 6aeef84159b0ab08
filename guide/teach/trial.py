"""Trying a version on a recording: which steps it sees and what it would say, before anyone is guided by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guide.bundle import Bundle
from guide.domain import Alert, Guidance, Question, Segment, Update
from guide.ingest.files import VideoFile
from guide.networks import Networks
from guide.perceive.perceiver import Percept
from guide.procedure.model import Procedure
from guide.procedure.replay import standing_alerts
from guide.session import Session, follow, follow_percepts
from guide.settings import LiveSettings
from guide.teach.demonstrations import Demonstrations


@dataclass(frozen=True, slots=True)
class Trial:
    """What a version saw and said: steps in order, alerts that stood at the end, withdrawn ones, questions."""

    procedure: Procedure
    steps: tuple[Segment, ...]
    alerts: tuple[Alert, ...]
    withdrawn: tuple[Alert, ...]
    questions: tuple[Question, ...]
    lasted_s: float


def try_demonstration(bundle: Bundle, networks: Networks, demonstrations: Demonstrations, place: int) -> Trial:
    """What the version makes of one of its own demonstrations, from what was seen in it then."""
    session, one = Session(bundle, networks, LiveSettings()), demonstrations.items[place]
    percepts = (Percept(float(at), row) for at, row in zip(one.times, one.embedding, strict=True))
    return _trial(session, follow_percepts(percepts, session))


def try_video(bundle: Bundle, networks: Networks, video: Path) -> Trial:
    """What the version makes of a video."""
    session = Session(bundle, networks, LiveSettings())
    return _trial(session, follow(VideoFile(video), session))


def _trial(session: Session, updates: Iterable[Update]) -> Trial:
    steps: list[Segment] = []
    said: list[Guidance] = []
    lasted_s = 0.0
    for update in updates:
        lasted_s = max(lasted_s, update.label.at)
        steps += [
            Segment(event.step, event.start, event.end)
            for event in update.events
            if event.state == "ended" and event.end is not None
        ]
        said += update.guidance
    standing = {alert.id: alert for alert in standing_alerts(said)}
    withdrawn = {one.id: one for one in said if isinstance(one, Alert) and one.id not in standing}
    questions = {one.id: one for one in said if isinstance(one, Question)}
    return Trial(
        session.procedure,
        tuple(steps),
        tuple(standing.values()),
        tuple(withdrawn.values()),
        tuple(questions.values()),
        lasted_s,
    )
