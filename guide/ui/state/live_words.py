"""The signs of the Live page: one for each severity and place in the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Standing = Literal["done", "current", "missed", "out of order", "done again", "to come", "may come", "not done"]

ICONS: Mapping[Standing, str] = {
    "done": "✓", "current": "▶", "missed": "✗", "out of order": "⇅", "done again": "↻", "to come": "○", "may come": "◌",
    "not done": "–",
}  # fmt: skip
SEVERITIES: Mapping[str, tuple[str, str]] = {
    "alarm": ("!", "Alarm"),
    "warning": ("⚠", "Warning"),
    "info": ("ℹ", "Note"),
}


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(75.4), clock(3_725.0)
    ('1:15', '1:02:05')
    """
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
