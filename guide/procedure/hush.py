"""Silences rules that the demonstrations themselves, seen as live, do not bear out or that cry wolf there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from guide.domain import Alert
from guide.procedure.events import Event, Reviewed
from guide.procedure.model import Procedure, Rules
from guide.procedure.precedence import Edge
from guide.procedure.replay import standing_alerts
from guide.procedure.thresholds import expected
from guide.procedure.tracker import Tracker

# Of the demonstrations in which one rule may be wrong. Faults are rare: a rule that is wrong more often than this is
# wrong more often than people are.
MOST_SHARE = 0.05
# Greatest chance, at the end of any rehearsal, that a rule was broken there; beyond it the rule asks at most. Tried
# from bold to timid: 1 silences nothing, 0 all that any rehearsal held for possible.
LIMITS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6, 0.0)

Cause: TypeAlias = tuple[str, int, int | None]  # kind, step, and the step that should have come before


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

    Rules that cried are gone then, but the next recording cries about others: what it would raise is what each
    rehearsal raises after the others have silenced what they can. Where that is beyond the rate, rules that came near
    to crying are silenced too, nearer and farther ones, until it is within; what no rehearsal held for possible stays.
    """
    excused = hidden or [()] * len(rehearsals)
    rehearsed = [_rehearsed(procedure, events, steps) for events, steps in zip(rehearsals, excused, strict=True)]
    timid = _without_near(_without_loud(procedure, rehearsals, rate, excused), rehearsed, _limit(rehearsed, rate))
    return procedure if timid == procedure.rules else replace(procedure, rules=timid)


class _Rehearsed(NamedTuple):
    """A demonstration as it was followed: the rules it seemed to break, and the chance of each that it did."""

    cried: frozenset[Cause]
    chances: Mapping[Cause, float]


def _rehearsed(procedure: Procedure, events: Sequence[Event], hidden: Collection[int]) -> _Rehearsed:
    beliefs = [event.belief for event in events if isinstance(event, Reviewed)]
    chances: dict[Cause, float] = {}
    for cause in _causes(procedure.rules) if beliefs else ():
        kind, step, before = cause
        if before is not None:
            chances[cause] = beliefs[-1].chance_swapped(before, step)
        elif kind == "repeated":
            chances[cause] = beliefs[-1].chance_again(step)
        elif step not in hidden:
            chances[cause] = beliefs[-1].chance_lacking(step)
    known = set(_causes(procedure.rules))
    cried = {_cause(alert) for alert in _alarms(procedure, events, hidden)}
    return _Rehearsed(frozenset(cried & known), chances)


def _limit(rehearsed: Sequence[_Rehearsed], rate: float) -> float:
    """The boldest limit at which false alarms stay within `rate` in rehearsals that had no part in silencing."""
    return next((limit for limit in LIMITS if _left(rehearsed, limit) <= rate * len(rehearsed)), LIMITS[-1])


def _left(rehearsed: Sequence[_Rehearsed], limit: float) -> int:
    """How many false alarms are left where each rehearsal is followed by the rules that the others leave."""
    count = 0
    for place, one in enumerate(rehearsed):
        others = [*rehearsed[:place], *rehearsed[place + 1 :]]
        loud = Counter(cause for other in others for cause in other.cried)
        worst = _worst(others)
        count += sum(loud[cause] <= MOST_SHARE * len(others) and worst.get(cause, 0.0) <= limit for cause in one.cried)
    return count


def _worst(rehearsed: Sequence[_Rehearsed]) -> Mapping[Cause, float]:
    """The greatest chance of each cause in any rehearsal."""
    worst: dict[Cause, float] = {}
    for one in rehearsed:
        for cause, chance in one.chances.items():
            worst[cause] = max(worst.get(cause, 0.0), chance)
    return worst


def _without_near(rules: Rules, rehearsed: Sequence[_Rehearsed], limit: float) -> Rules:
    """The rules that no rehearsal came nearer to breaking than the limit allows."""
    worst = _worst(rehearsed)
    for cause in tuple(_causes(rules)):
        if worst.get(cause, 0.0) > limit:
            rules = _without(rules, *cause)
    return rules


def _without_loud(
    procedure: Procedure, rehearsals: Sequence[Sequence[Event]], rate: float, hidden: Sequence[Collection[int]]
) -> Rules:
    """The rules without those that cry wolf most, as long as there are too many false alarms or one cries too often."""
    rules = procedure.rules
    while rehearsals:
        task = replace(procedure, rules=rules)
        alarms = [_alarms(task, events, steps) for events, steps in zip(rehearsals, hidden, strict=True)]
        causes = Counter(cause for each in alarms for cause in dict.fromkeys(map(_cause, each))).most_common(1)
        is_within = expected(sum(map(len, alarms)), len(rehearsals)) <= rate
        if not causes or (is_within and causes[0][1] <= MOST_SHARE * len(rehearsals)):
            break
        ((cause, _),) = causes
        fewer = _without(rules, *cause)
        if fewer == rules:  # an alert that no rule answers for: nothing more can be silenced
            break
        rules = fewer
    return rules


class Seen(NamedTuple):
    """What somebody who knows no rules sees in a demonstration.

    >>> Seen(done=frozenset({1, 2}), again=frozenset({1})).again
    frozenset({1})
    """

    done: frozenset[int]
    again: frozenset[int]
    """Steps that are come back to."""
    swapped: frozenset[Edge] = frozenset()
    """Pairs of steps of which the second is done before the first."""


def doubt(procedure: Procedure, seen: Sequence[Seen]) -> Procedure:
    """The procedure without alerts that what is `seen` in the demonstrations does not bear out.

    Labels that were found or carried over hold a step also where it was left out, and by these its rule looks sound.
    A step that is not seen in more than a twentieth of the demonstrations, so in a single one of less than twenty, is
    asked about; one that is come back to in as many may be repeated; an order that as many do not keep is asked about.
    """
    rules = procedure.rules
    for cause in tuple(_causes(rules)):
        if sum(_is_broken(cause, each) for each in seen) > MOST_SHARE * len(seen):
            rules = _without(rules, *cause)
    return replace(procedure, rules=rules)


def _is_broken(cause: Cause, seen: Seen) -> bool:
    kind, step, before = cause
    if before is not None:
        return (before, step) in seen.swapped
    return step in seen.again if kind == "repeated" else step not in seen.done


def _cause(alert: Alert) -> Cause:
    return alert.kind, alert.step, alert.before


def _causes(rules: Rules) -> Iterator[Cause]:
    """What may be alarmed of presence, order and repeating."""
    yield from (("missed", step, None) for step in rules.required)
    yield from (("out_of_order", then, first) for first, then in rules.edges)
    yield from (("repeated", step, None) for step in rules.single)


def _alarms(procedure: Procedure, events: Sequence[Event], hidden: Collection[int] = ()) -> list[Alert]:
    """The alerts that stand at the end of a rehearsal, but for missing steps that are `hidden` there."""
    tracker = Tracker(procedure)
    told = standing_alerts([said for event in events for said in tracker.apply(event)])
    return [alert for alert in told if alert.kind != "missed" or alert.step not in hidden]


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
