"""Where a session stands, as plain values: all that a dashboard or a page needs to show it."""

from __future__ import annotations

from typing import Any

from guide import wire
from guide.domain import UNSURE_BELOW, Alert, Question
from guide.procedure.model import Procedure
from guide.procedure.state import State
from guide.session import Session

MOST_VISITS = 200  # the newest of a timeline: a state is asked for again and again and must stay small
MOST_ACTIONS = 20

Plain = dict[str, Any]


def state_object(session: Session) -> Plain:
    """What the session knows of itself; to be asked between two frames."""
    tracker, procedure = session.tracker, session.procedure
    progress, state = tracker.progress, tracker.state
    label = session.last_label
    questions = [wire.guidance_object(one, procedure) for one in tracker.standing if isinstance(one, Question)]
    return {
        "at": round(state.at if label is None else label.at, 3),
        "label": None if label is None else wire.label_object(label),
        "step": _current(session, state),
        "next": [
            {"step": one.step, "name": procedure.name(one.step), "count": one.count, "total": one.total,
             "ready": one.is_ready}
            for one in progress.next_steps
        ],
        "progress": {
            "done": list(progress.done), "lacking": list(progress.lacking), "total": len(procedure.steps),
            "share": round(len(progress.done) / max(len(procedure.steps), 1), 3),
        },
        "timeline": _timeline(procedure, state),
        "alerts": _alerts(session),
        "question": questions[0] if questions else None,
        "questions": questions,
        "actions": [wire.action_object(action) for action in tracker.actions[-MOST_ACTIONS:]],
        "paused": tracker.attended.is_paused,
    }  # fmt: skip


def steps_object(procedure: Procedure) -> list[Plain]:
    """The steps of a procedure with their usual durations in seconds."""
    return [
        {"step": step.number, "name": step.name, "optional": step.is_optional, "repeatable": step.is_repeatable,
         "expected_s": _expected(procedure, step.number)}
        for step in procedure.steps
    ]  # fmt: skip


def _current(session: Session, state: State) -> Plain | None:
    if state.current is None:
        return None
    label = session.last_label
    return {
        "step": state.current,
        "name": session.procedure.name(state.current),
        "confidence": None if label is None else round(label.confidence, 3),
        "unsure": label is None or label.confidence < UNSURE_BELOW,
        "elapsed_s": round(state.busy_s(state.at), 3),
        "expected_s": _expected(session.procedure, state.current),
    }


def _expected(procedure: Procedure, step: int) -> Plain | None:
    """How long the demonstrations took for a step."""
    found = procedure.statistics_of(step)
    if found is None:
        return None
    names = ("shortest", "low", "usual", "high", "longest")
    return {name: round(seconds, 3) for name, seconds in zip(names, found.durations_s, strict=True)}


def _timeline(procedure: Procedure, state: State) -> list[Plain]:
    visits = state.visits[-MOST_VISITS:]
    return [
        {
            "step": visit.step,
            "name": procedure.name(visit.step),
            "start": round(visit.start, 3),
            "end": None if visit is visits[-1] and state.running_since is not None else round(visit.end, 3),
        }
        for visit in visits
    ]


def _alerts(session: Session) -> list[Plain]:
    tracker = session.tracker
    seen, quiet = set(tracker.acknowledged), set(tracker.snoozed)
    return [
        {
            **wire.guidance_object(one, session.procedure),
            "acknowledged": one.id in seen,
            "snoozed": one.id in quiet,
        }
        for one in tracker.standing
        if isinstance(one, Alert)
    ]
