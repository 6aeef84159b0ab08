"""Which rules may alarm: those that demonstrations, followed as live, bear out with few false alarms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from guide.domain import Alert, Belief
from guide.procedure.events import Event, Reviewed
from guide.procedure.model import Procedure, Rules
from guide.procedure.precedence import Edge
from guide.procedure.replay import standing_alerts
from guide.procedure.thresholds import expected
from guide.procedure.tracker import Tracker

# Of the demonstrations in which one rule may be wrong. Faults are rare: a rule that is wrong more often than this is
# wrong more often than people are.
MOST_SHARE = 0.05
# Chances of having been broken, at the end of any rehearsal, beyond which a rule alarms no more. Tried from bold to
# timid: the first silences nothing, 0 all that any rehearsal held for possible, the last everything.
LIMITS = (math.inf, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6, 0.0, -1.0)

Breach: TypeAlias = tuple[str, int, int | None]  # kind, step, and the step that should have come before


def silence_rules(
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

    These rehearsals are quiet then, but the next recording cries about other rules: about what each rehearsal does
    once the others alone have silenced rules. Where that is more than the rate, rules on presence, order and repeating
    that came near to crying are silenced too, farther and farther ones, until it is within, at worst all of them.
    """
    excused = hidden or [()] * len(rehearsals)
    outcomes = [_outcome(procedure, events, steps) for events, steps in zip(rehearsals, excused, strict=True)]
    quiet = _without_loud(procedure, rehearsals, rate, excused)
    rules = _without_near(quiet, _worst(outcomes), _limit(outcomes, rate))
    return procedure if rules == procedure.rules else replace(procedure, rules=rules)


class _Outcome(NamedTuple):
    """How a rehearsal ended under all rules: those it seemed to break, and the chance of each that it did."""

    cried: frozenset[Breach]
    chances: Mapping[Breach, float]


def _outcome(procedure: Procedure, events: Sequence[Event], hidden: Collection[int]) -> _Outcome:
    rules = [one for one in _breaches(procedure.rules) if one[0] != "missed" or one[1] not in hidden]
    cried = {_breach(alert) for alert in _alarms(procedure, events)}
    beliefs = [event.belief for event in events if isinstance(event, Reviewed)]
    chances = {one: _chance(procedure.rules, beliefs[-1], *one) for one in rules} if beliefs else {}
    return _Outcome(frozenset(cried.intersection(rules)), chances)


def _chance(rules: Rules, belief: Belief, kind: str, step: int, before: int | None) -> float:
    """How probably a rule was broken."""
    if before is not None:
        return belief.chance_swapped(before, step)
    if kind == "repeated":
        return belief.chance_again(step)
    lacking = belief.chance_lacking(step)
    if step in rules.required:
        return lacking
    return max((lacking - belief.chance_lacking(then) for then in rules.needing(step)), default=0.0)


def _limit(outcomes: Sequence[_Outcome], rate: float) -> float:
    """The boldest limit that leaves false alarms within `rate` where each rehearsal has no part in silencing.

    Alerts are those under all rules: one that another rule hid is not known.
    """
    others = [[*outcomes[:place], *outcomes[place + 1 :]] for place in range(len(outcomes))]
    loud = [Counter(breach for other in each for breach in other.cried) for each in others]
    worst = [_worst(each) for each in others]

    def left(limit: float) -> int:
        return sum(
            loud[place][breach] <= MOST_SHARE * (len(outcomes) - 1) and worst[place].get(breach, 0.0) <= limit
            for place, one in enumerate(outcomes)
            for breach in one.cried
        )

    return next(limit for limit in LIMITS if left(limit) <= rate * len(outcomes))


def _worst(outcomes: Sequence[_Outcome]) -> Mapping[Breach, float]:
    """The greatest chance of each breach in any rehearsal."""
    worst: dict[Breach, float] = {}
    for one in outcomes:
        for breach, chance in one.chances.items():
            worst[breach] = max(worst.get(breach, 0.0), chance)
    return worst


