"""What the Live page shows of a session, made of the server's JSON: plain values, every word chosen.

Names come from bundles and sources from outside: pages escape them before Markdown or HTML sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal

from guide.procedure.actions import Action, in_force
from guide.procedure.ending import EndingKind
from guide.procedure.wording import ACTION_WORDS, ANSWERS, LATE_ANSWERS, TITLES
from guide.serve.live_numbers import is_late, is_unsure, loud_alert, state_fingerprint
from guide.ui.state.folders import source_words as camera_words
from guide.ui.state.live_health import HealthView, notice_of, view_health
from guide.ui.state.live_place import (
    choice_words,
    count_done,
    current_words,
    ending_words,
    is_all_done,
    lacking_names,
    last_done,
    lost_words,
    without_step,
)
from guide.ui.state.live_words import ICONS, SEVERITIES, Standing, clock

MOST_NEXT = 3
MOST_ACTIONS = 3
UNTOLD = ("pause", "resume")  # the page shows whether it is paused, and the same button takes it back

Plain = Mapping[str, Any]
Mood = Literal["calm", "starting", "rest", "unsure", "late", "lost", "paused", "over"]


@dataclass(frozen=True, slots=True)
class NowView:
    """The current step: `share` and `usual` are places on a bar from 0 to 1, `low` and `high` where most were done.

    >>> NowView("fit board", 3, "calm", "4 s", "usually 5 s", 0.4, 0.3, 0.5, 0.8, "92 % sure").step
    3
    """

    name: str
    step: int | None
    mood: Mood
    elapsed: str
    expected: str
    share: float
    low: float
    usual: float
    high: float
    confidence: str
    times_s: tuple[float, ...] = ()
    """Low, usual, high and longest of the demonstrations in seconds, where there are any."""


@dataclass(frozen=True, slots=True)
class NextView:
    """A step that may come next, and how many demonstrations went on so."""

    step: int
    name: str
    count: str
    stills: int
    is_missed: bool = False


@dataclass(frozen=True, slots=True)
class ItemView:
    """A step in the timeline: where it stands, and a few words on it."""

    step: int
    name: str
    standing: Standing
    words: str

    @property
    def icon(self) -> str:
        return ICONS[self.standing]


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert that stands; the gravest comes first."""

    id: int
    title: str
    reason: str
    evidence: str
    severity: str
    icon: str
    severity_word: str
    at: str
    is_acknowledged: bool
    is_snoozed: bool
    has_snapshot: bool
    can_be_done: bool = False
    """Whether it is about a step that somebody may say was done."""
    todo: str = ""
    """What to do about it."""
    shows: int | None = None
    """The step whose picture shows how that is done."""
    spoken: str = ""
    """What a voice says of it."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Something the guide asks."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class ActionView:
    """An action that can be taken back."""

    number: int
    words: str


@dataclass(frozen=True, slots=True)
class LiveView:
    """A session, ready to draw."""

    session: str
    bundle: str
    title: str
    clock: str
    is_over: bool
    problem: str
    is_paused: bool
    now: NowView
    next: tuple[NextView, ...]
    progress: str
    share: float
    timeline: tuple[ItemView, ...]
    alerts: tuple[AlertView, ...]
    question: QuestionView | None
    undoable: tuple[ActionView, ...]
    health: tuple[HealthView, ...]
    notice: str
    steps: tuple[tuple[int, str], ...]
    headset: str | None
    """The headset's name while it has sent nothing yet."""
    remark: str
    """How it ended, or why no pictures come, in a sentence."""
    mark: str
    """Changes when more than the live numbers has changed."""
    lacking: tuple[str, ...] = ()
    """What has to be done and is not."""
    is_all_done: bool = False
    ending: EndingKind | None = None
    """The verdict, when all is over."""
    loud: AlertView | None = None
    """The alert that takes the place of the current step: the gravest that nobody has answered yet."""
    replay_request: Mapping[str, object] | None = None
    """What to ask for to play the recording again; none of cameras and streams."""


