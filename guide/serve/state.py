"""The state of a session as plain values: all that a dashboard or a page needs to show it."""

from __future__ import annotations

from typing import Any

from guide import wire
from guide.domain import BACKGROUND, UNSURE_BELOW, Alert, Guidance, Question, SettledLabel
from guide.procedure.attended import AttendedTracker
from guide.procedure.explain import watching
from guide.procedure.model import Procedure
from guide.procedure.state import State
from guide.procedure.tracker import only_asks
from guide.procedure.wording import REASONS, TITLES, advice_of, title_of
from guide.record.timeline import colour
from guide.session import Session

MOST_VISITS = 200  # the newest of a timeline: a state is asked for again and again and must stay small
MOST_ACTIONS = 20

Plain = dict[str, Any]


def state_object(session: Session) -> Plain:
    """The state of a session; to be called between two frames."""
    tracker, state = session.tracker, session.tracker.state
    label = session.last_label
    return {
        "at": round(state.known_at, 3),
        "label": None if label is None else wire.label_object(label),
        "step": _current(session, state),
        **done_object(tracker, _is_starting(session, state) or _is_interrupted(session, state)),
        **answers_object(tracker),
        "paused": tracker.attended.is_paused,
        "ending": None,
        "language": session.procedure.language,
        "watching": watching(session.procedure, only_asks(session.procedure, state)),
    }


def done_object(tracker: AttendedTracker, is_going_on: bool = False) -> Plain:
    """What was done, what is lacking and what comes next; whether the last turn is to be shown as going on."""
    procedure, progress, state = tracker.procedure, tracker.progress, tracker.state
    return {
        "next": [
            {"step": one.step, "name": procedure.name(one.step), "count": one.count, "total": one.total,
             "ready": one.is_ready, "missed": one.is_missed, "after": list(one.after),
             "strange": one.is_strange}
            for one in progress.next_steps
        ],
        "progress": {
            "done": list(progress.done), "lacking": list(progress.lacking), "total": len(procedure.steps),
            "share": round(len(progress.done) / max(len(procedure.steps), 1), 3),
            "marked": list(state.marked), "denied": list(state.denied), "strange": list(progress.strange),
        },
        "timeline": _timeline(procedure, state, is_going_on),
    }  # fmt: skip


def answers_object(tracker: AttendedTracker) -> Plain:
    """The open alerts and questions, and the newest actions of operators."""
    standing = [one for one in tracker.standing if isinstance(one, Question)]
    questions = [wire.guidance_object(one, tracker.procedure) for one in standing]
    return {
        "question": questions[0] if questions else None,
        "questions": questions,
        "alerts": _alerts(tracker),
        "actions": [wire.action_object(action) for action in tracker.actions[-MOST_ACTIONS:]],
    }


def steps_object(procedure: Procedure) -> list[Plain]:
    """The steps of a procedure with their usual durations in seconds."""
    return [
        {"step": step.number, "name": step.name, "say": procedure.said(step.number), "optional": step.is_optional,
         "repeatable": step.is_repeatable, "colour": colour(step.number),
         "expected_s": _expected(procedure, step.number)}
        for step in procedure.steps
    ]  # fmt: skip


def _current(session: Session, state: State) -> Plain | None:
    """The step being done; a label that is not of this step says nothing on how sure it is.

    One that a pause interrupts is still the one being done.
    """
    is_starting = _is_starting(session, state)
    step = state.last if is_starting or _is_interrupted(session, state) else state.current
    if step is None:
        return None
    label = None if is_starting else session.last_label
    elapsed_s = max(0.0, state.at - state.visits[-1].start) if is_starting else state.busy_s(state.at)
    return {
        "step": step,
        "name": session.procedure.name(step),
        "starting": is_starting,
        "confidence": round(label.confidence, 3) if label is not None and label.step == step else None,
        "unsure": not is_starting and not _is_sure(step, label),
        "elapsed_s": round(elapsed_s, 3),
        "expected_s": _expected(session.procedure, step),
    }


def _is_starting(session: Session, state: State) -> bool:
    """Whether the newest visit is known from a look back alone, which is ahead of the labels, and has just begun.

    A step that was confirmed and is over began longer ago: it was seen for a while, and not seen for a while.
    """
    if state.current is not None or not state.visits or state.belief is None or _is_resting(session):
        return False
    live = session.settings
    return state.at < state.visits[-1].start + live.confirm_s + live.bridge_s


def _is_interrupted(session: Session, state: State) -> bool:
    """Whether the session was paused in the middle of its newest visit, as far as is seen."""
    running = session.tracker.attended.running
    return session.tracker.attended.is_paused and running is not None and running.step == state.last


def _is_resting(session: Session) -> bool:
    """Whether the session is paused or over: nothing is begun then."""
    return session.tracker.attended.is_paused or session.tracker.state.is_finished


def _is_sure(step: int, label: SettledLabel | None) -> bool:
    """Whether the newest label speaks for the step; a short pause within it does not speak against it."""
    if label is None or label.step not in (step, BACKGROUND):
        return False
    return label.step == BACKGROUND or label.confidence >= UNSURE_BELOW


def _expected(procedure: Procedure, step: int) -> Plain | None:
    """How long the demonstrations took for a step."""
    found = procedure.statistics_of(step)
    if found is None:
        return None
    names = ("shortest", "low", "usual", "high", "longest")
    return {name: round(seconds, 3) for name, seconds in zip(names, found.durations_s, strict=True)}


def _timeline(procedure: Procedure, state: State, is_shown_so: bool) -> list[Plain]:
    """The newest visits; the last one is under way where it is, or is to be shown so."""
    visits, firsts = state.visits[-MOST_VISITS:], {visit.step: visit for visit in reversed(state.visits)}
    is_going_on = is_shown_so or state.running_since is not None
    return [
        {
            "step": visit.step,
            "name": procedure.name(visit.step),
            "again": visit is not firsts[visit.step],
            "start": round(visit.start, 3),
            "end": None if visit is visits[-1] and is_going_on else round(visit.end, 3),
            "busy_s": round(visit.busy_s, 3),
        }
        for visit in visits
    ]


def guidance_object(said: Guidance, tracker: AttendedTracker) -> Plain:
    """Guidance as pages show it: an alert with its words, what to do, and the step whose picture shows how."""
    plain = wire.guidance_object(said, tracker.procedure)
    if not isinstance(said, Alert):
        return plain
    (todo, shows), (spoken, _) = (
        advice_of(said, called, tracker.state.done) for called in (tracker.procedure.name, tracker.procedure.said)
    )
    words = {"title": title_of(said.kind, plain["name"]), "reason": REASONS[said.kind]}
    return {**plain, **words, "todo": todo, "shows": shows, "spoken": f"{TITLES[said.kind]}. {spoken}."}


def _alerts(tracker: AttendedTracker) -> list[Plain]:
    seen, quiet = set(tracker.acknowledged), set(tracker.snoozed)
    return [
        {
            **guidance_object(one, tracker),
            "acknowledged": one.id in seen,
            "snoozed": one.id in quiet,
        }
        for one in tracker.standing
        if isinstance(one, Alert)
    ]
