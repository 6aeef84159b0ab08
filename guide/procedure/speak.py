"""When to speak: one alert per cause, few questions, and alerts that resolve themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from guide.domain import Alert, Guidance, Question, Resolution, Severity
from guide.procedure.flags import PASSING, Finding
from guide.procedure.model import Procedure
from guide.procedure.settings import TrackerSettings
from guide.procedure.state import Cause, Voice

_RANK: dict[Severity, int] = {"info": 0, "warning": 1, "alarm": 2}


def tell(
    voice: Voice, finding: Finding, at: float, procedure: Procedure, settings: TrackerSettings
) -> tuple[Voice, tuple[Guidance, ...]]:
    """What is said about a finding: a new alert, a graver version of the standing one, a question, or nothing."""
    standing = voice.alert_on(finding.cause)
    if standing is not None:
        return _escalate(voice, standing, finding, at)
    if _was_told(voice, finding):
        return voice, ()
    return _alert(voice, finding, at) if finding.is_sure else _ask(voice, finding, at, procedure, settings)


def settle(voice: Voice, causes: Iterable[Cause], at: float, is_withdrawn: bool) -> tuple[Voice, tuple[Guidance, ...]]:
    """The standing alerts and open questions on these causes are resolved."""
    wanted = set(causes)
    if not wanted:
        return voice, ()
    alerts = [alert.id for cause, alert in voice.standing if cause in wanted]
    questions = [number for cause, number in voice.open_questions if cause in wanted]
    spoken = voice.spoken
    if is_withdrawn:  # what should not have been said was not said: it may be said when it is true
        spoken = tuple(cause for cause in spoken if cause not in wanted)
    rest = replace(
        voice,
        spoken=spoken,
        standing=tuple(pair for pair in voice.standing if pair[0] not in wanted),
        open_questions=tuple(pair for pair in voice.open_questions if pair[0] not in wanted),
    )
    return rest, tuple(Resolution(number, at, is_withdrawn) for number in sorted([*alerts, *questions]))


def _was_told(voice: Voice, finding: Finding) -> bool:
    """Whether the cause was told of and is not to be told of again, as what passes is when it comes back.

    A missed step is: it only comes up again when a person said that it was not done after all.
    """
    return finding.cause in voice.spoken and finding.kind not in ("missed", *PASSING)


def _alert(voice: Voice, finding: Finding, at: float) -> tuple[Voice, tuple[Guidance, ...]]:
    voice, closed = settle(voice, [finding.cause], at, is_withdrawn=False)
    alert = Alert(voice.next_id, at, finding.kind, finding.step, finding.before, finding.severity, finding.evidence)
    told = replace(
        voice,
        next_id=voice.next_id + 1,
        standing=(*voice.standing, (finding.cause, alert)),
        spoken=(*voice.spoken, finding.cause),
    )
    return told, (*closed, alert)


def _escalate(voice: Voice, standing: Alert, finding: Finding, at: float) -> tuple[Voice, tuple[Guidance, ...]]:
    """The standing alert again under its own id, graver: the cause is the same, only more certain."""
    if not finding.is_sure or _RANK[finding.severity] <= _RANK[standing.severity]:
        return voice, ()
    graver = replace(standing, at=at, severity=finding.severity, evidence=finding.evidence)
    changed = tuple((cause, graver if alert.id == graver.id else alert) for cause, alert in voice.standing)
    return replace(voice, standing=changed), (graver,)


def _ask(
    voice: Voice, finding: Finding, at: float, procedure: Procedure, settings: TrackerSettings
) -> tuple[Voice, tuple[Guidance, ...]]:
    if len(voice.asked) >= settings.most_questions or finding.step in voice.asked:
        return voice, ()
    question = Question(voice.next_id, at, finding.step, question_text(finding, procedure))
    asked = replace(
        voice,
        next_id=voice.next_id + 1,
        open_questions=(*voice.open_questions, (finding.cause, question.id)),
        asked=(*voice.asked, finding.step),
    )
    return asked, (question,)


def question_text(finding: Finding, procedure: Procedure) -> str:
    """The finding as a question to the operator."""
    name = procedure.name(finding.step)
    if finding.kind == "repeated":
        return f'Are you doing "{name}" again?'
    if finding.before is not None:
        return f'Did you do "{name}" before "{procedure.name(finding.before)}"?'
    return f'Did you do "{name}"?'