def view_live(state: Plain, titles: dict[int, str] | None = None) -> LiveView:
    """The view of a session's state, as the server gives it for one session.

    `titles` keeps the titles of alerts by their number: an alert that was called false stands no more, but what was
    called so is still to be told. New ones are added to it.
    """
    is_over = state["state"] != "running"
    lost = "" if is_over else lost_words(state)
    alerts = _alerts(state)
    titles = {} if titles is None else titles
    titles.update({alert.id: alert.title for alert in alerts})
    steps = tuple((int(one["step"]), _label(one["step"], one["name"])) for one in state["steps"])
    waits = not is_over and state["client"] is not None and not state["health"]["processed"]
    return LiveView(
        session=str(state["session"]),
        bundle=str(state["bundle"]),
        title=source_words(state),
        clock=clock(state["at"]),
        is_over=is_over,
        problem=str(state["problem"]),
        is_paused=bool(state["paused"]) and not is_over,
        now=_now(state, is_over),
        next=() if is_over else _next(state),
        lacking=lacking_names(state),
        is_all_done=is_all_done(state),
        ending=state["ending"]["kind"] if is_over and state["ending"] else None,
        loud=None if lost else _loud(alerts, state),
        progress=f"{count_done(state)} of {state['progress']['total']} steps done",
        share=count_done(state) / max(int(state["progress"]["total"]), 1),
        timeline=_timeline(state, dict(steps)),
        alerts=alerts,
        question=_question(state["question"]) if state["question"] else None,  # its end may still raise one
        undoable=_undoable(state, dict(steps), titles),
        health=view_health(state["health"]),
        notice=notice_of(state["health"], is_lost=bool(lost)),
        steps=steps,
        headset=str(state["client"]) if waits else None,
        remark=ending_words(state) if is_over else lost,
        mark=state_fingerprint(state),
        replay_request=None if state["health"]["is_live"] or state["client"] is not None else _replay_request(state),
    )


def _replay_request(state: Plain) -> Mapping[str, object]:
    request = {"source": str(state["source"]), "bundle": str(state["bundle"])}
    return request | ({"person": str(state["person"])} if state["person"] else {})


def _label(step: int, name: str) -> str:
    """Number and name, or the name alone where it is the number in words: nobody has named the step yet."""
    return name if name == f"step {step}" else f"{step} {name}"


def source_words(state: Plain) -> str:
    """Procedure, source and person; of a path only the name, addresses come without their secrets already.

    >>> source_words({"bundle": "demo", "source": "videos/new.mp4", "person": "shift 2"})
    'demo · new.mp4 · shift 2'
    """
    source = str(state["source"])
    is_path = "/" in source and "://" not in source
    parts = [str(state["bundle"]), PurePath(source).name if is_path else camera_words(source), str(state["person"])]
    return " · ".join(part for part in parts if part)


def _now(state: Plain, is_over: bool) -> NowView:
    if is_over:
        words = state["ending"]["words"] if state["ending"] else "Ended"
        return NowView(words, None, "over", "", "", 0.0, 0.0, 0.0, 0.0, "")
    step = state["step"]
    if lost_words(state):
        return NowView("No pictures come", None, "lost", "", "", 0.0, 0.0, 0.0, 0.0, "")
    if step is None:
        return _between(state)
    sure = step["confidence"]
    unsure = is_unsure(state)
    times = step["expected_s"]
    elapsed_s = float(step["elapsed_s"])
    calm: Mood = "starting" if step.get("starting") else "late" if is_late(step) else "calm"
    mood: Mood = "paused" if state["paused"] else "unsure" if unsure else calm
    confidence = "" if sure is None else f"{100 * sure:.0f} %" if unsure else f"{100 * sure:.0f} % sure"
    return NowView(
        str(step["name"]), int(step["step"]), mood, f"{elapsed_s:.0f} s", _expected(times), *_places(elapsed_s, times),
        confidence, () if times is None else tuple(times[name] for name in ("low", "usual", "high", "longest")),
    )  # fmt: skip


