"""Updates as JSON objects, one a line: what `watch --jsonl` prints and the server sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from guide.domain import UNKNOWN, Alert, Guidance, Question, Resolution, SettledLabel, StepEvent, Update
from guide.procedure.actions import Action
from guide.procedure.model import Procedure


def lines(update: Update, procedure: Procedure, with_labels: bool = False) -> Iterator[str]:
    """The lines of one update: its label (if wanted), then its step events, then its guidance."""
    if with_labels:
        yield dump(label_object(update.label))
    for event in update.events:
        yield dump(event_object(event, procedure))
    for said in update.guidance:
        yield dump(guidance_object(said, procedure))


def dump(thing: dict[str, Any]) -> str:
    return json.dumps(thing, ensure_ascii=False, allow_nan=False)


def label_object(label: SettledLabel) -> dict[str, Any]:
    step = None if label.step <= UNKNOWN else label.step
    return {"type": "label", "at": _s(label.at), "step": step, "confidence": round(label.confidence, 3)}


def event_object(event: StepEvent, procedure: Procedure) -> dict[str, Any]:
    return {
        "type": "step",
        "at": _s(event.at),
        "step": event.step,
        "name": procedure.name(event.step),
        "state": event.state,
        "start": _s(event.start),
        "end": None if event.end is None else _s(event.end),
        "confidence": round(event.confidence, 3),
    }


def guidance_object(said: Guidance, procedure: Procedure) -> dict[str, Any]:
    match said:
        case Alert():
            return {
                "type": "alert",
                "id": said.id,
                "at": _s(said.at),
                "kind": said.kind,
                "step": said.step,
                "name": procedure.name(said.step),
                "before": said.before,
                "severity": said.severity,
                "evidence": said.evidence,
            }
        case Resolution():
            return {"type": "resolve", "id": said.id, "at": _s(said.at), "withdrawn": said.is_withdrawn}
        case Question():
            return {"type": "question", "id": said.id, "at": _s(said.at), "step": said.step, "text": said.text}


def action_object(action: Action) -> dict[str, Any]:
    """An operator's action, to be shown to everybody who follows the session."""
    return {
        "type": "action",
        "number": action.number,
        "at": _s(action.at),
        "kind": action.kind,
        "target": action.target,
        "step": action.step,
        "answer": action.answer,
        "person": action.person,
        "comment": action.comment,
    }


def _s(seconds: float) -> float:
    return round(seconds, 3)
