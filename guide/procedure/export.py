"""A procedure for machines: plain values for JSON, and a drawing for Graphviz."""

from __future__ import annotations

from typing import Any

from guide.domain import KeyStep, Precedence
from guide.procedure.model import Procedure, Rules, StepStatistics

SCHEMA = 2


def to_plain(procedure: Procedure) -> dict[str, Any]:
    """The procedure as dictionaries, lists, numbers and strings, ready for JSON.

    >>> to_plain(Procedure((KeyStep(1, "cut"),), 2))["steps"][0]["name"]
    'cut'
    """
    return {
        "schema": SCHEMA,
        "demonstrations": procedure.demonstrations,
        "steps": [_step(procedure, step) for step in procedure.steps],
        "orderings": [{"steps": list(one.steps), "count": one.count} for one in procedure.orderings],
        "orders": [list(order) for order in procedure.orders.demonstrations],
        "precedence": [[one.first, one.then, one.support, one.total] for one in procedure.precedences],
        "transitions": [[one.first, one.then, one.count] for one in procedure.transitions],
        "longest_pause_s": procedure.longest_pause_s,
        "rules": _rules(procedure.rules),
        "learned": None if procedure.learned is None else _rules(procedure.learned),
        **({"language": procedure.language} if procedure.language else {}),
    }


def _step(procedure: Procedure, step: KeyStep) -> dict[str, Any]:
    return {
        "number": step.number,
        "name": step.name,
        "optional": step.is_optional,
        "repeatable": step.is_repeatable,
        "reason": dict(procedure.reasons).get(step.number, ""),
        "seen": _seen(procedure.statistics_of(step.number)),
        **({"say": step.say} if step.say else {}),  # where it is set: programs of before know no such field
    }


def _seen(found: StepStatistics | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "present": found.present,
        "repeated": found.repeated,
        "most_visits": found.most_visits,
        "durations_s": list(found.durations_s),
        **({"visits": list(found.visits)} if found.visits else {}),  # programs of before know no such field
    }


def _rules(rules: Rules) -> dict[str, Any]:
    return {
        "edges": [list(edge) for edge in rules.edges],
        "asked_edges": [list(edge) for edge in rules.asked_edges],
        "needs": [list(edge) for edge in rules.needs],
        "asked_needs": [list(edge) for edge in rules.asked_needs],
        "required": list(rules.required),
        "asked_steps": list(rules.asked_steps),
        "single": list(rules.single),
        "variant_risk": rules.variant_risk,
        "shortest_s": [list(limit) for limit in rules.shortest_s],
        "longest_s": [list(limit) for limit in rules.longest_s],
        "patience_s": rules.patience_s,
        "unknown": rules.is_unknown_flagged,
        "false_alarms": rules.false_alarms,
        "questions": rules.questions,
        "decisions": [[*one.rule, one.verdict, one.reason] for one in rules.decisions],
        "given": [{"kind": one.kind, "steps": list(one.steps), "holds": one.holds} for one in rules.given],
    }


def to_dot(procedure: Procedure) -> str:
    """The learnt order as a Graphviz graph: a box a step, dashed where optional, double where repeatable."""
    nodes = [f"  {step.number} [label={_quote(step.label)}{_shape(step)}];" for step in procedure.steps]
    edges = [f'  {one.first} -> {one.then} [label="{_support(one, procedure.rules)}"];' for one in procedure.graph]
    return "\n".join(["digraph procedure {", "  rankdir=LR;", "  node [shape=box];", *nodes, *edges, "}", ""])


def _support(one: Precedence, rules: Rules) -> str:
    return "given" if (one.first, one.then) in rules.given_edges else f"{one.support} of {one.total}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", " ")
    return f'"{escaped}"'


def _shape(step: KeyStep) -> str:
    return (", style=dashed" if step.is_optional else "") + (", peripheries=2" if step.is_repeatable else "")
