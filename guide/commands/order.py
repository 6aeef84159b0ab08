"""Checks step sequences against a procedure learnt from others: the flags alone, without any seeing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from guide.domain import Alert, Precedence
from guide.errors import InputError
from guide.procedure.model import Procedure
from guide.procedure.rule_selection import FALSE_ALARM_RATE
from guide.procedure.scores import Checked, Scores, check, learn_names, never_flag, score, score_missed, unseen_names
from guide.procedure.sequences import NamedSequence, parse_sequences
from guide.procedure.verdicts import Blame
from guide.words import count_of

MOST_TOLD = 40  # lines of a terminal; a file of many sequences is read as JSON
BUDGETS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)  # false alarms a sequence, for the curve


@dataclass(frozen=True, slots=True)
class OrderConfig:
    """Learn the order of steps from one file of sequences and check those of another.

    Prints scores, what each budget of false alarms would find, and the alerts. A step that follows itself counts as
    one interrupted step, however long the pause, not as done twice.
    """

    train: Path
    """JSON lines of correct sequences: {"id", "steps": [{"name", "start", "end"}]}."""
    test: Path
    """JSON lines to check: a step may carry "mistake": true, and a start below 0 marks a step that was left out."""
    json: bool = False
    """Print one JSON object instead of a table."""
    graph: bool = False
    """Print the recovered precedence edges, transitively reduced."""
    rate: float = FALSE_ALARM_RATE
    """False alarms per sequence to stay under, estimated by leaving out one training sequence at a time."""
    blame: Blame = "both"
    """Whether a broken precedence counts against both steps or only against the one done too early."""


def report(config: OrderConfig) -> str:
    """What the command prints: a table, or one JSON object."""
    if not 0 <= config.rate < math.inf:
        raise InputError(f"--rate is a number of false alarms a sequence from 0 up, got {config.rate:g}: give another.")
    given = read_sequences(config.train)
    procedure = learn_names(given, config.rate)
    if not procedure.steps:
        raise InputError(f"steps to learn from were expected in {config.train}, its sequences hold none: give others.")
    tested = read_sequences(config.test)
    checked = [check(procedure, sequence, config.blame) for sequence in tested]
    curve = {budget: _at_budget(given, tested, budget, config.blame) for budget in BUDGETS}
    if config.json:
        return json.dumps(_plain(procedure, checked, curve), ensure_ascii=False, allow_nan=False)
    aside = len(given) - procedure.demonstrations
    lines = [
        *_table(procedure, checked, aside),
        *_curve(curve, checked),
        *_told(procedure, checked),
        *(_graph(procedure) if config.graph else ()),
    ]
    return "\n".join(lines)


def read_sequences(path: Path) -> list[NamedSequence]:
    """The sequences of a JSON lines file; InputError says what else was found."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(
            f"{path} should be a readable text file of JSON lines, but {cause}: name another, or write one with "
            "offline.study.sequences."
        ) from error
    found = parse_sequences(lines, str(path))
    if not found:
        raise InputError(f"{path} should hold one sequence a line, got none: write it with offline.study.sequences.")
    return found


def _at_budget(given: Sequence[NamedSequence], tested: Sequence[NamedSequence], budget: float, blame: Blame) -> Scores:
    procedure = learn_names(given, budget)
    return score([check(procedure, sequence, blame) for sequence in tested])


def _plain(procedure: Procedure, checked: Sequence[Checked], curve: Mapping[float, Scores]) -> dict[str, Any]:
    return {
        "demonstrations": procedure.demonstrations,
        "leave_one_out_false_alarms": procedure.rules.false_alarms,
        "sequences": len(checked),
        "steps": sum(len(one.flagged) for one in checked),
        "mistakes": sum(step.is_mistake for one in checked for step in one.sequence.done),
        "ours": asdict(score(checked)),
        "never_flag": asdict(score([never_flag(one) for one in checked])),
        "curve": [{"budget": budget, **asdict(scores)} for budget, scores in curve.items()],
        "missed": asdict(score_missed(checked)),
        "graph": [_edge(procedure, edge) for edge in procedure.graph],
        "results": [_result(procedure, one) for one in checked],
    }


def _edge(procedure: Procedure, edge: Precedence) -> dict[str, Any]:
    first, then = procedure.name(edge.first), procedure.name(edge.then)
    return {"first": first, "then": then, "support": edge.support, "total": edge.total}


def _result(procedure: Procedure, one: Checked) -> dict[str, Any]:
    steps, unseen = zip(one.sequence.done, one.flagged, strict=True), unseen_names(procedure, one.sequence)
    return {
        "id": one.sequence.id,
        "steps": [
            {"name": step.name, "start": step.start, "flagged": flag, "unseen": step.name in unseen}
            for step, flag in steps
        ],
        "missed": list(one.missed),
        "alerts": [
            {
                "at": alert.at,
                "kind": alert.kind,
                "name": _name(procedure, one, alert),
                "before": None if alert.before is None else procedure.name(alert.before),
                "severity": alert.severity,
                "evidence": alert.evidence,
            }
            for alert in one.alerts
        ],
    }