def _between(state: Plain) -> NowView:
    """While no step is being done the one before it stays, called done: what comes next is shown beside it."""
    words = "Paused" if state["paused"] else without_step(state)
    mood: Mood = "paused" if state["paused"] else "calm" if words else "rest"
    return NowView(words or last_done(state) or "", None, mood, "", "", 0.0, 0.0, 0.0, 0.0, "")


def _expected(times: Plain | None) -> str:
    if times is None:
        return ""
    low, high = f"{times['low']:.0f}", f"{times['high']:.0f}"
    between = "" if low == high else f", mostly {low} to {high} s"
    return f"usually {times['usual']:.0f} s{between}"


def _places(elapsed_s: float, times: Plain | None) -> tuple[float, float, float, float]:
    """Elapsed, low, usual and high on one bar from 0 to 1; it is as long as the longest that was seen, or now is."""
    if times is None:
        return 0.0, 0.0, 0.0, 0.0
    whole = max(1.2 * times["high"], times["longest"], elapsed_s, 1e-6)
    elapsed, low, usual, high = (
        min(1.0, value / whole) for value in (elapsed_s, times["low"], times["usual"], times["high"])
    )
    return elapsed, low, usual, high


def _next(state: Plain) -> tuple[NextView, ...]:
    stills = {one["step"]: int(one["stills"]) for one in state["steps"]}
    names = {int(one["step"]): str(one["name"]) for one in state["steps"]}
    return tuple(
        NextView(
            int(one["step"]),
            str(one["name"]),
            choice_words(one, names),
            stills.get(one["step"], 0),
            bool(one.get("missed")),
        )
        for one in state["next"][:MOST_NEXT]
    )


def _timeline(state: Plain, names: Mapping[int, str]) -> tuple[ItemView, ...]:
    """Steps in the order they were done, then the current one, what was missed, and what is to come."""
    flagged: dict[str, set[int]] = {kind: set() for kind in ("missed", "out_of_order", "repeated")}
    for alert in state["alerts"]:
        flagged.get(alert["kind"], set()).add(int(alert["step"]))
    optional = {int(one["step"]) for one in state["steps"] if one["optional"]}
    current = None if state["step"] is None or state["state"] != "running" else int(state["step"]["step"])
    done = [int(step) for step in state["progress"]["done"]]
    took = _took(state["timeline"])
    items: list[ItemView] = []
    seen = [step for step in took if step != current]
    for step in [*seen, *(step for step in done if step not in took and step != current)]:
        standing: Standing = "out of order" if step in flagged["out_of_order"] else "done"
        standing = "done again" if step in flagged["repeated"] else standing
        if step in done or standing != "done":
            strange = "of another variant" if step in state["progress"].get("strange", ()) else ""
            items.append(ItemView(step, names.get(step, ""), standing, strange or _seconds(took.get(step))))
    if current is not None:
        items.append(ItemView(current, names.get(current, ""), "current", _current_words(state, current, flagged)))
    told = {item.step for item in items}
    usual = [int(step) for step in state["progress"]["lacking"]]
    if state["ending"] and state["ending"]["kind"] == "not_complete":  # also where the alert was called false
        flagged["missed"] |= set(usual)
    missed = sorted(flagged["missed"] - told, key=lambda step: (usual.index(step) if step in usual else -1, step))
    items += [ItemView(step, names.get(step, ""), "missed", "not seen") for step in missed]
    return (*items, *_to_come(state, names, {item.step for item in items}, optional))


def _to_come(state: Plain, names: Mapping[int, str], told: set[int], optional: set[int]) -> Iterable[ItemView]:
    likely = [int(one["step"]) for one in state["next"]]
    rest = [step for step in [*likely, *names] if step not in told]
    for step in dict.fromkeys(rest):
        is_over = state["state"] != "running"
        standing: Standing = "not done" if is_over else "may come" if step in optional else "to come"
        yield ItemView(step, names[step], standing, "optional" if step in optional else "")


