"""The words and keys of alerts and actions: the same on the dashboard, on phones and in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeAlias

from guide.domain import Alert
from guide.procedure.actions import ActionKind

TITLES: Mapping[str, str] = {
    "missed": "Missed", "out_of_order": "Out of order", "repeated": "Done again", "unknown": "Not recognised",
    "too_long": "Taking too long", "too_short": "Very short", "stalled": "No progress",
}  # fmt: skip
REASONS: Mapping[str, str] = {
    "missed": "This step was not seen, though it should be done by now.",
    "out_of_order": "This step came before one that always came first.",
    "repeated": "This step was done already.",
    "unknown": "What is being done is not a step of this task.",
    "too_long": "This step takes longer than in any demonstration.",
    "too_short": "This step was shorter than in any demonstration.",
    "stalled": "No step has been seen for a while.",
}
ACTION_WORDS: Mapping[str, str] = {
    "acknowledge": "Acknowledged", "was_done": "Said it was done", "false_alarm": "Marked as a false alarm",
    "snooze": "Snoozed", "mark_done": "Marked done", "not_yet": "Marked not done", "next": "Went to the next step",
    "previous": "Went back a step", "restart": "Restarted", "pause": "Paused", "resume": "Resumed",
    "answer": "Answered", "undo": "Undid",
}  # fmt: skip
ANSWERS: Mapping[ActionKind, tuple[str, str]] = {
    "acknowledge": ("Acknowledge", "You have seen it; the alert stays in the record."),
    "was_done": ("It was done", "The step counts as done, the alert is withdrawn."),
    "false_alarm": ("False alarm", "Withdraws the alert; a missed step still counts as not done."),
    "snooze": ("Snooze", "Silences the alert for a minute."),
}
"""What one can answer to an alert: the button's words, and what it means."""
MOODS: Mapping[str, str] = {
    "calm": "", "starting": "… just begun", "rest": "✓ done, waiting for the next step", "unsure": "? unsure",
    "late": "! longer than usual", "lost": "! no camera", "paused": "‖ paused", "over": "",
}  # fmt: skip
"""How the current step is going."""
LATE_ANSWERS: tuple[ActionKind, ...] = ("acknowledge", "was_done", "false_alarm", "answer")
"""What is still taken when a session is over."""

KeyAction: TypeAlias = ActionKind | Literal["yes", "no", "mute", "quit", "help"]
KEYS: Mapping[str, tuple[KeyAction, str]] = {
    "n": ("next", "next step"), "p": ("previous", "previous step"), "d": ("mark_done", "mark done"),
    "t": ("not_yet", "not yet"), "space": ("pause", "pause, resume"), "b": ("restart", "restart (asks first)"),
    "a": ("acknowledge", "acknowledge"), "w": ("was_done", "it was done"), "f": ("false_alarm", "false alarm"),
    "s": ("snooze", "snooze"), "y": ("yes", "yes"), "x": ("no", "no"), "u": ("undo", "undo"),
    "m": ("mute", "sound on, off"), "q": ("quit", "end (asks first)"), "?": ("help", "keys"),
}  # fmt: skip
"""One key, one meaning. R and C are left out: the dashboard's library keeps them for itself."""


def key_of(action: KeyAction) -> str:
    """The key of an action.

    >>> key_of("was_done")
    'w'
    """
    return next(key for key, (known, _) in KEYS.items() if known == action)


def title_of(kind: str, name: str) -> str:
    """An alert in a few words: its kind, and the step it is about where it is about one.

    >>> title_of("out_of_order", "fit board"), title_of("stalled", "")
    ('Out of order: fit board', 'No progress')
    """
    word = TITLES.get(kind, kind.replace("_", " "))
    return word if kind in ("unknown", "stalled") else f"{word}: {name}"


def advice_of(alert: Alert, called: Callable[[int], str], done: Collection[int]) -> tuple[str, int | None]:
    """What to do about an alert, and the step whose picture shows how, if any does; what steps are `called`."""
    name = called(alert.step)
    match alert.kind:
        case "missed":
            return f"Go back: {name}", alert.step
        case "out_of_order" if alert.before is not None and alert.before not in done:
            return f"First: {called(alert.before)}", alert.before
        case "out_of_order" | "too_short":
            return f"Check: {name}", alert.step
        case "repeated":
            return f"Already done: {name}", None
        case "unknown":
            return "Not part of the task", None
        case "stalled":
            return f"Continue: {name}", alert.step
    return f"Taking too long: {name}", alert.step
