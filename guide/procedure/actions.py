"""What an operator can do: thirteen kinds of action, each a plain value with time, person and comment.

Actions are evidence like any other: they are kept for good, one after another. Taking one back is an action too.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias, get_args

from msgspec import Meta, Struct, ValidationError, convert

from guide.errors import InputError
from guide.validation import misfit

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


Number: TypeAlias = Annotated[int, Meta(gt=0, lt=LARGEST)]


class ActionRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """An action as a client asks for it."""

    kind: Annotated[ActionKind, Meta(description="What is done.")]
    target: Annotated[
        Number | None, Meta(description="The alert or question it is about; for undo, the number of an action.")
    ] = None
    step: Annotated[Number | None, Meta(description="The step, for mark_done and not_yet.")] = None
    answer: Annotated[bool | None, Meta(description="Yes or no, to a question.")] = None
    snooze_s: Annotated[float, Meta(ge=0, le=LONGEST_SNOOZE_S, description="Seconds.")] = SNOOZE_S
    person: Annotated[str, Meta(max_length=LONGEST_TEXT, description="Who acts; without it, the session's person.")] = (
        ""
    )
    comment: Annotated[str, Meta(max_length=LONGEST_TEXT, description="Why.")] = ""


def read_action(plain: Mapping[str, Any], at: float, person: str = "") -> Action:
    """The action that a client asks for, taken at `at`; InputError with one sentence where it asks for nonsense.

    >>> read_action({"kind": "mark_done", "step": 2}, at=5.0).step
    2
    """
    if plain.get("kind") not in KINDS:
        raise InputError(f"an action is one of {', '.join(KINDS)}, got {plain.get('kind')!r:.40}.")
    try:
        asked = convert(plain, ActionRequest)
    except ValidationError as error:
        raise InputError(f"an action cannot be taken: {misfit(error, plain)}.") from error
    return Action(
        asked.kind, at, asked.target, asked.step, asked.answer, asked.snooze_s,
        _shown(asked.person) or person, _shown(asked.comment),
    )  # fmt: skip


def _shown(text: str) -> str:
    """A text for people: no characters that terminals and pages would obey; line ends become blanks."""
    spaced = (" " if character.isspace() else character for character in text)
    return "".join(one for one in spaced if unicodedata.category(one) not in _UNSHOWN).strip()


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


def newest_restart(actions: tuple[Action, ...], *more: Action) -> int:
    """The number of the newest restart that is not taken back, once further actions were taken; 0 where there is none.

    >>> newest_restart((Action("restart", number=1), Action("restart", number=2)), Action("undo", target=2))
    1
    """
    numbered = (replace(action, number=number) for number, action in enumerate(more, len(actions) + 1))
    return max((one.number for one in in_force((*actions, *numbered)) if one.kind == "restart"), default=0)
