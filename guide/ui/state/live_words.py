"""The words and signs of the Live page: where a session stands in its task, and how the loop fares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Plain = Mapping[str, Any]
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
    return sentence(str(told[-1]["text"])) if told else ""


def sentence(text: str) -> str:
    """What the server says, as it stands on the page by itself.

    >>> sentence("headset:line 2 has not sent anything yet; waiting for it.")
    'Line 2 has not sent anything yet; waiting for it.'
    """
    words = text.removeprefix("headset:")
    return f"{words[:1].upper()}{words[1:]}"


def without_step(state: Plain) -> str:
    """What stands in the place of a step while none is being done; nothing where the step before is to stand there."""
    if state["label"] is None:
        return "Waiting for the first pictures" if not state["health"]["processed"] else "Looking"
    if last_done(state) is None:
        return "Waiting for the first step"
    if state["label"]["step"] is None:
        return "No step recognised"
    return "All steps done" if is_all_done(state) else ""


def last_done(state: Plain) -> str | None:
    """The name of the step that was done last; what a person called not done is not."""
    done = {int(step) for step in state["progress"]["done"]}
    return next((str(visit["name"]) for visit in reversed(state["timeline"]) if int(visit["step"]) in done), None)


def lost_words(state: Plain) -> str:
    """Why a source gives no pictures any more, if so: what was seen last says nothing on what is done now."""
    notices = [one for one in state["health"]["notices"] if one.get("kind") in ("lost", "reopened", "gone")]
    is_lost = bool(notices) and notices[-1]["kind"] != "reopened" and state["health"]["processed"] > 0
    return sentence(str(notices[-1]["text"])) if is_lost else ""


def is_all_done(state: Plain) -> bool:
    """Whether nothing is left that has to be done, and nothing that usually is."""
    return not state["progress"]["lacking"] and not state["next"]


def count_done(state: Plain) -> int:
    """How many steps are done; the one being done is not yet, unless a person said so or it was done before."""
    progress, step = state["progress"], state["step"]
    done = {int(number) for number in progress["done"]}
    if step is None or state["state"] != "running" or step["step"] in progress.get("marked", ()):
        return len(done)
    visits = sum(visit["step"] == step["step"] for visit in state["timeline"])
    return len(done) if visits > 1 else len(done - {int(step["step"])})


def lacking_names(state: Plain) -> tuple[str, ...]:
    """What has to be done and is not, in the order in which it usually is."""
    names = {one["step"]: str(one["name"]) for one in state["steps"]}
    return tuple(names.get(step, f"step {step}") for step in state["progress"]["lacking"])


def choice_words(choice: Plain, names: Mapping[int, str]) -> str:
    """What speaks for a next step: how many demonstrations went on so, or why it is time for it.

    >>> choice_words({"count": 4, "total": 5, "ready": False, "after": [2]}, {2: "open case"})
    '4 of 5, first: open case'
    """
    if choice.get("missed"):
        return "missed: go back to it"
    after = [names.get(int(step), f"step {step}") for step in choice.get("after", ())]
    first = f"first: {after[0]}" if after and not choice["ready"] else ""
    so_far = f"{choice['count']} of {choice['total']}" if choice["total"] else ""
    words = "another variant" if choice.get("strange") else so_far
    return ", ".join(word for word in (words, first) if word) or "as written"


def current_words(step: int, state: Plain) -> list[str]:
    """What a person said of the step that is being done, and whether it has only just begun."""
    progress, current = state["progress"], state["step"]
    said = [("marked", "marked done"), ("denied", "marked not done"), ("strange", "of another variant")]
    words = [word for name, word in said if step in progress.get(name, ())]
    return ["just begun", *words] if current is not None and current.get("starting") else words


def ending_words(state: Plain) -> str:
    """How much was done and all that was not, in a sentence, below the verdict; a problem is told instead."""
    if state["state"] == "failed":
        return str(state["problem"]) or "The session broke off."
    done = set(state["progress"]["done"])
    rest = [str(one["name"]) for one in state["steps"] if one["step"] not in done]
    left = dict.fromkeys([*(name for name in lacking_names(state) if name in rest), *rest])
    seen = f"{len(done)} of {state['progress']['total']} steps done"
    is_complete = bool(state["ending"]) and state["ending"]["kind"] in ("complete", "look")
    words = "not seen, and no rule asks for it" if is_complete else "not done"
    return f"{seen}; {words}: {', '.join(left)}." if left and done else f"{seen}."
