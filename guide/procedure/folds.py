"""A demonstration left out: what the others say against it, though it is right, and of it made wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from guide.domain import Alert, Belief, KeyStep
from guide.procedure.evidence import Demonstrations, Evidence, weigh
from guide.procedure.model import Rule, RuleKind
from guide.procedure.orders import kin_risk
from guide.procedure.visits import Visit, first_order

MOST_FOLDS = 30  # of more demonstrations than this, an evenly spread choice is left out
MOST_RISK = 0.05  # what one right recording in twenty does is no fault


class Breach(NamedTuple):
    """One cause: the least risk of the rules that are broken: on a step alone, and on what goes with what."""

    alone: float = np.inf
    pair: float = np.inf


class Fold(NamedTuple):
    """A demonstration left out."""

    number: int
    others: Evidence
    left_out: tuple[Visit, ...]
    alarms: list[Breach]
    faults: list[Breach]

    def new_steps(self) -> int:
        """Steps that the others do not hold."""
        return len({visit.step for visit in self.left_out} - set(self.others.orders.steps))


def folds_of(
    demonstrations: Demonstrations,
    steps: Sequence[KeyStep],
    are_true: bool,
    ends: Mapping[int, Belief],
) -> list[Fold]:
    """A fold for each demonstration, or for an evenly spread choice of many; none for a single demonstration.

    Where there are rehearsals, `ends` has the last belief of each by the number of its demonstration; only these are
    left out, and their false alarms are what is said of them. A step that only the demonstration left out holds is
    unknown activity where steps `are_true`, else passed over.
    """
    count = len(demonstrations)
    if count < 2:
        return []
    chosen: Sequence[int] = sorted(ends) if ends else range(count)
    if len(chosen) > MOST_FOLDS:
        chosen = [chosen[index * len(chosen) // MOST_FOLDS] for index in range(MOST_FOLDS)]
    return [_fold(demonstrations, steps, index, are_true, ends) for index in chosen]


def _fold(
    demonstrations: Demonstrations, steps: Sequence[KeyStep], index: int, are_true: bool, ends: Mapping[int, Belief]
) -> Fold:
    rest = [*demonstrations[:index], *demonstrations[index + 1 :]]
    others = weigh(rest, steps, are_true, [belief for place, belief in ends.items() if place != index])
    judge = _Judge(others)
    visits, known = demonstrations[index], set(others.orders.steps)
    order = tuple(step for step in first_order(visits) if step in known)
    usual = {one.step: one.usual_visits for one in others.statistics}
    again = [step for step in order if sum(visit.step == step for visit in visits) != usual[step]]
    alarms = [] if index in ends else [*judge.alarms(order), *judge.repeats(again)]
    kept = visits if are_true else tuple(visit for visit in visits if visit.step in known)
    return Fold(index, others, kept, alarms, list(judge.faults(order)))


def breach_of(alert: Alert, others: Evidence) -> Breach:
    """The rules that an alert says are broken."""
    risks, step = others.risks, alert.step
    if alert.kind == "repeated":
        return Breach(risks.get(Rule("repeated", step), np.inf))
    if alert.kind == "missed":
        needs = [risk for rule, risk in risks.items() if rule.kind == "needs" and rule.before == step]
        return Breach(risks.get(Rule("missed", step), np.inf), min(needs, default=np.inf))
    pair = [risks.get(Rule(kind, step, alert.before), np.inf) for kind in ("out_of_order", "needs")]
    return Breach(pair=min(pair))


class _Judge:
    """What demonstrations say of another one."""

    def __init__(self, evidence: Evidence) -> None:
        self.orders, self.has_variants, self._risks = evidence.orders, evidence.has_variants, evidence.risks
        self._needs: dict[int, dict[int, float]] = {}
        for rule, risk in evidence.risks.items():
            if rule.kind == "needs" and rule.before is not None:
                self._needs.setdefault(rule.step, {})[rule.before] = risk

    def alarms(self, order: Sequence[int]) -> Iterator[Breach]:
        """What goes against the others: all that lacks at one moment is one cause, and none is told twice."""
        named: dict[int, Breach] = {}
        for place, step in enumerate(order):
            lacking = self._lacking(order[:place], step)
            late = ((first, Breach(pair=self._risk("out_of_order", step, first))) for first in order[place + 1 :])
            lacking |= {first: _least([lacking.get(first, Breach()), breach]) for first, breach in late}
            news = [_unsaid(breach, named.get(first, Breach())) for first, breach in lacking.items()]
            yield _least([*news, self._strange(order[:place], step)])
            named |= {first: _least([breach, named.get(first, Breach())]) for first, breach in lacking.items()}
        for step in self.orders.steps:
            risk = self._risk("missed", step)
            if step not in order and (step not in named or risk < min(named[step])):
                yield Breach(risk)

    def repeats(self, steps: Sequence[int]) -> Iterator[Breach]:
        """The steps are done again."""
        yield from (Breach(self._risk("repeated", step)) for step in steps)

    def faults(self, order: Sequence[int]) -> Iterator[Breach]:
        """It made wrong: each step left out, done again, or with a later one, or one not in it, done instead."""
        absent = [step for step in self.orders.steps if step not in order]
        for place, step in enumerate(order):
            yield Breach(self._risk("missed", step))
            yield Breach(self._risk("repeated", step))
            is_later = place % 2 == 0 or not absent
            other = order[(place + len(order)) // 2] if is_later else absent[place % len(absent)]
            if other != step:
                yield _least([*self._lacking(order[:place], other).values(), self._strange(order[:place], other)])

    def _lacking(self, done: Sequence[int], step: int) -> dict[int, Breach]:
        """What the step needs and is not done."""
        closed = {step, *done}
        if self.has_variants:
            return {one.step: Breach(pair=one.risk) for one in self.orders.lacking(step, done, MOST_RISK)}
        return {first: Breach(pair=risk) for first, risk in self._needs.get(step, {}).items() if first not in closed}

    def _strange(self, done: Sequence[int], step: int) -> Breach:
        """Whether the step is of another variant."""
        return Breach(pair=kin_risk(*self.orders.kin(step, done))) if self.has_variants and done else Breach()

    def _risk(self, kind: RuleKind, step: int, before: int | None = None) -> float:
        return self._risks.get(Rule(kind, step, before), np.inf)


def _least(breaches: Sequence[Breach]) -> Breach:
    return Breach(*(min(each) for each in zip(*breaches, strict=True)))


def _unsaid(breach: Breach, before: Breach) -> Breach:
    """As much of a breach as would not have been told before."""
    return Breach(*(one if one < other else np.inf for one, other in zip(breach, before, strict=True)))
