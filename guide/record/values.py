"""What is stored of a session besides the domain's own values: plain, checked where they come from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import Alert, Question, Resolution, SettledLabel, StepEvent
from guide.errors import InputError

SessionState = Literal["open", "finished", "interrupted"]
PictureOf = Literal["step", "alert", "video"]

STATE_WORDS: Mapping[SessionState, str] = {
    "open": "being recorded", "finished": "finished", "interrupted": "cut off",
}  # fmt: skip

SESSION_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4,8}")
"""Day, time of day and eight random digits (four before): it sorts by time and is a safe name for a folder."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a session when it begins; `started` is seconds since 1970.

    `settings` and `procedure` are JSON: how the loop was tuned, and what it knew, so that a report needs no bundle.

    >>> SessionFacts("20300102-030405-00ff", started=0.0, bundle="demo").person
    ''
    """

    id: str
    started: float
    person: str = ""
    bundle: str = ""
    bundle_hash: str = ""
    source: str = ""
    settings: str = "{}"
    procedure: str = "{}"
    keep_days: float | None = None
    """Days after which its pictures are deleted; none keeps them."""

    def __post_init__(self) -> None:
        if not SESSION_ID.fullmatch(self.id):
            raise InputError(f"a session is named like 20300102-030405-00ff, got {self.id!r:.40}.")


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it lies in the store.

    >>> StoredSession(SessionFacts("20300102-030405-00ff", 100.0), "open", ended=None, frames=0, at=2.0, alerts=0).id
    '20300102-030405-00ff'
    """

    facts: SessionFacts
    state: SessionState
    ended: float | None
    frames: int
    """Frames that the loop had processed when the newest row was written."""
    at: float
    """The newest time of the session, in its own seconds."""
    alerts: int
    """Alerts raised and not withdrawn."""
    verdict: str = ""
    """How it ended, in words; nothing of one whose end was not judged, or that an older version recorded."""

    @property
    def id(self) -> str:
        return self.facts.id


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are wanted; what is left out does not matter. Times are seconds since 1970.

    >>> SessionFilter(person="shift 2").state is None
    True
    """

    person: str | None = None
    bundle: str | None = None
    """Its folder, or the name of it."""
    since: float | None = None
    until: float | None = None
    alert_kind: str | None = None
    state: SessionState | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredAction:
    """An operator's action; it was taken after `after` frames had been processed, at the clock time `wall`."""

    number: int
    at: float
    wall: float
    after: int
    kind: str
    target: int | None = None
    step: int | None = None
    answer: bool | None = None
    snooze_s: float = 0.0
    person: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class HealthSample:
    """The health of a session at a moment: figures (`values` as JSON) or a note in words."""

    at: float
    wall: float
    note: str = ""
    values: str = "{}"


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A still of a step (its number) or an alert (its id), or a clip that begins at `at`: a file of the session's."""

    at: float
    of: PictureOf
    number: int
    file: str


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """What was held to be done when the session ended, by the final decoding of the whole session.

    `done` and `visits` are JSON: the steps, and a list of [step, start, end, seconds spent on it] for every turn.
    `ending` is the kind of the verdict on all that, `verdict` its words; older versions stored neither.

    >>> StoredOutcome(9.0, "[1, 2]", "[[1, 0.0, 4.0, 4.0]]").at
    9.0
    """

    at: float
    done: str
    visits: str
    ending: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class StoredPercept:
    """The percept of processed frame `number`: its embedding, float32, as it was used."""

    number: int
    at: float
    embedding: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SharedPercepts:
    """Percepts on their way to other machines, which may have to go on with the session: see `percepts.pack`."""

    data: str


Row: TypeAlias = (
    SettledLabel
    | StepEvent
    | Alert
    | Resolution
    | Question
    | StoredAction
    | HealthSample
    | StoredPicture
    | StoredOutcome
    | SharedPercepts
)
Item: TypeAlias = Row | StoredPercept

TABLES: Mapping[str, type[Row]] = {
    "labels": SettledLabel,
    "steps": StepEvent,
    "alerts": Alert,
    "resolutions": Resolution,
    "questions": Question,
    "actions": StoredAction,
    "health": HealthSample,
    "pictures": StoredPicture,
    "outcomes": StoredOutcome,
    "percepts": SharedPercepts,
}
"""Where each kind of row is stored."""


@dataclass(frozen=True, slots=True)
class Contents:
    """All rows of one session, each kind in the order in which it was stored."""

    labels: tuple[SettledLabel, ...] = ()
    steps: tuple[StepEvent, ...] = ()
    alerts: tuple[Alert, ...] = ()
    resolutions: tuple[Resolution, ...] = ()
    questions: tuple[Question, ...] = ()
    actions: tuple[StoredAction, ...] = ()
    health: tuple[HealthSample, ...] = ()
    pictures: tuple[StoredPicture, ...] = ()
    outcomes: tuple[StoredOutcome, ...] = ()
    """The last one counts; none of a session that was cut off, or that an older version recorded."""
    final: tuple[Resolution, ...] = ()
    """The resolutions after which their alert or question did not come again."""


def is_promised(rows: Iterable[Row]) -> bool:
    """Whether any of these must outlast a power cut: all but labels and percepts, of which there are many; with samples
    of how a session fares they too are flushed every few seconds."""
    return any(not isinstance(row, SettledLabel | SharedPercepts) for row in rows)
