"""Checks step sequences against a procedure learnt from others: the flags alone, without any seeing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from guide.domain import Precedence
from guide.errors import InputError
from guide.procedure.learn import FALSE_ALARM_RATE
from guide.procedure.model import Procedure
from guide.procedure.scores import Checked, Scores, check, learn_names, never_flag, score, score_missed
from guide.procedure.sequences import NamedSequence, parse_sequences
from guide.procedure.verdicts import Blame


@dataclass(frozen=True, slots=True)
class OrderConfig:
    """Learn the order of steps from one file of sequences and check those of another."""

    train: Path
    """JSON lines of right sequences: {"id", "steps": [{"name", "start", "end"}]}."""
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
    procedure = learn_names(read_sequences(config.train), config.rate)
    checked = [check(procedure, sequence, config.blame) for sequence in read_sequences(config.test)]
    if config.json:
        return json.dumps(_plain(procedure, checked), ensure_ascii=False, allow_nan=False)
    return "\n".join([*_table(procedure, checked), *(_graph(procedure) if config.graph else ())])


def read_sequences(path: Path) -> list[NamedSequence]:
    """The sequences of a JSON lines file; InputError says what else was found."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} should be a readable text file of JSON lines, got: {error}: write it with offline.sequences."
        ) from error
    found = parse_sequences(lines, str(path))
    if not found:
        raise InputError(f"{path} should hold one sequence a line, got none: write it with offline.sequences.")
    return found


def _plain(procedure: Procedure, checked: Sequence[Checked]) -> dict[str, Any]:
    return {
        "demonstrations": procedure.demonstrations,
        "leave_one_out_false_alarms": procedure.rules.false_alarms,
        "sequences": len(checked),
        "steps": sum(len(one.flagged) for one in checked),
        "mistakes": sum(step.is_mistake for one in checked for step in one.sequence.done),
        "ours": asdict(score(checked)),
        "never_flag": asdict(score([never_flag(one) for one in checked])),
        "missed": asdict(score_missed(checked)),
        "graph": [_edge(procedure, edge) for edge in procedure.graph],
        "results": [_result(procedure, one) for one in checked],
    }


def _edge(procedure: Procedure, edge: Precedence) -> dict[str, Any]:
    first, then = procedure.name(edge.first), procedure.name(edge.then)
    return {"first": first, "then": then, "support": edge.support, "total": edge.total}


def _result(procedure: Procedure, one: Checked) -> dict[str, Any]:
    steps = zip(one.sequence.done, one.flagged, strict=True)
    return {
        "id": one.sequence.id,
        "steps": [{"name": step.name, "start": step.start, "flagged": flag} for step, flag in steps],
        "missed": list(one.missed),
        "alerts": [
            {
                "at": alert.at,
                "kind": alert.kind,
                "name": procedure.name(alert.step),
                "before": None if alert.before is None else procedure.name(alert.before),
                "severity": alert.severity,
                "evidence": alert.evidence,
            }
            for alert in one.alerts
        ],
    }


def _table(procedure: Procedure, checked: Sequence[Checked]) -> list[str]:
    ours, never, missed = score(checked), score([never_flag(one) for one in checked]), score_missed(checked)
    steps = sum(len(one.flagged) for one in checked)
    mistakes = sum(step.is_mistake for one in checked for step in one.sequence.done)
    left_out = sum(len(one.sequence.left_out) for one in checked)
    return [
        f"learnt from {procedure.demonstrations} sequences of {len(procedure.steps)} steps; "
        f"false alarms leaving one out: {procedure.rules.false_alarms:.2f} per sequence",
        f"checked {len(checked)} sequences of {steps} steps: {mistakes} marked as mistakes, {left_out} as left out",
        "",
        "             F1 correct  F1 mistake  average  precision  recall  false alarms  on clean",
        _row("ours", ours),
        _row("never flag", never),
        "",
        f"missed steps: precision {missed.precision:.3f}, recall {missed.recall:.3f}, F1 {missed.f1:.3f}",
    ]


def _row(name: str, scores: Scores) -> str:
    return (
        f"{name:11s}  {scores.f1_correct:10.3f}  {scores.f1_mistake:10.3f}  {scores.f1_average:7.3f}  "
        f"{scores.precision:9.3f}  {scores.recall:6.3f}  {scores.false_alarms_per_sequence:12.2f}  "
        f"{scores.false_alarms_per_clean_sequence:8.2f}"
    )


def _graph(procedure: Procedure) -> list[str]:
    edges = [_edge(procedure, edge) for edge in procedure.graph]
    listed = [f"{edge['first']} -> {edge['then']}  ({edge['support']} of {edge['total']})" for edge in edges]
    return ["", f"precedence, transitively reduced ({len(listed)} edges):", *(listed or ["none"])]
