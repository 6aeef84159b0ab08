"""The JSON of the HTTP side: what is taken and what is answered. The served description is made from these."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from guide.domain import AlertKind, Severity
from guide.procedure.actions import ActionKind
from guide.procedure.ending import EndingKind

HEADSET = "headset:"
LONGEST_NAME = 64
LONGEST_SOURCE = 2_000
MOST_STILLS = 1_000  # a second: no folder holds more

RunState = Literal["running", "finished", "failed"]
Count = Annotated[int, Meta(ge=0)]
Identity = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
StepNumber = Annotated[int, Meta(description="Its number, from 1.")]
StepName = Annotated[str, Meta(description="Its name.")]
SessionName = Annotated[str, Meta(description="Its name.", pattern="^[0-9]{8}-[0-9]{6}-[0-9a-f]{4,8}$")]


class Closed(Struct, forbid_unknown_fields=True):
    """An object with these fields and no others."""


class Error(Closed):
    error: Annotated[str, Meta(description="What was expected, what came and what to do, in one sentence.")]


class Health(Closed):
    status: Literal["ok"]
    records: Annotated[
        Literal["waiting"] | UnsetType,
        Meta(description="Records wait on this machine's disk for their database."),
    ] = UNSET


class Bundles(Closed):
    bundles: Annotated[list[str], Meta(description="Names that can be chosen.")]
    default: Annotated[str, Meta(description="The one with which the server was started.")]


class SessionRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A session somebody asks for."""

    source: Annotated[
        str,
        Meta(
            max_length=LONGEST_SOURCE,
            description="A camera (0 or name:...), a file or folder, an rtsp:// or http:// address, or headset:NAME.",
        ),
    ]
    bundle: Annotated[
        Annotated[str, Meta(max_length=LONGEST_SOURCE)] | None,
        Meta(description="A name out of /bundles; without it, the default."),
    ] = None
    person: Annotated[str, Meta(max_length=LONGEST_NAME, description="Who does the work.")] = ""
    rate: Annotated[
        Annotated[float, Meta(gt=0, le=MOST_STILLS)] | None,
        Meta(description="For a folder of stills: pictures per second."),
    ] = None
    realtime: Annotated[bool, Meta(description="Whether a recording is played at its own pace.")] = True

    @property
    def client(self) -> str | None:
        """The headset it waits for.

        >>> SessionRequest("headset: helmet").client
        'helmet'
        """
        return self.source.removeprefix(HEADSET).strip() if self.source.startswith(HEADSET) else None


class Taken(Closed, tag="action"):
    """An action that was taken."""

    number: Annotated[int, Meta(ge=1, description="1 for the first of a session.")]
    at: Annotated[float, Meta(description="Seconds since the session began.")]
    kind: ActionKind
    target: int | None
    step: int | None
    answer: bool | None
    person: str
    comment: str


class Durations(Closed):
    """Seconds that the demonstrations took: least, 10 %, median, 90 %, most."""

    shortest: float
    low: float
    usual: float
    high: float
    longest: float


class Step(Closed):
    step: StepNumber
    name: StepName
    say: Annotated[str, Meta(description="The voice's words for it.")]
    optional: bool
    repeatable: bool
    colour: Annotated[str, Meta(description="Its colour on every page, as #rrggbb.")]
    expected_s: Durations | None
    stills: Annotated[int, Meta(ge=0, description="Pictures of it from the demonstrations.")]


class Current(Closed):
    """The step being done."""

    step: StepNumber
    name: StepName
    starting: Annotated[bool, Meta(description="It is not confirmed yet.")]
    confidence: float | None
    unsure: bool
    elapsed_s: float
    expected_s: Durations | None


class Next(Closed):
    step: StepNumber
    name: StepName
    count: Annotated[int, Meta(description="Demonstrations that continued with it.")]
    total: Annotated[int, Meta(description="Demonstrations that did everything done so far.")]
    ready: Annotated[bool, Meta(description="Everything that always came before it is done.")]
    missed: Annotated[bool, Meta(description="It was reported as missed and can still be done.")]
    after: Annotated[list[int], Meta(description="What has to be done before it.")]
    strange: Annotated[bool, Meta(description="It belongs to another variant of the task.")]


