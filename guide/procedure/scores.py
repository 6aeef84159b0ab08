"""Checks named sequences and scores the verdicts against the mistakes marked in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from guide.domain import UNKNOWN, Alert, KeyStep, Segment
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.replay import follow, standing_alerts
from guide.procedure.rule_selection import FALSE_ALARM_RATE
from guide.procedure.sequences import NamedSequence
from guide.procedure.verdicts import Blame, judge
from guide.procedure.visits import visits_of


@dataclass(frozen=True, slots=True)
class Checked:
    """A sequence and what the checker says about it: a flag per step done, missed steps, alerts as one hears them."""

    sequence: NamedSequence
    flagged: tuple[bool, ...]
    missed: tuple[str, ...]
    alerts: tuple[Alert, ...]
    false_alarms: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Per-step scores from 0 to 1, 0 where there is nothing to score; false alarms are alerts per sequence."""

    f1_correct: float
    f1_mistake: float
    f1_average: float
    precision: float
    recall: float
    false_alarms_per_sequence: float
    false_alarms_per_clean_sequence: float


@dataclass(frozen=True, slots=True)
class MissedScores:
    """How well the missed steps named agree with those marked as left out."""

    precision: float
    recall: float
    f1: float


def learn_names(sequences: Sequence[NamedSequence], rate: float = FALSE_ALARM_RATE) -> Procedure:
    """The procedure behind named sequences; where some are marked as faulty, only the clean ones teach."""
    taught = [one for one in sequences if one.is_clean] or list(sequences)
    names = dict.fromkeys(step.name for one in taught for step in one.done)
    steps = [KeyStep(number, name) for number, name in enumerate(names, 1)]
    numbers = {step.name: step.number for step in steps}
    return learn_procedure([_segments(one, numbers) for one in taught], steps, rate, are_true=True)


def check(procedure: Procedure, sequence: NamedSequence, blame: Blame = "both") -> Checked:
    """The verdict on each step, the steps missed, and the alerts on order that an operator would have heard."""
    numbers = {step.name: step.number for step in procedure.steps}
    strange = dict.fromkeys(step.name for step in sequence.done if step.name not in numbers)
    every = numbers | {name: len(numbers) + place for place, name in enumerate(strange, 1)}
    said = follow(procedure, visits_of(_segments(sequence, every)))
    alerts = tuple(alert for alert in standing_alerts(said) if alert.kind not in ("too_long", "too_short"))
    steps = [numbers.get(step.name, UNKNOWN) for step in sequence.done]
    return Checked(
        sequence,
        tuple(judge(procedure, [every[step.name] for step in sequence.done], blame)),
        tuple(procedure.name(step) for step in procedure.rules.required_but(steps)),
        alerts,
        sum(not _is_meant(alert, procedure, sequence) for alert in alerts),
    )


def unseen_names(procedure: Procedure, sequence: NamedSequence) -> frozenset[str]:
    """The steps of a sequence that none of those learnt from holds."""
    return frozenset(step.name for step in sequence.done) - {step.name for step in procedure.steps}


def never_flag(checked: Checked) -> Checked:
    """The same sequence under a checker that never says anything: the row every table needs beside it."""
    return replace(checked, flagged=(False,) * len(checked.flagged), missed=(), alerts=(), false_alarms=0)


def score(checked: Sequence[Checked]) -> Scores:
    """Scores over all steps of all sequences."""
    pairs = [pair for one in checked for pair in zip(one.flagged, _marks(one.sequence), strict=True)]
    hits = sum(flag and mark for flag, mark in pairs)
    passed = sum(not flag and not mark for flag, mark in pairs)
    flags, marks = sum(flag for flag, _ in pairs), sum(mark for _, mark in pairs)
    f1_mistake = _ratio(2 * hits, flags + marks)
    f1_correct = _ratio(2 * passed, 2 * len(pairs) - flags - marks)
    clean = [one for one in checked if one.sequence.is_clean]
    return Scores(
        f1_correct,
        f1_mistake,
        (f1_correct + f1_mistake) / 2,
        precision=_ratio(hits, flags),
        recall=_ratio(hits, marks),
        false_alarms_per_sequence=_ratio(sum(one.false_alarms for one in checked), len(checked)),
        false_alarms_per_clean_sequence=_ratio(sum(one.false_alarms for one in clean), len(clean)),
    )


def score_missed(checked: Sequence[Checked]) -> MissedScores:
    """The missed steps named, over all sequences, against those marked as left out."""
    said = {(place, name) for place, one in enumerate(checked) for name in one.missed}
    truth = {(place, name) for place, one in enumerate(checked) for name in one.sequence.left_out}
    hits = len(said & truth)
    return MissedScores(_ratio(hits, len(said)), _ratio(hits, len(truth)), _ratio(2 * hits, len(said) + len(truth)))


def _segments(sequence: NamedSequence, numbers: dict[str, int]) -> list[Segment]:
    return [Segment(numbers[step.name], step.start, step.end) for step in sequence.done]


def _marks(sequence: NamedSequence) -> list[bool]:
    return [step.is_mistake for step in sequence.done]


def _is_meant(alert: Alert, procedure: Procedure, sequence: NamedSequence) -> bool:
    """Whether the alert points at something marked. Files that mark no step as left out get the doubt."""
    if alert.kind == "missed":
        is_marked = bool(sequence.left_out)
        return procedure.name(alert.step) in sequence.left_out if is_marked else not sequence.is_clean
    wrong = {step.name for step in sequence.done if step.is_mistake}
    if alert.kind == "unknown":
        return not wrong.isdisjoint(unseen_names(procedure, sequence))
    return not wrong.isdisjoint({procedure.name(alert.step), procedure.name(alert.before or alert.step)})


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
