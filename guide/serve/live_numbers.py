"""A session's beat: the few numbers that change with every frame, and a mark that changes when anything else does.

A page that is open for hours hears beats and writes their numbers; only for a new mark it asks for the whole state.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from guide.domain import UNSURE_BELOW

COUNTS = ("received", "processed", "dropped", "age_s", "p50_ms", "p95_ms")
KEPT = ("state", "problem", "paused", "next", "progress", "alerts", "question", "questions", "actions")

ACTION = '{"type": "action"'

Plain = dict[str, Any]


def beat_object(state: Mapping[str, Any]) -> Plain:
    """The beat of a session that stands so: times in seconds, the numbers of the health strip, and the mark."""
    step, health = state["step"], state["health"]
    return {
        "type": "beat",
        "mark": mark_of(state),
        "over": state["state"] != "running",
        "at": state["at"],
        "elapsed_s": None if step is None else step["elapsed_s"],
        "confidence": None if step is None else step["confidence"],
        "unsure": is_unsure(state),
        "late": step is not None and is_late(step),
        "health": {name: health.get(name) for name in COUNTS},
    }


def mark_of(state: Mapping[str, Any]) -> str:
    """The same for two states that differ in nothing but the numbers of a beat."""
    health, step = state["health"], state["step"]
    still = {name: state[name] for name in KEPT} | {
        "step": None if step is None else (step["step"], step["name"], step["expected_s"], step.get("starting")),
        "timeline": [(visit["step"], _length_s(visit)) for visit in state["timeline"]],
        "label": (state["label"] is not None, step is None and (state["label"] or {}).get("step", 0) is None),
        "seen": health["processed"] > 0,
        "trouble": (health.get("reason"), health["recording"], health["notices"][-1:]),
    }
    return hashlib.blake2b(json.dumps(still, sort_keys=True).encode(), digest_size=8).hexdigest()


def _length_s(visit: Mapping[str, Any]) -> int | None:
    """In whole seconds, as pages show it: the end of a visit may still move a little."""
    return None if visit["end"] is None else round(visit.get("busy_s", visit["end"] - visit["start"]))


def is_unsure(state: Mapping[str, Any]) -> bool:
    """Whether the current step is shown as unsure: its weight is small, or the newest label is another step.

    One that has only just begun is ahead of the labels, and a pause within a step says nothing against it.
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


class Watcher:
    """Waits in an event loop for what happens in a session's thread.

    It wakes once a frame has been looked at, so that what a page then does falls into the pause before the next one.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()

    def say(self, text: str) -> None:
        """Wakes for an action; all else that is said comes with a frame, which is `handled` right after."""
        if text.startswith(ACTION):
            self._wake()

    def handled(self, at: float, fate: str) -> None:
        if fate == "seen":
            self._wake()

    def over(self) -> None:
        self._wake()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:  # the loop was stopped: there is nobody left to tell
            return

    async def wait(self, timeout_s: float) -> None:
        """Until something happens that was not waited for yet, or so many seconds."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            pass
        self._news.clear()
