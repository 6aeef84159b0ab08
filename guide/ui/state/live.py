"""What the Live page shows of a session, made of the server's JSON: plain values, every word chosen.

Names come from bundles and sources from outside: pages escape them before Markdown or HTML sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from guide.procedure.ending import EndingKind
from guide.record.timeline import colour
from guide.serve.live_numbers import is_late, is_unsure, state_fingerprint
from guide.ui.state.folders import source_words as camera_words
from guide.ui.state.live_alerts import (
    ActionView,
    AlertView,
    QuestionView,
    loudest,
    view_actions,
    view_alerts,
    view_question,
)
from guide.ui.state.live_words import (
    ICONS,
    HealthView,
    Standing,
    choice_words,
    clock,
    count_done,
    current_words,
    ending_words,
    is_all_done,
    lacking_names,
    last_done,
    lost_words,
    notice_of,
    view_health,
    without_step,
)

MOST_VISITS = 9  # the newest, on one line of a laptop's screen; all of them at the end
MOST_NEXT = 3

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
    say: str = ""
    """What a voice says of it, where it is a step."""


@dataclass(frozen=True, slots=True)
class NextView:
    """A step that may come next, and how many demonstrations went on so."""

    step: int
    name: str
    count: str
    stills: int
    is_missed: bool = False
    say: str = ""
    """What a voice says of it."""


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
class VisitView:
    """A stretch of work on one step, as it happened: a step done twice stands there twice."""

    name: str
    colour: str
    sign: str
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
    visits: tuple[VisitView, ...] = ()
    """The newest visits in the order of work, and how many came before them."""
    earlier: int = 0
    loud: AlertView | None = None
    """The alert that takes the place of the current step: the gravest that nobody has answered yet."""
    language: str = ""
    """Of the voice; empty is the browser's own."""
    watching: str = ""
    """Which steps are warned of when they are left out, where that is not every one."""
    replay_request: Mapping[str, object] | None = None
    """What to ask for to play the recording again; none of cameras and streams."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Words for a voice; urgent ones are never cut off, `sound` is the chime before them.

    >>> Saying("fit board").is_urgent
    False
    """

    words: str
    is_urgent: bool = False
    sound: str = ""


def view_live(state: Plain, titles: dict[int, str] | None = None) -> LiveView:
    """The view of a session's state, as the server gives it for one session.

    `titles` keeps the titles of alerts by their number: an alert that was called false stands no more, but what was
    called so is still to be told. New ones are added to it.
    """
    is_over = state["state"] != "running"
    lost = "" if is_over else lost_words(state)
    alerts = view_alerts(state)
    titles = {} if titles is None else titles
    titles.update({alert.id: alert.title for alert in alerts})
    steps = tuple((int(one["step"]), _label(one["step"], one["name"])) for one in state["steps"])
    visits = _visits(state)
    earlier = 0 if is_over else max(0, len(visits) - MOST_VISITS)
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
        loud=None if lost else loudest(alerts, state),
        progress=f"{count_done(state)} of {state['progress']['total']} steps done",
        share=count_done(state) / max(int(state["progress"]["total"]), 1),
        timeline=_timeline(state, dict(steps)),
        visits=visits[earlier:],
        earlier=earlier,
        alerts=alerts,
        question=view_question(state["question"]) if state["question"] else None,  # its end may still raise one
        undoable=view_actions(state, dict(steps), titles),
        health=view_health(state["health"]),
        notice=notice_of(state["health"], is_lost=bool(lost)),
        steps=steps,
        headset=str(state["client"]) if waits else None,
        remark=ending_words(state) if is_over else lost,
        mark=state_fingerprint(state),
        language=str(state["language"]),
        watching=str(state["watching"]),
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
        next((str(one["say"]) for one in state["steps"] if one["step"] == step["step"]), str(step["name"])),
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
    said = {int(one["step"]): str(one["say"]) for one in state["steps"]}
    return tuple(
        NextView(
            int(one["step"]),
            str(one["name"]),
            choice_words(one, names),
            stills.get(one["step"], 0),
            bool(one.get("missed")),
            said.get(int(one["step"]), ""),
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


def _visits(state: Plain) -> tuple[VisitView, ...]:
    """Every stretch of work that is known, the oldest first."""
    wrong = {int(alert["step"]) for alert in state["alerts"] if alert["kind"] == "out_of_order"}
    found = []
    for visit in state["timeline"]:
        step, is_open = int(visit["step"]), visit["end"] is None and state["state"] == "running"
        standing: Standing = "current" if is_open else "out of order" if step in wrong else "done"
        sign = ICONS["done again"] if visit["again"] else ICONS[standing] if standing != "done" else ""
        words = "now" if is_open else _seconds(_busy_s(visit))
        found.append(VisitView(str(visit["name"]), colour(step), sign, f"again, {words}" if visit["again"] else words))
    return tuple(found)


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
        took[int(visit["step"])] = took.get(int(visit["step"]), 0.0) + _busy_s(visit)
    return took


def _busy_s(visit: Plain) -> float:
    """Seconds of work in a visit; those of one that goes on are told elsewhere."""
    return 0.0 if visit["end"] is None else float(visit.get("busy_s", float(visit["end"]) - float(visit["start"])))


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.0f} s"


def spoken(before: LiveView | None, after: LiveView) -> tuple[Saying, ...]:
    """What a voice says when the page goes from one view to the next: alerts first; nothing when it was just opened."""
    if before is None or before.session != after.session:
        return ()
    if after.is_over:  # the verdict names what was missed: alerts one by one would say it again
        return () if before.is_over else (Saying(f"{after.now.name}.", True),)
    known = {alert.id: alert.severity for alert in before.alerts}
    news = [alert for alert in after.alerts if known.get(alert.id) != alert.severity and not alert.is_snoozed]
    words = [Saying(alert.spoken, True, alert.severity) for alert in news]
    if after.question is not None and (before.question is None or before.question.id != after.question.id):
        words.append(Saying(after.question.text, True))
    if after.now.step is not None and after.now.step != before.now.step:
        words.append(Saying(after.now.say))
    if after.now.mood == "lost" != before.now.mood:
        words.append(Saying(after.now.name, True, "warning"))
    return tuple(words)
