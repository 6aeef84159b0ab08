"""How the loop fares, in words: the Live page's strip of health, and what is wrong, if anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HealthView:
    """A number of the health strip; `key` is its name among the live numbers, empty where it never changes.

    >>> HealthView("processed", "Processed", "1,204").value
    '1,204'
    """

    key: str
    name: str
    value: str


def view_health(health: Plain) -> tuple[HealthView, ...]:
    """How the loop fares; a recording has no mailbox, so all its frames are taken."""
    is_live = bool(health["is_live"])
    came = "received" if is_live else "processed"
    speed = " / ".join("–" if ms is None else f"{ms:.0f}" for ms in (health.get("p50_ms"), health.get("p95_ms")))
    age = HealthView("age_s", "Age", f"{health['age_s']:.1f} s") if is_live else HealthView("", "Age", "recording")
    return (
        HealthView(came, "Frames in", f"{health[came]:,}"),
        HealthView("processed", "Processed", f"{health['processed']:,}"),
        HealthView("dropped", "Dropped", f"{health['dropped']:,}"),
        age,
        HealthView("speed", "Time a frame", f"{speed} ms"),
        HealthView("", "Runs on", _provider(str(health.get("provider", "")), str(health.get("precision", "")))),
    )


def _provider(name: str, precision: str) -> str:
    told = {"CPUExecutionProvider": "CPU", "CUDAExecutionProvider": "GPU (CUDA)"}.get(name, name or "–")
    return told + {"mixed": ", mixed precision", "int8": ", 8 bits"}.get(precision, "")


def notice_of(health: Plain, is_lost: bool = False) -> str:
    """What is wrong with accelerator, recording or source, if anything; one sentence.

    Of a source that `is_lost` the page tells elsewhere.
    """
    if health.get("reason"):
        return str(health["reason"])
    if health["recording"] not in ("ok", "off"):
        return str(health["recording"])
    told = [one for one in health["notices"][-1:] if not (is_lost and one.get("kind") in ("lost", "gone"))]
    return str(told[-1]["text"]) if told else ""
