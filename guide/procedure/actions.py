"""What an operator can do: thirteen kinds of action, each a plain value with time, person and comment.

Actions are evidence like any other: they are kept for good, one after another. Taking one back is an action too.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from guide.errors import InputError

ActionKind: TypeAlias = Literal[
    "acknowledge", "was_done", "false_alarm", "snooze", "mark_done", "not_yet", "next", "previous", "restart", "pause",
    "resume", "answer", "undo",
]  # fmt: skip

KINDS: tuple[ActionKind, ...] = get_args(ActionKind)
ABOUT_WORDS: tuple[ActionKind, ...] = ("acknowledge", "was_done", "false_alarm", "snooze", "answer")
"""These name an alert or a question in `target`."""
ABOUT_STEPS: tuple[ActionKind, ...] = ("mark_done", "not_yet")
SNOOZE_S = 60.0
LONGEST_SNOOZE_S = 86_400.0
LONGEST_TEXT = 1_000
LARGEST = 2**53
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person did about the guidance; `at` is seconds since the session began.

    `target` is the alert or question it is about, or for an undo the number of the action taken back. `number` is
    given when the action is taken: 1 for the first of a session.

    >>> Action("false_alarm", at=12.0, target=3, person="shift 2", comment="glove in view").kind
    'false_alarm'
    """

    kind: ActionKind
    at: float = 0.0
    target: int | None = None
    step: int | None = None
    answer: bool | None = None
    """Yes or no, to a question."""
    snooze_s: float = SNOOZE_S
    person: str = ""
    comment: str = ""
    number: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"an action is one of {', '.join(KINDS)}, got {self.kind!r:.40}.")
        if (self.kind in (*ABOUT_WORDS, "undo")) != (self.target is not None):
            raise InputError(f"{self.kind} needs {_needs(self.kind)}, got target {self.target}.")
        if (self.kind in ABOUT_STEPS) != (self.step is not None):
            raise InputError(f"{self.kind} needs {_needs(self.kind)}, got step {self.step}.")
        if (self.kind == "answer") != (self.answer is not None):
            raise InputError(f"{self.kind} needs {_needs(self.kind)}, got answer {self.answer}.")
        if not 0 <= self.snooze_s <= LONGEST_SNOOZE_S or not math.isfinite(self.at):
            raise InputError(f"an action takes finite times and snoozes up to a day, got {self.at}, {self.snooze_s}.")


def _needs(kind: ActionKind) -> str:
    if kind == "undo":
        return "the number of an action as its target, and nothing else"
    if kind == "answer":
        return "the number of a question as its target and an answer, true or false"
    if kind in ABOUT_STEPS:
        return "the number of a step, and nothing else"
    return "the number of an alert or question as its target" if kind in ABOUT_WORDS else "no target, step or answer"


def read_action(plain: Mapping[str, Any], at: float, person: str = "") -> Action:
    """The action that a client asks for, taken at `at`; InputError with one sentence where it asks for nonsense.

    >>> read_action({"kind": "mark_done", "step": 2}, at=5.0).step
    2
    """
    known = {"kind", "target", "step", "answer", "snooze_s", "person", "comment"}
    if strange := sorted(str(key)[:40] for key in plain if key not in known):
        raise InputError(f"an action has the fields {', '.join(sorted(known))}, got {strange[0]!r} as well.")
    answer = plain.get("answer")
    if answer is not None and not isinstance(answer, bool):
        raise InputError(f"an answer is true or false, got {answer!r:.40}.")
    snooze_s = plain.get("snooze_s", SNOOZE_S)
    if type(snooze_s) not in (int, float) or snooze_s > LONGEST_SNOOZE_S:  # a whole number may be past all floats
        raise InputError(f"snooze_s is a number of seconds, up to a day, got {snooze_s!r:.40}.")
    kind = plain.get("kind")
    if not isinstance(kind, str):
        raise InputError(f"an action is one of {', '.join(KINDS)}, got {kind!r:.40}.")
    return Action(
        kind,  # type: ignore[arg-type]  # looked at by Action itself
        at,
        _number(plain, "target"),
        _number(plain, "step"),
        answer,
        float(snooze_s),
        _text(plain, "person") or person,
        _text(plain, "comment"),
    )


def _number(plain: Mapping[str, Any], name: str) -> int | None:
    value = plain.get(name)
    if value is not None and (type(value) is not int or not 0 < value < LARGEST):
        raise InputError(f"{name} is a whole number from 1, got {value!r:.40}.")
    return value


def _text(plain: Mapping[str, Any], name: str) -> str:
    """A text for people: no characters that terminals and pages would obey; line ends become blanks."""
    value = plain.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise InputError(f"{name} is text of up to {LONGEST_TEXT} characters, got {value!r:.40}.")
    shown = (" " if character.isspace() else character for character in value)
    return "".join(one for one in shown if unicodedata.category(one) not in _UNSHOWN).strip()


def in_force(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions that were not taken back, undos left out; an undo that was itself taken back counts for nothing.

    >>> taken = [Action("pause", number=1), Action("undo", target=1, number=2), Action("next", number=3)]
    >>> [action.kind for action in in_force(taken)]
    ['next']
    """
    kept: list[Action] = []
    undone: set[int] = set()
    for action in reversed(list(actions)):
        if action.number in undone:
            continue
        if action.kind == "undo" and action.target is not None:
            undone.add(action.target)
        else:
            kept.append(action)
    return tuple(reversed(kept))
