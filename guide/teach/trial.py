"""Trying a version on a recording: which steps it sees and what it would say, before anyone is guided by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from guide.bundle import Bundle
from guide.domain import Alert, Question, Resolution, Segment, Update
from guide.ingest.files import VideoFile
from guide.perceive.perceiver import Percept
from guide.procedure.model import Procedure
from guide.session import Networks, Session, follow
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
    session = Session(bundle, networks, LiveSettings())
    return _trial(session, _followed(session, demonstrations, place))


def try_video(bundle: Bundle, networks: Networks, video: Path) -> Trial:
    """What the version makes of a video."""
    session = Session(bundle, networks, LiveSettings())
    return _trial(session, follow(VideoFile(video), session))


def _followed(session: Session, demonstrations: Demonstrations, place: int) -> Iterator[Update]:
    one = demonstrations.items[place]
    for at, embedding in zip(one.times, one.embedding, strict=True):
        yield from session.perceived(Percept(float(at), embedding))
    yield from session.finish()


def _trial(session: Session, updates: Iterable[Update]) -> Trial:
    alerts: dict[int, Alert] = {}
    resolved: dict[int, Resolution] = {}
    questions: dict[int, Question] = {}
    steps: list[Segment] = []
    lasted_s = 0.0
    for update in updates:
        lasted_s = max(lasted_s, update.label.at)
        steps += [
            Segment(event.step, event.start, event.end)
            for event in update.events
            if event.state == "ended" and event.end is not None
        ]
        for said in update.guidance:
            match said:
                case Alert():
                    alerts[said.id] = said
                    resolved.pop(said.id, None)
                case Resolution():
                    resolved[said.id] = said
                case Question():
                    questions[said.id] = said
    withdrawn = tuple(alert for id_, alert in alerts.items() if id_ in resolved and resolved[id_].is_withdrawn)
    standing = tuple(alert for alert in alerts.values() if alert not in withdrawn)
    return Trial(session.procedure, tuple(steps), standing, withdrawn, tuple(questions.values()), lasted_s)
