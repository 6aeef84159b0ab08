"""What was planted in the live recordings, as truth.json tells it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from guide.domain import BACKGROUND

from .recording import Recording
from .script import Event, Script, label_of

Truth: TypeAlias = dict[str, object]


def truth_of_all(recordings: Iterable[Recording]) -> dict[str, Truth]:
    """The truth of each live recording by its name."""
    return {recording.name: truth_of(recording.script) for recording in recordings}


def truth_of(script: Script) -> Truth:
    """Fault, step, the step it should have waited for, when it can be known, and the true segments.

    >>> import numpy as np
    >>> from .script import sample_script
    >>> truth_of(sample_script(np.random.default_rng(1)))["at"] is None
    True
    """
    fault = script.fault
    truth: Truth = {
        "fault": fault.kind,
        "step": None if fault.step is None else label_of(fault.step),
        "before": None if fault.before is None else label_of(fault.before),
        "at": known_at(script),
        "segments": [[event.start, event.end, label_of(event.step)] for event in script.steps],
    }
    if script.unknowns:
        truth["unknown"] = [[event.start, event.end] for event in script.unknowns]
    return truth


def known_at(script: Script) -> float | None:
    """The start of the step that gives the fault away; a missed last step is known only at the end."""
    if script.fault.kind == "none":
        return None
    done: list[Event] = [event for event in script.events if event.step != BACKGROUND]
    return script.duration if script.fault.index is None else done[script.fault.index].start


def named_at(script: Script) -> float | None:
    """When the fault can be told from every other: an exchange from a step left out, as the other step begins."""
    at, before = known_at(script), script.fault.before
    if at is None or script.fault.kind != "out_of_order":
        return at
    return min((event.start for event in script.steps if event.step == before and event.start >= at), default=at)
