"""Every rule that demonstrations suggest, each with its risk: the chance that the next right recording breaks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from guide.domain import Belief, KeyStep
from guide.procedure.counts import longest_pause_s, shrunk_rates, step_statistics
from guide.procedure.model import Rule, StepStatistics
from guide.procedure.orders import Orders
from guide.procedure.precedence import Edge, without_circles
from guide.procedure.visits import Visit, first_order

SPREADS = 5.0  # standard deviations that a stranger's certainty lies below the usual one
LEAST_FALL = 0.1  # where rehearsals hardly differ
NORMAL = 1.4826  # standard deviations in a median deviation, where values are normal

Demonstrations: TypeAlias = Sequence[tuple[Visit, ...]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a set of demonstrations suggests, and what rehearsals of them seemed to break."""

    statistics: tuple[StepStatistics, ...]
    orders: Orders
    counted: Mapping[Rule, float]
    """Risks by what was done; pairs of steps draw no circle."""
    risks: Mapping[Rule, float]
    """Risks by what was done and by what was seen."""
    pause_s: float
    least_certainty: float
    """Of the frames of a session, on average: below it lie strangers, in whom the others' rehearsals prove nothing."""
    has_variants: bool
    """Whether what holds in some variants of the task is looked for."""


def weigh(
    demonstrations: Demonstrations,
    steps: Sequence[KeyStep],
    has_variants: bool = False,
    beliefs: Sequence[Belief] = (),
) -> Evidence:
    """The evidence about the given steps; those that no demonstration holds give none.

    `beliefs` are how rehearsals ended. Live, a rule is broken where a right recording does otherwise or where it seems
    so: the mean chance of that over the rehearsals, but those of strangers, adds to what is counted.
    """
    found = step_statistics(demonstrations, [step.number for step in steps])
    statistics = tuple(one for one in found if one.present)
    orders = Orders(tuple(first_order(visits) for visits in demonstrations))
    pairs = _needs(orders, steps) if has_variants else _pairs(orders, steps)
    counted = {**_presence(statistics, steps, len(demonstrations), has_variants), **pairs}
    least = _least_certainty([belief.certainty for belief in beliefs])
    known = [belief for belief in beliefs if belief.certainty >= least]
    return Evidence(
        statistics,
        orders,
        counted,
        {rule: 1 - (1 - risk) * (1 - seen_broken(rule, known)) for rule, risk in counted.items()},
        longest_pause_s(demonstrations),
        least,
        has_variants,
    )


def _least_certainty(certainties: Sequence[float]) -> float:
    """What lies far below the certainty of most rehearsals, by their median and its median deviation.

    >>> round(_least_certainty([0.6, 0.61, 0.62, 0.63, 0.4]), 2)
    0.51
    """
    if not certainties:
        return 0.0
    middle = float(np.median(certainties))
    spread = NORMAL * float(np.median(np.abs(np.array(certainties) - middle)))
    return middle - max(SPREADS * spread, LEAST_FALL)


def seen_broken(rule: Rule, beliefs: Sequence[Belief]) -> float:
    """The mean chance, over the ends of rehearsals, that the rule was broken."""
    return sum(chance_broken(rule, belief) for belief in beliefs) / max(len(beliefs), 1)


def chance_broken(rule: Rule, belief: Belief) -> float:
    """How probably a recording broke the rule."""
    match rule:
        case Rule("missed", step):
            return belief.chance_lacking(step)
        case Rule("repeated", step):
            return max(belief.chance_again(step), belief.chance_fewer(step))
        case Rule("needs", step, int(first)):  # at least so probably the one was done and the other was not
            return max(belief.chance_lacking(first) - belief.chance_lacking(step), 0.0)
        case Rule("out_of_order", step, int(first)):
            return belief.chance_swapped(first, step)
    return 0.0


def _presence(
    statistics: Sequence[StepStatistics], steps: Sequence[KeyStep], count: int, are_true: bool
) -> dict[Rule, float]:
    """Risks of leaving a step out and of doing it twice.

    What several leave out is done as often as one likes, unless steps are true: labels may lack a second time.
    """
    optional = {step.number for step in steps if step.is_optional}
    repeatable = {step.number for step in steps if step.is_repeatable}
    repeatable |= {one.step for one in statistics if not are_true and count - one.present > 1}
    absence = shrunk_rates({one.step: count - one.present for one in statistics}, count)
    repeats = shrunk_rates({one.step: one.unusual for one in statistics}, count)
    missed = {Rule("missed", step): risk for step, risk in absence.items() if step not in optional}
    return missed | {Rule("repeated", step): risk for step, risk in repeats.items() if step not in repeatable}


def _pairs(orders: Orders, steps: Sequence[KeyStep]) -> dict[Rule, float]:
    """Risks of pairs in their usual direction, as an order and as a need, less pairs that would close a circle."""
    optional = {step.number for step in steps if step.is_optional}
    found = {}
    for edge, risk in _edges(orders).items():
        first, then = edge
        found[Rule("out_of_order", then, first)] = risk
        if first not in optional:
            need = orders.need_risk[orders.column[first], orders.column[then]]
            found[Rule("needs", then, first)] = float(need)
    return found


def _needs(orders: Orders, steps: Sequence[KeyStep]) -> dict[Rule, float]:
    """Risks of doing one step without another, where that was hardly ever done."""
    optional = {step.number for step in steps if step.is_optional}
    pairs = np.argwhere(orders.needs < 0.5).tolist()
    found = {(orders.steps[one], orders.steps[other]): float(orders.needs[one, other]) for one, other in pairs}
    return {Rule("needs", then, first): risk for (first, then), risk in found.items() if first not in optional}


def _edges(orders: Orders) -> dict[Edge, float]:
    steps, risks = orders.steps, orders.order_risk
    usual = np.argwhere((orders.first >= orders.first.T) & (orders.first > 0))
    ranked = sorted((float(risks[one, other]), (steps[one], steps[other])) for one, other in usual.tolist())
    risk_of = {edge: risk for risk, edge in ranked}
    return {edge: risk_of[edge] for edge in without_circles(risk_of)}