def _current_words(state: Plain, step: int, flagged: Mapping[str, set[int]]) -> str:
    found = (("out_of_order", "out of order"), ("repeated", "done again"))
    words = [*(word for kind, word in found if step in flagged[kind]), *current_words(step, state)]
    return " and ".join(words)


def _took(visits: Sequence[Plain]) -> dict[int, float]:
    """Seconds spent on each step, in the order of their first visit."""
    took: dict[int, float] = {}
    for visit in visits:
        lasted_s = 0.0 if visit["end"] is None else float(visit["end"]) - float(visit["start"])
        seconds = float(visit.get("busy_s", lasted_s)) if visit["end"] is not None else 0.0
        took[int(visit["step"])] = took.get(int(visit["step"]), 0.0) + seconds
    return took


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.0f} s"


def _alerts(state: Plain) -> tuple[AlertView, ...]:
    """The gravest first, then the newest; what is lacking at the end stands in the usual order."""
    rank = {"alarm": 0, "warning": 1, "info": 2}
    lacking = list(state["progress"]["lacking"]) if state["state"] != "running" else []

    def place(one: Plain) -> tuple[bool, bool, int, int, int]:
        is_lacking = one["kind"] == "missed" and one["step"] in lacking
        usual = lacking.index(one["step"]) if is_lacking else -1
        return one["snoozed"], one["acknowledged"], rank[one["severity"]], usual, -one["id"]

    return tuple(_alert(one) for one in sorted(state["alerts"], key=place))


def _alert(alert: Plain) -> AlertView:
    kind = str(alert["kind"])
    icon, severity_word = SEVERITIES[alert["severity"]]
    return AlertView(
        int(alert["id"]), str(alert["title"]), str(alert["reason"]), str(alert["evidence"]),
        str(alert["severity"]), icon, severity_word, clock(alert["at"]), bool(alert["acknowledged"]),
        bool(alert["snoozed"]), bool(alert.get("snapshot")), kind == "missed", str(alert["todo"]), alert["shows"],
        f"{TITLES.get(kind, kind)}. {alert['todo']}.",
    )  # fmt: skip


def _loud(alerts: Sequence[AlertView], state: Plain) -> AlertView | None:
    """The first alert that is to be dealt with now, its picture only where there is one."""
    stills, loud = {one["step"] for one in state["steps"] if one["stills"]}, loud_alert(state)
    found = next((one for one in alerts if loud is not None and one.id == loud["id"]), None)
    return found if found is None or found.shows in stills else replace(found, shows=None)


def _question(question: Plain) -> QuestionView:
    return QuestionView(int(question["id"]), str(question["text"]))


def _undoable(state: Plain, names: Mapping[int, str], titles: Mapping[int, str]) -> tuple[ActionView, ...]:
    """The newest actions that count, the newest first."""
    taken = [
        Action(one["kind"], one["at"], one["target"], one["step"], one["answer"], number=one["number"])
        for one in state["actions"]
    ]
    comments = {one["number"]: str(one["comment"]) for one in state["actions"]}
    newest = [one for one in in_force(taken) if one.kind not in UNTOLD][-MOST_ACTIONS:]
    if state["state"] != "running":  # only answers can be taken back then
        newest = [one for one in newest if one.kind in LATE_ANSWERS]
    return tuple(
        ActionView(one.number, _action_words(one, names, titles, comments[one.number])) for one in reversed(newest)
    )


def _action_words(action: Action, names: Mapping[int, str], titles: Mapping[int, str], comment: str) -> str:
    words = ACTION_WORDS[action.kind]
    if action.step is not None:
        words += f": {names.get(action.step, action.step)}"
    elif action.kind in ANSWERS and (title := titles.get(action.target or 0)):
        words += f": {title}"
    if action.answer is not None:
        words += " yes" if action.answer else " no"
    return f"{words} ({comment})" if comment else words