def _table(procedure: Procedure, checked: Sequence[Checked], aside: int) -> list[str]:
    ours, never = score(checked), score([never_flag(one) for one in checked])
    steps = sum(len(one.flagged) for one in checked)
    mistakes = sum(step.is_mistake for one in checked for step in one.sequence.done)
    left_out = sum(len(one.sequence.left_out) for one in checked)
    alarms = (
        f"{procedure.rules.false_alarms:.2f} per sequence" if procedure.demonstrations > 1 else "not known from one"
    )
    return [
        f"learnt from {count_of(procedure.demonstrations, 'sequence')} of {count_of(len(procedure.steps), 'step')}"
        f"{f', {aside} with mistakes left aside' if aside else ''}; false alarms leaving one out: {alarms}",
        f"checked {count_of(len(checked), 'sequence')} of {count_of(steps, 'step')}: {mistakes} marked as mistakes, "
        f"{left_out} as left out",
        "",
        "             F1 correct  F1 mistake  average  precision  recall  false alarms  on clean",
        _row("ours", ours, mistakes > 0),
        _row("never flag", never, mistakes > 0),
        "",
        _missed(checked, left_out),
        *_unseen(procedure, checked),
    ]


def _row(name: str, scores: Scores, has_mistakes: bool) -> str:
    judged = (scores.f1_mistake, scores.f1_average, scores.precision, scores.recall)
    mistake, average, precision, recall = (f"{each:.3f}" if has_mistakes else "-" for each in judged)
    return (
        f"{name:11s}  {scores.f1_correct:10.3f}  {mistake:>10s}  {average:>7s}  {precision:>9s}  {recall:>6s}  "
        f"{scores.false_alarms_per_sequence:12.2f}  {scores.false_alarms_per_clean_sequence:8.2f}"
    )


def _missed(checked: Sequence[Checked], left_out: int) -> str:
    if not left_out:
        return "missed steps: none is marked as left out (a start below 0), so those reported cannot be scored"
    missed = score_missed(checked)
    return f"missed steps: precision {missed.precision:.3f}, recall {missed.recall:.3f}, F1 {missed.f1:.3f}"


def _unseen(procedure: Procedure, checked: Sequence[Checked]) -> list[str]:
    """Steps that no training sequence holds: a kind of mistake of its own, told where that stays in the budget."""
    names = [unseen_names(procedure, one.sequence) for one in checked]
    found = [step for one, each in zip(checked, names, strict=True) for step in one.sequence.done if step.name in each]
    marked = sum(step.is_mistake for step in found)
    told = (
        "reported" if procedure.rules.is_unknown_flagged else "not reported: correct left-out sequences have them too"
    )
    return [f"steps never seen in training: {len(found)}, {marked} marked as mistakes ({told})"] if found else []


def _curve(curve: Mapping[float, Scores], checked: Sequence[Checked]) -> list[str]:
    """A row for each budget; what was asked for by --rate is in the table above."""
    has_mistakes = any(step.is_mistake for one in checked for step in one.sequence.done)
    rows = [
        f"{budget:6.2f}  {judged[0]:>9s}  {judged[1]:>6s}  {scores.false_alarms_per_sequence:12.2f}  "
        f"{scores.false_alarms_per_clean_sequence:8.2f}"
        for budget, scores in curve.items()
        for judged in [[f"{each:.3f}" if has_mistakes else "-" for each in (scores.precision, scores.recall)]]
    ]
    return ["", "budget  precision  recall  false alarms  on clean", *rows]


def _name(procedure: Procedure, one: Checked, alert: Alert) -> str:
    """The step an alert is about; one that no training sequence holds has no number, but a moment."""
    if alert.kind != "unknown":
        return procedure.name(alert.step)
    unseen = unseen_names(procedure, one.sequence)
    return next((step.name for step in one.sequence.done if step.name in unseen and step.start == alert.at), "unknown")


def _told(procedure: Procedure, checked: Sequence[Checked]) -> list[str]:
    """What an operator would have heard, one line an alert."""
    told = [
        f"{one.sequence.id}  {alert.at:.1f} s  {alert.kind.replace('_', ' ')}: {_name(procedure, one, alert)}"
        f"{'' if alert.before is None else f', before {procedure.name(alert.before)}'} ({alert.evidence})"
        for one in checked
        for alert in one.alerts
    ]
    more = [f"and {len(told) - MOST_TOLD} more: --json prints all"] if len(told) > MOST_TOLD else []
    return ["", "alerts:", *(told[:MOST_TOLD] or ["none"]), *more]


def _graph(procedure: Procedure) -> list[str]:
    edges = [_edge(procedure, edge) for edge in procedure.graph]
    listed = [f"{edge['first']} -> {edge['then']}  ({edge['support']} of {edge['total']})" for edge in edges]
    return ["", f"precedence, transitively reduced ({len(listed)} edges):", *(listed or ["none"])]
