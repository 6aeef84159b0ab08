"""Named step sequences, one JSON object a line: {"id", "steps": [{"name", "start", "end", "mistake"?}]}."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from guide.errors import InputError


@dataclass(frozen=True, slots=True)
class NamedStep:
    """A step that was done, with its times in seconds."""

    name: str
    start: float
    end: float
    is_mistake: bool = False


@dataclass(frozen=True, slots=True)
class NamedSequence:
    """One recording: the steps done, by start time, and the names of those marked as left out.

    >>> NamedSequence("a", (NamedStep("cut", 0.0, 2.0),)).is_clean
    True
    """

    id: str
    done: tuple[NamedStep, ...]
    left_out: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not self.left_out and not any(step.is_mistake for step in self.done)


def parse_sequences(lines: Iterable[str], source: str) -> list[NamedSequence]:
    """The sequences of a file's lines; InputError names the source and the line that is not one. Blank lines pass.

    A step that starts below 0 was left out.

    >>> parse_sequences(['{"id": "a", "steps": [{"name": "cut", "start": 0, "end": 2}]}'], "a file")[0].done[0].name
    'cut'
    """
    return [_sequence(line, f"{source}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _sequence(line: str, where: str) -> NamedSequence:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: should be one JSON object, got text that does not parse ({error}): write one sequence a line."
        ) from error
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not isinstance(item.get("steps"), list):
        raise InputError(f'{where}: should be an object with "id" (text) and "steps" (a list), got {_short(item)}.')
    steps = [_step(step, f"{where}, step {number}") for number, step in enumerate(item["steps"], 1)]
    done = sorted((step for step in steps if step.start >= 0), key=lambda step: step.start)
    names = {step.name for step in done}
    left_out = tuple(dict.fromkeys(step.name for step in steps if step.start < 0 and step.name not in names))
    return NamedSequence(item["id"], tuple(done), left_out)


def _step(item: Any, where: str) -> NamedStep:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"].strip():
        raise InputError(f'{where}: should be an object with a "name" (text), got {_short(item)}.')
    start, end = (_seconds(item.get(key), f'{where}: "{key}"') for key in ("start", "end"))
    mistake = item.get("mistake", False)
    if not isinstance(mistake, bool):
        raise InputError(f'{where}: "mistake" should be true or false, got {_short(mistake)}.')
    if start >= 0 and end < start:
        raise InputError(f"{where}: should end after it starts, got {start} to {end}: put the times right.")
    return NamedStep(item["name"].strip(), start, end, mistake)


def _seconds(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not -1e9 < value < 1e9:  # NaN fails every comparison
        raise InputError(f"{what} should be a number of seconds, got {_short(value)}.")
    return float(value)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