def _without_near(rules: Rules, worst: Mapping[Breach, float], limit: float) -> Rules:
    """The rules that no rehearsal came nearer to breaking than the limit allows."""
    for breach in tuple(_breaches(rules)):
        if worst.get(breach, 0.0) > limit:
            rules = _without(rules, *breach)
    return rules


def _without_loud(
    procedure: Procedure, rehearsals: Sequence[Sequence[Event]], rate: float, hidden: Sequence[Collection[int]]
) -> Rules:
    """The rules without those that cry wolf most, as long as there are too many false alarms or one cries too often."""
    rules = procedure.rules
    while rehearsals:
        task = replace(procedure, rules=rules)
        alarms = [_alarms(task, events, steps) for events, steps in zip(rehearsals, hidden, strict=True)]
        breaches = Counter(breach for each in alarms for breach in dict.fromkeys(map(_breach, each))).most_common(1)
        is_within = expected(sum(map(len, alarms)), len(rehearsals)) <= rate
        if not breaches or (is_within and breaches[0][1] <= MOST_SHARE * len(rehearsals)):
            break
        ((breach, _),) = breaches
        fewer = _without(rules, *breach)
        if fewer == rules:  # an alert that no rule answers for: nothing more can be silenced
            break
        rules = fewer
    return rules


class FreeReading(NamedTuple):
    """What somebody who knows no rules sees in a demonstration.

    >>> FreeReading(done=frozenset({1, 2}), again=frozenset({1})).again
    frozenset({1})
    """

    done: frozenset[int]
    again: frozenset[int]
    """Steps that are come back to."""
    swapped: frozenset[Edge] = frozenset()
    """Pairs of steps of which the second is done before the first."""


def question_rules(procedure: Procedure, seen: Sequence[FreeReading]) -> Procedure:
    """The procedure without alerts that what is `seen` in the demonstrations does not bear out.

    Labels that were found or carried over hold a step also where it was left out, and by these its rule looks sound.
    A step that is not seen in more than a twentieth of the demonstrations, so in a single one of less than twenty, is
    asked about; one that is come back to in as many may be repeated; an order that as many do not keep is asked about.
    """
    rules = procedure.rules
    for breach in tuple(_breaches(rules)):
        if sum(_is_broken(rules, breach, each) for each in seen) > MOST_SHARE * len(seen):
            rules = _without(rules, *breach)
    return replace(procedure, rules=rules)


def _is_broken(rules: Rules, breach: Breach, seen: FreeReading) -> bool:
    kind, step, before = breach
    if before is not None:
        return (before, step) in seen.swapped
    if kind == "repeated":
        return step in seen.again
    is_needed = step in rules.required or not seen.done.isdisjoint(rules.needing(step))
    return is_needed and step not in seen.done


def _breach(alert: Alert) -> Breach:
    return alert.kind, alert.step, alert.before


def _breaches(rules: Rules) -> Iterator[Breach]:
    """What may be alarmed of presence, order and repeating."""
    yield from (("missed", step, None) for step in dict.fromkeys((*rules.required, *(one for one, _ in rules.needs))))
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
        case "missed":  # by something that was done and needs it
            needs = tuple(edge for edge in rules.needs if edge[0] != step)
            asked = tuple(edge for edge in rules.needs if edge[0] == step)
            return replace(rules, needs=needs, asked_needs=(*rules.asked_needs, *asked))
        case "out_of_order" if before is not None and (before, step) in rules.edges:
            edges = tuple(edge for edge in rules.edges if edge != (before, step))
            needs = tuple(edge for edge in rules.needs if edge != (before, step))
            asked_needs = (*rules.asked_needs, *(edge for edge in rules.needs if edge == (before, step)))
            asked_edges = (*rules.asked_edges, (before, step))
            return replace(rules, edges=edges, needs=needs, asked_edges=asked_edges, asked_needs=asked_needs)
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
