"""Live numbers of a session: what changes with every frame, and a fingerprint that changes when anything else does.

On the wire they are a `beat` with its `mark`. A page that is open for hours writes these numbers as they come and asks
for the whole state only when the mark is new.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from guide.domain import UNSURE_BELOW

HEALTH_NUMBERS = ("received", "processed", "dropped", "age_s", "p50_ms", "p95_ms")
FINGERPRINTED = ("state", "problem", "paused", "next", "progress", "alerts", "question", "questions", "actions")

LOUD = ("alarm", "warning")

ACTION = '{"type": "action"'

Plain = dict[str, Any]


def live_numbers_object(state: Mapping[str, Any]) -> Plain:
    """The live numbers of a session's state: times in seconds, health figures, and the fingerprint as `mark`."""
    step, health = state["step"], state["health"]
    return {
        "type": "beat",
        "mark": state_fingerprint(state),
        "over": state["state"] != "running",
        "at": state["at"],
        "elapsed_s": None if step is None else step["elapsed_s"],
        "confidence": None if step is None else step["confidence"],
        "unsure": is_unsure(state),
        "late": step is not None and is_late(step),
        "loud": _brief(loud_alert(state)),
        "health": {name: health.get(name) for name in HEALTH_NUMBERS},
    }


def loud_alert(state: Mapping[str, Any]) -> Plain | None:
    """The alert that is to be dealt with now: the gravest, then the newest that nobody has answered or snoozed."""
    if state["state"] != "running":
        return None
    waiting = [one for one in state["alerts"] if not one["acknowledged"] and not one["snoozed"]]
    loud = [one for one in waiting if one["severity"] in LOUD]
    return min(loud, key=lambda one: (LOUD.index(one["severity"]), -one["id"]), default=None)


def _brief(alert: Plain | None) -> Plain | None:
    return None if alert is None else {name: alert[name] for name in ("id", "severity", "title", "todo", "reason")}


def state_fingerprint(state: Mapping[str, Any]) -> str:
    """A hash that is the same for two states that differ in their live numbers only."""
    health, step = state["health"], state["step"]
    steady = {name: state[name] for name in FINGERPRINTED} | {
        "step": None if step is None else (step["step"], step["name"], step["expected_s"], step.get("starting")),
        "timeline": [(visit["step"], _length_s(visit)) for visit in state["timeline"]],
        "label": (state["label"] is not None, step is None and (state["label"] or {}).get("step", 0) is None),
        "seen": health["processed"] > 0,
        "trouble": (health.get("reason"), health["recording"], health["notices"][-1:]),
    }
    return hashlib.blake2b(json.dumps(steady, sort_keys=True).encode(), digest_size=8).hexdigest()


def _length_s(visit: Mapping[str, Any]) -> int | None:
    """In whole seconds, as pages show it: the end of a visit may still move a little."""
    return None if visit["end"] is None else round(visit.get("busy_s", visit["end"] - visit["start"]))


def is_unsure(state: Mapping[str, Any]) -> bool:
    """Whether the current step is shown as unsure: low confidence, or the newest label is another step.

    A step that has only just begun is ahead of the labels, and background within a step is no evidence against it.
    """
    step, label = state["step"], state["label"]
    if step is None or label is None:
        return True
    if step.get("starting") or label["step"] == 0:
        return False
    return bool(label["step"] != step["step"] or step["confidence"] is None or step["confidence"] < UNSURE_BELOW)


def is_late(step: Mapping[str, Any]) -> bool:
    """Whether the current step has taken longer than nine of ten demonstrations took for it."""
    times = step["expected_s"]
    return times is not None and bool(step["elapsed_s"] > times["high"])


class UpdateWaiter:
    """Lets an event loop wait for updates from a session's thread.

    It wakes after a frame was processed, so that the page's work falls into the idle time before the next frame.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._update = asyncio.Event()

    def on_message(self, text: str) -> None:
        """Wakes for an action; all other messages belong to a frame, for which `on_frame` is called right after."""
        if text.startswith(ACTION):
            self._wake()

    def on_frame(self, at: float, fate: str) -> None:
        if fate == "seen":
            self._wake()

    def on_end(self) -> None:
        self._wake()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._update.set)
        except RuntimeError:  # the loop was stopped: there is nobody left to tell
            return

    async def wait(self, timeout_s: float) -> None:
        """Waits for the next update, at most `timeout_s`; one that came before the call counts."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._update.wait()
        except TimeoutError:
            pass
        self._update.clear()
