"""The words and signs of the Live page: one for each kind of alert, action and place in the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Standing = Literal["done", "current", "missed", "out of order", "done again", "to come", "may come", "not done"]

ICONS: Mapping[Standing, str] = {
    "done": "✓", "current": "▶", "missed": "✗", "out of order": "⇅", "done again": "↻", "to come": "○", "may come": "◌",
    "not done": "–",
}  # fmt: skip
TITLES: Mapping[str, str] = {
    "missed": "Missed", "out_of_order": "Out of order", "repeated": "Done again", "unknown": "Not recognised",
    "too_long": "Takes long", "too_short": "Very short", "stalled": "Standing still",
}  # fmt: skip
REASONS: Mapping[str, str] = {
    "missed": "This step was not seen, though it should be done by now.",
    "out_of_order": "This step came before one that always came first.",
    "repeated": "This step was done already.",
    "unknown": "What is being done is no step of this task.",
    "too_long": "This step takes longer than in any demonstration.",
    "too_short": "This step was shorter than in any demonstration.",
    "stalled": "Nothing of the task has been seen for a while.",
}
SEVERITIES: Mapping[str, tuple[str, str]] = {
    "alarm": ("!", "Alarm"),
    "warning": ("⚠", "Warning"),
    "info": ("ℹ", "Note"),
}
ACTION_WORDS: Mapping[str, str] = {
    "acknowledge": "Acknowledged", "was_done": "Said it was done", "false_alarm": "Called a false alarm",
    "snooze": "Snoozed", "mark_done": "Marked done", "not_yet": "Marked not done", "next": "Went to the next step",
    "previous": "Went back a step", "restart": "Began anew", "pause": "Paused", "resume": "Went on",
    "answer": "Answered", "undo": "Took back",
}  # fmt: skip
ANSWERS_TO_ALERTS = ("acknowledge", "was_done", "false_alarm", "snooze")


def title_of(kind: str, name: str) -> str:
    """An alert in a few words: its kind, and the step it is about where it is about one.

    >>> title_of("out_of_order", "fit board"), title_of("stalled", "")
    ('Out of order: fit board', 'Standing still')
    """
    word = TITLES.get(kind, kind.replace("_", " "))
    return word if kind in ("unknown", "stalled") else f"{word}: {name}"


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(75.4), clock(3_725.0)
    ('1:15', '1:02:05')
    """
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