class Progress(Closed):
    done: list[int]
    lacking: Annotated[list[int], Meta(description="Required, not done.")]
    total: int
    share: Share
    marked: Annotated[list[int], Meta(description="Marked as done by a person.")]
    denied: Annotated[list[int], Meta(description="Marked as not done by a person.")]
    strange: Annotated[list[int], Meta(description="Done steps that belong to another variant of the task.")]


class Visit(Closed):
    step: StepNumber
    name: StepName
    again: Annotated[bool, Meta(description="It had been done before.")]
    start: float
    end: Annotated[float | None, Meta(description="Null while it runs.")]
    busy_s: Annotated[float, Meta(description="Seconds of work on it, without pauses.")]


class Label(Closed, tag="label"):
    at: float
    step: Annotated[int | None, Meta(description="0 is background, null is unknown activity.")]
    confidence: Share


class Alert(Closed, tag="alert"):
    id: Identity
    at: float
    kind: AlertKind
    step: StepNumber
    name: StepName
    before: int | None
    severity: Severity
    evidence: Annotated[str, Meta(description="Why, in words.")]
    title: Annotated[str, Meta(description="The alert in a few words.")]
    reason: Annotated[str, Meta(description="What this kind of alert means, in one sentence.")]
    todo: Annotated[str, Meta(description="What to do about it.")]
    shows: Annotated[int | None, Meta(description="The step whose pictures show what to do.")]
    spoken: Annotated[str, Meta(description="The voice's words for it.")]
    acknowledged: bool
    snoozed: bool
    snapshot: Annotated[bool, Meta(description="Whether a picture of its moment is kept.")]


class Question(Closed, tag="question"):
    id: Identity
    at: float
    step: int
    text: str


class Notice(Closed, tag="notice"):
    at: float
    kind: str
    text: str


class Fares(Closed):
    """How the session fares."""

    received: Count
    taken: Count
    dropped: Count
    age_s: Annotated[float, Meta(description="Of the newest processed frame; grows while none arrives.")]
    p50_ms: float | None
    p95_ms: float | None
    provider: Annotated[str, Meta(description="What computes.")]
    precision: Annotated[Literal["float", "mixed", "int8"], Meta(description="How precisely.")]
    reason: Annotated[str, Meta(description="Why no better provider computes.")]
    processed: Count
    rate: Annotated[float, Meta(description="Frames per second that are processed.")]
    is_live: bool
    recording: Annotated[str, Meta(description="ok, off, or what is wrong.")]
    notices: list[Notice]


class Ending(Closed):
    """The verdict on a session that is over."""

    kind: EndingKind
    words: str


class _Facts(Closed):
    session: SessionName
    state: RunState
    problem: Annotated[str, Meta(description="Why it failed.")]
    started: Annotated[float, Meta(description="Seconds since 1970.")]
    source: str
    bundle: str
    person: str
    client: Annotated[str | None, Meta(description="The headset's name.")]
    at: float
    step: Current | None
    progress: Progress
    paused: bool


class State(_Facts):
    """Where a session stands."""

    label: Label | None
    next: list[Next]
    timeline: list[Visit]
    alerts: list[Alert]
    question: Question | None
    questions: list[Question]
    actions: list[Taken]
    ending: Annotated[Ending | None, Meta(description="Null while it runs.")]
    language: Annotated[str, Meta(description="Of the voice; empty means the browser's own.")]
    watching: Annotated[
        str,
        Meta(description="Which steps raise alerts when missed, or that this session only asks; else empty."),
    ]
    health: Fares
    steps: list[Step] | UnsetType = UNSET


class StandingAlert(Closed):
    """An alert that stands, in brief."""

    id: Identity
    at: float
    title: str
    severity: Severity
    acknowledged: bool


class Brief(_Facts):
    """A session in brief."""

    alerts: Annotated[int, Meta(ge=0, description="How many stand.")]
    standing: list[StandingAlert]
    age_s: Annotated[float, Meta(description="Of the newest processed frame; grows while none arrives.")]
    replica: Annotated[str, Meta(description="Only for a fleet: the replica that runs it.")] | UnsetType = UNSET


class Sessions(Closed):
    sessions: Annotated[list[Brief], Meta(description="Oldest first.")]
    program: Annotated[str, Meta(description="The server's version.")]
