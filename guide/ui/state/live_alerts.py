"""The alerts, the question and the actions of a session that the Live page shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guide.procedure.actions import Action, in_force
from guide.procedure.wording import ACTION_WORDS, ANSWERS, LATE_ANSWERS
from guide.serve.live_numbers import loud_alert
from guide.ui.state.live_words import SEVERITIES, clock
from guide.words import sentence

MOST_ACTIONS = 3
UNTOLD = ("pause", "resume")  # the page shows whether it is paused, and the same button takes it back

Plain = Mapping[str, Any]


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


def view_alerts(state: Plain) -> tuple[AlertView, ...]:
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
        int(alert["id"]), str(alert["title"]), str(alert["reason"]), sentence(str(alert["evidence"])),
        str(alert["severity"]), icon, severity_word, clock(alert["at"]), bool(alert["acknowledged"]),
        bool(alert["snoozed"]), bool(alert.get("snapshot")), kind == "missed", str(alert["todo"]), alert["shows"],
        str(alert["spoken"]),
    )  # fmt: skip


def loudest(alerts: Sequence[AlertView], state: Plain) -> AlertView | None:
    """The first alert that is to be dealt with now, its picture only where there is one."""
    stills, loud = {one["step"] for one in state["steps"] if one["stills"]}, loud_alert(state)
    found = next((one for one in alerts if loud is not None and one.id == loud["id"]), None)
    return found if found is None or found.shows in stills else replace(found, shows=None)


def view_question(question: Plain) -> QuestionView:
    return QuestionView(int(question["id"]), str(question["text"]))


def view_actions(state: Plain, names: Mapping[int, str], titles: Mapping[int, str]) -> tuple[ActionView, ...]:
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
