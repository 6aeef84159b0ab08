"""Every rule that demonstrations suggest, each with its risk, and those that hold when risks are cut off somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from guide.domain import KeyStep
from guide.procedure.counts import longest_pause_s, shrunk_rates, step_statistics
from guide.procedure.model import Rules, StepStatistics
from guide.procedure.orders import Orders
from guide.procedure.precedence import Edge, without_circles
from guide.procedure.visits import Visit, first_order

Demonstrations: TypeAlias = Sequence[tuple[Visit, ...]]

T = TypeVar("T", int, Edge)

NEVER = -1.0
LEAST_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """The greatest risk at which each kind of rule still alarms, or asks; NEVER switches it off, None a duration limit.

    >>> Cutoffs(order=0.02).absence
    -1.0
    """

    absence: float = NEVER
    repeat: float = NEVER
    order: float = NEVER
    variant: float = NEVER
    """Of rules that hold in some variants of the task."""
    asked_absence: float = NEVER
    asked_order: float = NEVER
    long_factor: float | None = None
    short_factor: float | None = None
    is_unknown_flagged: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rules that a set of demonstrations suggests, with the risk of each, weighed once and cut off in many ways."""

    steps: tuple[KeyStep, ...]
    statistics: tuple[StepStatistics, ...]
    orders: Orders
    order: tuple[tuple[float, Edge], ...]
    """The second step comes after the first, where both are done; these draw no circle."""
    need: tuple[tuple[float, Edge], ...]
    """The second step is begun only when the first was: some of the above."""
    absence: tuple[tuple[float, int], ...]
    repeat: tuple[tuple[float, int], ...]
    pause_s: float
    has_variants: bool
    """Whether what holds in some variants of the task is looked for."""

    def rules(self, cutoffs: Cutoffs) -> Rules:
        """The rules that hold under these cut-offs; between both a question is allowed."""
        repeatable = {step.number for step in self.steps if step.is_repeatable}
        required = set(_between(self.absence, NEVER, cutoffs.absence))
        sure, asked = (NEVER, cutoffs.order), (cutoffs.order, cutoffs.asked_order)
        needs, asked_needs = _between(self.need, *sure), _between(self.need, *asked)
        edges = tuple(sorted({*_between(self.order, *sure), *needs}))
        return Rules(
            edges=edges,
            asked_edges=tuple(sorted({*_between(self.order, *asked), *asked_needs} - {*edges})),
            needs=tuple(edge for edge in needs if edge[0] not in required),
            asked_needs=tuple(edge for edge in asked_needs if edge[0] not in required),
            required=tuple(sorted(required)),
            asked_steps=_between(self.absence, cutoffs.absence, cutoffs.asked_absence),
            single=tuple(step for step in _between(self.repeat, NEVER, cutoffs.repeat) if step not in repeatable),
            variant_risk=cutoffs.variant if cutoffs.variant > NEVER else None,
            shortest_s=_limits(self.statistics, cutoffs.short_factor, is_long=False),
            longest_s=_limits(self.statistics, cutoffs.long_factor, is_long=True),
            patience_s=max(LEAST_PATIENCE_S, 2 * self.pause_s),
            is_unknown_flagged=cutoffs.is_unknown_flagged,
        )


def weigh(demonstrations: Demonstrations, steps: Sequence[KeyStep], has_variants: bool = False) -> Evidence:
    """The evidence of these demonstrations about the given steps; steps none of them holds give none."""
    found = step_statistics(demonstrations, [step.number for step in steps])
    statistics = tuple(one for one in found if one.present)
    count = len(demonstrations)
    orders = Orders(tuple(first_order(visits) for visits in demonstrations))
    optional = {step.number for step in steps if step.is_optional}
    order = _edges(orders)
    absence = shrunk_rates({one.step: count - one.present for one in statistics}, count)
    need = {edge: orders.need_risk[orders.column[edge[0]], orders.column[edge[1]]] for _, edge in order}
    return Evidence(
        tuple(steps),
        statistics,
        orders,
        order,
        tuple((float(risk), edge) for edge, risk in need.items() if edge[0] not in optional),
        _by_risk({step: risk for step, risk in absence.items() if step not in optional}),
        _by_risk(shrunk_rates({one.step: one.repeated for one in statistics}, count)),
        longest_pause_s(demonstrations),
        has_variants,
    )


def _edges(orders: Orders) -> tuple[tuple[float, Edge], ...]:
    """Every pair in its usual direction with its risk, the surest first, less those that would close a circle."""
    steps, risks = orders.steps, orders.order_risk
    usual = np.argwhere((orders.first >= orders.first.T) & (orders.first > 0))
    ranked = sorted((float(risks[one, other]), (steps[one], steps[other])) for one, other in usual.tolist())
    risk_of = {edge: risk for risk, edge in ranked}
    return tuple((risk_of[edge], edge) for edge in without_circles(risk_of))


def _by_risk(risks: dict[int, float]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((risk, step) for step, risk in risks.items()))


def _between(risks: Iterable[tuple[float, T]], above: float, until: float) -> tuple[T, ...]:
    """What has a risk above the one and until the other."""
    return tuple(sorted(item for risk, item in risks if above < risk <= until))


def _limits(statistics: Sequence[StepStatistics], factor: float | None, is_long: bool) -> tuple[tuple[int, float], ...]:
    """Seconds beyond which a visit is too long (or too short), wider where few demonstrations hold the step.

    The extremes of a few samples understate the true spread: 2 samples double the factor, 12 add a sixth.
    """
    if factor is None:
        return ()
    wide = {one.step: factor * (1 + 2 / one.present) for one in statistics}
    return tuple(
        (one.step, one.longest_s * wide[one.step] if is_long else one.shortest_s / wide[one.step]) for one in statistics
    )
