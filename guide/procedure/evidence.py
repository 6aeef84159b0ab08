"""The risks that demonstrations show, and the rules that hold when they are cut off somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from guide.domain import KeyStep
from guide.procedure.counts import longest_pause_s, reversal_risks, shrunk_rates, step_statistics
from guide.procedure.model import Rules, StepStatistics
from guide.procedure.precedence import Edge, without_circles
from guide.procedure.visits import Visit

Demonstrations: TypeAlias = Sequence[tuple[Visit, ...]]

T = TypeVar("T", int, Edge)

NEVER = -1.0
LEAST_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """The greatest risk at which each kind of rule still holds; NEVER switches a kind off, None a duration limit.

    >>> Cutoffs(reversal=0.1).absence
    -1.0
    """

    absence: float = NEVER
    reversal: float = NEVER
    repeat: float = NEVER
    asked_absence: float = NEVER
    asked_reversal: float = NEVER
    long_factor: float | None = None
    short_factor: float | None = None
    is_unknown_flagged: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """The risks that a set of demonstrations gives, computed once and cut off in many ways."""

    steps: tuple[KeyStep, ...]
    statistics: tuple[StepStatistics, ...]
    reversal: tuple[tuple[float, Edge], ...]
    """Edges with their risk, the surest first; they draw no circle."""
    absence: tuple[tuple[float, int], ...]
    repeat: tuple[tuple[float, int], ...]
    pause_s: float

    def rules(self, cutoffs: Cutoffs) -> Rules:
        """The rules that hold under these cut-offs; between a cut-off and its asked one a question is allowed."""
        optional = {step.number for step in self.steps if step.is_optional}
        repeatable = {step.number for step in self.steps if step.is_repeatable}
        needed = tuple((risk, step) for risk, step in self.absence if step not in optional)
        edges = _between(self.reversal, NEVER, cutoffs.reversal)
        required = _between(needed, NEVER, cutoffs.absence)
        loose = set(required) & self._loose(edges)
        return Rules(
            edges=edges,
            asked_edges=_between(self.reversal, cutoffs.reversal, cutoffs.asked_reversal),
            required=tuple(step for step in required if step not in loose),
            asked_steps=tuple(sorted({*loose, *_between(needed, cutoffs.absence, cutoffs.asked_absence)})),
            single=tuple(step for step in _between(self.repeat, NEVER, cutoffs.repeat) if step not in repeatable),
            shortest_s=_limits(self.statistics, cutoffs.short_factor, is_long=False),
            longest_s=_limits(self.statistics, cutoffs.long_factor, is_long=True),
            patience_s=max(LEAST_PATIENCE_S, 2 * self.pause_s),
            is_unknown_flagged=cutoffs.is_unknown_flagged,
        )

    def _loose(self, edges: Iterable[Edge]) -> set[int]:
        """Steps that come and go: bound to no place and done more than once by some.

        That all demonstrations hold such a step may well be chance, so its absence is asked about, not alarmed.
        """
        bound = {step for edge in edges for step in edge}
        return {one.step for one in self.statistics if one.repeated and one.step not in bound}

    def coverage(self, cutoffs: Cutoffs) -> float:
        """The share of steps and pairs that the rules could flag, added up over the kinds."""
        rules = self.rules(cutoffs)
        steps = max(len(self.statistics), 1)
        pairs = max(len(self.reversal), 1)
        return (len(rules.required) + len(rules.single)) / steps + len(rules.edges) / pairs


def weigh(demonstrations: Demonstrations, steps: Sequence[KeyStep]) -> Evidence:
    """The evidence of these demonstrations about the given steps; steps none of them holds give none."""
    found = [step_statistics(demonstrations, step.number) for step in steps]
    statistics = tuple(one for one in found if one.present)
    count = len(demonstrations)
    return Evidence(
        tuple(steps),
        statistics,
        _without_circles(reversal_risks(demonstrations)),
        _by_risk(shrunk_rates({one.step: count - one.present for one in statistics}, count)),
        _by_risk(shrunk_rates({one.step: one.repeated for one in statistics}, count)),
        longest_pause_s(demonstrations),
    )


def _by_risk(risks: dict[int, float]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((risk, step) for step, risk in risks.items()))


def _between(risks: Iterable[tuple[float, T]], above: float, until: float) -> tuple[T, ...]:
    """What has a risk above the one and until the other."""
    return tuple(sorted(item for risk, item in risks if above < risk <= until))


def _without_circles(risks: dict[Edge, float]) -> tuple[tuple[float, Edge], ...]:
    ranked = sorted(risks, key=lambda edge: (risks[edge], edge))
    return tuple((risks[edge], edge) for edge in without_circles(ranked))


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
