"""Chooses which rules may raise a flag: by what they find and by their false alarms, both on demonstrations left out.

Rules of each kind stand in a row by their risk, the chance that a right recording breaks them. Demonstrations are
right, so what is broken in one by what the others teach is a false alarm; and each is made wrong in several ways. Rows
are cut off where they find most for their false alarms, one after the other, as long as these stay within the rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import KeyStep
from guide.procedure.evidence import NEVER, Cutoffs, Demonstrations, Evidence, weigh
from guide.procedure.model import Rules
from guide.procedure.orders import PRIOR_GAP, kin_risk
from guide.procedure.visits import Visit, first_order

# Cut-offs on risk. The last is the greatest of a rule that alarms: what one right recording in twenty does is no fault.
RISKS = (NEVER, 0.0, *(number / 1000 for number in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 50)))
ASKED_RISKS = (*RISKS, 0.07, 0.1, 0.15)  # beyond it a rule may ask at most
FACTORS = (2.0, 3.0, 5.0)  # times the longest visit seen, or into the shortest; from bold to timid
QUESTION_RATE = 0.5  # questions per clean recording, out of the rules too weak for an alert
WORTH = 2.0  # false alarms a recording that are borne where they let all faults be found instead of none
MOST_FOLDS = 30  # of more demonstrations than this, an evenly spread choice is left out
CURIOUS = Cutoffs(asked_absence=1.0, asked_order=1.0)  # after a single demonstration: ask, never alarm

KINDS = ("absence", "repeat", "order", "variant")
Breach: TypeAlias = tuple[float, float, float, float]  # the least risk of the rules of each kind that are broken
Floats: TypeAlias = NDArray[np.float64]
NOTHING: Breach = (np.inf, np.inf, np.inf, np.inf)


class Fold(NamedTuple):
    """A demonstration left out: what the others say of it, and of it made wrong."""

    others: Evidence
    left_out: tuple[Visit, ...]
    alarms: list[Breach]
    faults: list[Breach]

    def new_steps(self) -> int:
        """Steps that the others do not hold."""
        return len({visit.step for visit in self.left_out} - set(self.others.orders.steps))

    def out_of_limits(self, cutoffs: Cutoffs) -> int:
        """Visits that are longer or shorter than the others allow."""
        rules = self.others.rules(cutoffs)
        longest, shortest = dict(rules.longest_s), dict(rules.shortest_s)
        return sum(
            not shortest.get(visit.step, 0.0) <= visit.busy_s <= longest.get(visit.step, np.inf)
            for visit in self.left_out
        )


def choose_rules(
    demonstrations: Demonstrations, steps: Sequence[KeyStep], rate: float, are_true: bool = False
) -> Rules:
    """The rules that find most while the false alarms expected per recording stay within `rate`."""
    folds = folds_of(tuple(demonstrations), tuple(steps), are_true)
    evidence = weigh(demonstrations, steps, are_true)
    return _Choice(folds, rate, len(demonstrations)).rules(evidence) if folds else evidence.rules(CURIOUS)


def expected(alarms: int, recordings: int) -> float:
    """False alarms to expect per recording after so many in `recordings`.

    Half a recording that has one is added as a prior: two demonstrations without any just meet the default rate.

    >>> expected(0, 2), expected(1, 7)
    (0.2, 0.2)
    """
    return (alarms + 0.5) / (recordings + 0.5)


class _Choice:
    """The cut-offs that folds speak for."""

    def __init__(self, folds: Sequence[Fold], rate: float, demonstrations: int) -> None:
        self._folds, self._rate, self._demonstrations = folds, rate, demonstrations
        alarms = [breach for fold in folds for breach in fold.alarms]
        faults = [breach for fold in folds for breach in fold.faults]
        self._alarms, self._faults = (np.array(each).reshape(-1, len(KINDS)) for each in (alarms, faults))
        self._faults = self._faults[(self._faults <= ASKED_RISKS[-1]).any(1)]  # what nobody could know is none
        self._new_steps = sum(fold.new_steps() for fold in folds)

    def rules(self, evidence: Evidence) -> Rules:
        cutoffs, count = self.cutoffs(), len(self._folds)
        rules = evidence.rules(self._with_one_more(cutoffs))
        asked = _told(self._alarms, _asking(cutoffs)) - _told(self._alarms, cutoffs)
        return replace(rules, false_alarms=self._count(cutoffs) / count, questions=max(asked, 0) / count)

    def cutoffs(self) -> Cutoffs:
        """What was never done comes first, then absence, repeats and order; durations get what is left."""
        chosen = Cutoffs(is_unknown_flagged=self._is_within(Cutoffs()))
        while bolder := self._bolder(chosen):
            *_, chosen = max(bolder, key=lambda one: one[:2])
        for name in ("long_factor", "short_factor"):
            tries = [replace(chosen, **{name: factor}) for factor in FACTORS]  # type: ignore[arg-type]
            chosen = next(filter(self._is_within, tries), chosen)
        return replace(
            chosen,
            asked_absence=max(chosen.absence, self._asked(0)),
            asked_order=max(chosen.order, self._asked(2)),
        )

    def _bolder(self, cutoffs: Cutoffs) -> list[tuple[float, float, Cutoffs]]:
        """Gain, risk and the cut-offs with one kind of rule cut off farther on, where that is worth it and in the rate.

        What costs nothing is worth it, but for rules of variants: so many hold by chance that they must find something.
        """
        found, least = [], self._gain(cutoffs)
        for kind, risk in ((kind, risk) for kind in KINDS for risk in RISKS if risk > getattr(cutoffs, kind)):
            one = replace(cutoffs, **{kind: risk})  # type: ignore[arg-type]
            gain = self._gain(one)
            if gain >= least + (kind == "variant") * 1e-6 and self._is_within(one):
                found.append((gain, risk, one))
        return found

    def _gain(self, cutoffs: Cutoffs) -> float:
        """What the share of faults that is found is worth, less the false alarms a recording."""
        found = _told(self._faults, cutoffs) / max(len(self._faults), 1)
        return round(WORTH * found - _told(self._alarms, cutoffs) / len(self._folds), 9)

    def _asked(self, kind: int) -> float:
        """Rules too weak for an alert may ask, as long as that stays rare on right recordings."""
        most = QUESTION_RATE / 2 * len(self._folds)
        return max(risk for risk in ASKED_RISKS if (self._alarms[:, kind] <= risk).sum() <= most)

    def _with_one_more(self, cutoffs: Cutoffs) -> Cutoffs:
        """The same rules hold where the demonstration left out teaches as well: that lowers their risks."""
        lower = (self._demonstrations - PRIOR_GAP) / (self._demonstrations + PRIOR_GAP)
        lowered = {kind: risk * lower for kind in KINDS if (risk := getattr(cutoffs, kind)) > 0}
        return replace(cutoffs, **lowered)

    def _is_within(self, cutoffs: Cutoffs) -> bool:
        return expected(self._count(cutoffs), len(self._folds)) <= self._rate

    def _count(self, cutoffs: Cutoffs) -> int:
        has_limits = cutoffs.long_factor or cutoffs.short_factor
        limits = sum(fold.out_of_limits(cutoffs) for fold in self._folds) if has_limits else 0
        return _told(self._alarms, cutoffs) + limits + (self._new_steps if cutoffs.is_unknown_flagged else 0)


def _told(breaches: Floats, cutoffs: Cutoffs) -> int:
    return int((breaches <= np.array([getattr(cutoffs, kind) for kind in KINDS])).any(1).sum())


def _asking(cutoffs: Cutoffs) -> Cutoffs:
    """As if everything that may ask alarmed."""
    return replace(cutoffs, absence=cutoffs.asked_absence, order=cutoffs.asked_order)


@lru_cache(maxsize=1)  # nearly all the time of learning, and the same whatever the rate
def folds_of(
    demonstrations: tuple[tuple[Visit, ...], ...], steps: tuple[KeyStep, ...], are_true: bool = False
) -> list[Fold]:
    """A fold for each demonstration, or for an evenly spread choice of many; none for a single demonstration.

    A step that only the demonstration left out holds is unknown activity where steps `are_true`, else passed over.
    """
    count = len(demonstrations)
    chosen = range(count) if count <= MOST_FOLDS else [index * count // MOST_FOLDS for index in range(MOST_FOLDS)]
    return [_fold(demonstrations, steps, index, are_true) for index in chosen] if count > 1 else []


def _fold(demonstrations: Demonstrations, steps: Sequence[KeyStep], index: int, are_true: bool) -> Fold:
    others = weigh([*demonstrations[:index], *demonstrations[index + 1 :]], steps, are_true)
    known = set(others.orders.steps)
    visits = demonstrations[index]
    judge = _Judge(others)
    order = tuple(step for step in first_order(visits) if step in known)
    again = [step for step in order if sum(visit.step == step for visit in visits) > 1]
    alarms = [*judge.alarms(order), *(_breach(repeat=judge.repeat[step]) for step in again)]
    kept = visits if are_true else tuple(visit for visit in visits if visit.step in known)
    return Fold(others, kept, alarms, list(judge.faults(order)))


class _Judge:
    """What demonstrations say of another one."""

    def __init__(self, evidence: Evidence) -> None:
        self.orders, self.has_variants = evidence.orders, evidence.has_variants
        self.absence, self.repeat = (
            {step: risk for risk, step in each} for each in (evidence.absence, evidence.repeat)
        )
        self._order, self._need = ({edge: risk for risk, edge in each} for each in (evidence.order, evidence.need))

    def alarms(self, order: Sequence[int]) -> Iterator[Breach]:
        """What goes against the others: all that lacks at one moment is one cause, and none is told twice."""
        named: dict[int, Breach] = {}
        for place, step in enumerate(order):
            lacking = self._lacking(order[:place], step)
            late = ((first, _breach(order=self._order.get((first, step), np.inf))) for first in order[place + 1 :])
            lacking |= {first: _least([lacking.get(first, NOTHING), breach]) for first, breach in late}
            news = [_unsaid(breach, named.get(first, NOTHING)) for first, breach in lacking.items()]
            yield _least([*news, self._strange(order[:place], step)])
            named |= {first: _least([breach, named.get(first, NOTHING)]) for first, breach in lacking.items()}
        absent = ((step, risk) for step, risk in self.absence.items() if step not in order)
        yield from (_breach(absence=risk) for step, risk in absent if step not in named or risk < min(named[step]))

    def faults(self, order: Sequence[int]) -> Iterator[Breach]:
        """It made wrong: each step left out, done again, or with a later one, or one not in it, done instead."""
        absent = [step for step in self.orders.steps if step not in order]
        for place, step in enumerate(order):
            yield _breach(absence=self.absence.get(step, np.inf))
            yield _breach(repeat=self.repeat[step])
            is_later = place % 2 == 0 or not absent
            other = order[(place + len(order)) // 2] if is_later else absent[place % len(absent)]
            if other != step:
                yield _least([*self._lacking(order[:place], other).values(), self._strange(order[:place], other)])

    def _lacking(self, done: Sequence[int], step: int) -> dict[int, Breach]:
        """What the step needs and is not done."""
        column, closed = self.orders.column[step], {step, *done}
        firsts = (self.orders.steps[row] for row in np.flatnonzero(self.orders.first[:, column]))
        found = {first: _breach(order=self._need.get((first, step), np.inf)) for first in firsts if first not in closed}
        for one in self.orders.lacking(step, done, RISKS[-1]) if self.has_variants else ():
            found[one.step] = _least([found.get(one.step, NOTHING), _breach(variant=one.risk)])
        return found

    def _strange(self, done: Sequence[int], step: int) -> Breach:
        """Whether the step is of another variant."""
        return _breach(variant=kin_risk(*self.orders.kin(step, done))) if self.has_variants and done else NOTHING


def _breach(absence: float = np.inf, repeat: float = np.inf, order: float = np.inf, variant: float = np.inf) -> Breach:
    return absence, repeat, order, variant


def _least(breaches: Sequence[Breach]) -> Breach:
    absence, repeat, order, variant = (min(each) for each in zip(*breaches, strict=True))
    return absence, repeat, order, variant


def _unsaid(breach: Breach, before: Breach) -> Breach:
    """As much of a breach as would not have been told before."""
    absence, repeat, order, variant = (
        one if one < other else np.inf for one, other in zip(breach, before, strict=True)
    )
    return absence, repeat, order, variant
