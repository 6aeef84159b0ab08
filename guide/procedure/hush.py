"""Silences rules that the demonstrations themselves, seen as live, do not bear out or that cry wolf there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from guide.domain import Alert
from guide.procedure.events import Event
from guide.procedure.model import Procedure, Rules
from guide.procedure.replay import standing_alerts
from guide.procedure.thresholds import expected
from guide.procedure.tracker import Tracker

# Of the demonstrations in which one rule may be wrong. Faults are rare: a rule that is wrong more often than this is
# wrong more often than people are.
MOST_SHARE = 0.05


def hush(
    procedure: Procedure,
    rehearsals: Sequence[Sequence[Event]],
    rate: float,
    hidden: Sequence[Collection[int]] | None = None,
) -> Procedure:
    """The procedure without the rules that raise most false alarms, until those expected stay within `rate`.

    A rehearsal is what the tracker would hear of a demonstration, seen by what the others teach. Demonstrations are
    right, so every alert that stands at the end is false. A rule that cries wolf in more than a twentieth of them, so
    in a single one of less than twenty, is silenced whatever the others do. A silenced rule on order or presence may
    still ask. That a step was missed is no false alarm where it is `hidden`: a demonstration that hardly shows it.
    """
    excused = hidden or [()] * len(rehearsals)
    while rehearsals:
        alarms = [
            [alert for alert in _alarms(procedure, events) if alert.kind != "missed" or alert.step not in steps]
            for events, steps in zip(rehearsals, excused, strict=True)
        ]
        causes = Counter(cause for each in alarms for cause in dict.fromkeys(map(_cause, each))).most_common(1)
        is_within = expected(sum(map(len, alarms)), len(rehearsals)) <= rate
        if not causes or (is_within and causes[0][1] <= MOST_SHARE * len(rehearsals)):
            break
        ((cause, _),) = causes
        rules = _without(procedure.rules, *cause)
        if rules == procedure.rules:  # an alert that no rule answers for: nothing more can be silenced
            break
        procedure = replace(procedure, rules=rules)
    return procedure


class Seen(NamedTuple):
    """The steps that somebody who knows no rules sees in a demonstration, and those that are come back to.

    >>> Seen(done=frozenset({1, 2}), again=frozenset({1})).again
    frozenset({1})
    """

    done: frozenset[int]
    again: frozenset[int]


def doubt(procedure: Procedure, seen: Sequence[Seen]) -> Procedure:
    """The procedure without alerts that what is `seen` in the demonstrations does not bear out.

    Labels that were found or carried over hold a step also where it was left out, and by these its rule looks sound.
    A step that is not seen in more than a twentieth of the demonstrations, so in a single one of less than twenty, is
    asked about; one that is come back to in as many may be repeated.
    """
    rules = procedure.rules
    for kind, steps, is_broken in (("missed", rules.required, _is_lacking), ("repeated", rules.single, _is_again)):
        for step in steps:
            if sum(is_broken(step, each) for each in seen) > MOST_SHARE * len(seen):
                rules = _without(rules, kind, step, None)
    return replace(procedure, rules=rules)


def _is_lacking(step: int, seen: Seen) -> bool:
    return step not in seen.done


def _is_again(step: int, seen: Seen) -> bool:
    return step in seen.again


def _cause(alert: Alert) -> tuple[str, int, int | None]:
    return alert.kind, alert.step, alert.before


def _alarms(procedure: Procedure, events: Sequence[Event]) -> list[Alert]:
    tracker = Tracker(procedure)
    return standing_alerts([said for event in events for said in tracker.apply(event)])


def _without(rules: Rules, kind: str, step: int, before: int | None) -> Rules:
    match kind:
        case "missed" if step in rules.required:
            required = tuple(other for other in rules.required if other != step)
            return replace(rules, required=required, asked_steps=(*rules.asked_steps, step))
        case "out_of_order" if before is not None and (before, step) in rules.edges:
            edges = tuple(edge for edge in rules.edges if edge != (before, step))
            return replace(rules, edges=edges, asked_edges=(*rules.asked_edges, (before, step)))
        case "repeated":
            return replace(rules, single=tuple(other for other in rules.single if other != step))
        case "unknown":
            return replace(rules, is_unknown_flagged=False)
        case "too_long":
            return replace(rules, longest_s=tuple(pair for pair in rules.longest_s if pair[0] != step))
        case "too_short":
            return replace(rules, shortest_s=tuple(pair for pair in rules.shortest_s if pair[0] != step))
        case "stalled":
            return replace(rules, patience_s=None)
    return rules
