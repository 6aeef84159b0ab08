"""Chooses which rules may raise a flag, by the false alarms on demonstrations left out.

Of all cut-offs that keep the false alarms within the rate, those are chosen that let most steps and pairs be flagged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from guide.domain import KeyStep
from guide.procedure.evidence import NEVER, Cutoffs, Demonstrations, Evidence, weigh
from guide.procedure.folds import Fold, count_alarms, count_questions, folds_of
from guide.procedure.model import Rules

RISKS = (0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
# The greatest risk of a rule that alarms; beyond it a rule may ask at most. Neighbours in an order are risky by nature,
# but a step that one demonstration in twenty leaves out or does twice is no surprise.
MOST_RISK = {"absence": 0.05, "reversal": 0.1, "repeat": 0.05}
FACTORS = (2.0, 3.0, 5.0)  # times the longest visit seen, or into the shortest; from bold to timid
WEIGHTS = {"absence": 1.0, "reversal": 1.0, "repeat": 0.5}  # what an operator most wants to hear of
QUESTION_RATE = 0.5  # questions per clean recording, out of the rules too weak for an alert
SILENT = Cutoffs(is_unknown_flagged=False)
CURIOUS = Cutoffs(asked_absence=1.0, asked_reversal=1.0)  # after a single demonstration: ask, never alarm


@dataclass(frozen=True, slots=True)
class Choice:
    """A cut-off, the false alarms it costs over all folds, and the share of steps or pairs it covers."""

    cutoff: float
    alarms: int
    coverage: float


def choose_rules(
    demonstrations: Demonstrations, steps: Sequence[KeyStep], rate: float, is_new_unknown: bool = False
) -> Rules:
    """The rules that can flag most while the false alarms expected per recording stay within `rate`."""
    folds = folds_of(demonstrations, steps, is_new_unknown)
    evidence = weigh(demonstrations, steps)
    cutoffs = _choose(folds, evidence, rate) if folds else CURIOUS
    count = max(len(folds), 1)
    return replace(
        evidence.rules(cutoffs),
        false_alarms=count_alarms(folds, cutoffs) / count,
        questions=count_questions(folds, cutoffs) / count,
    )


def expected(alarms: int, recordings: int) -> float:
    """False alarms to expect per recording after so many in `recordings`.

    Half a recording that has one is added as a prior: two demonstrations without any just meet the default rate.

    >>> expected(0, 2), expected(1, 7)
    (0.2, 0.2)
    """
    return (alarms + 0.5) / (recordings + 0.5)


def _choose(folds: Sequence[Fold], evidence: Evidence, rate: float) -> Cutoffs:
    """Missed steps, order and repeats share the rate; unknown activity, then durations get what is left."""
    curves = {kind: _curve(folds, evidence, kind) for kind in WEIGHTS}
    chosen = _widest(curves, rate, len(folds))
    for name, values in (("is_unknown_flagged", (True,)), ("long_factor", FACTORS), ("short_factor", FACTORS)):
        chosen = _first_within([_set(chosen, name, value) for value in values], folds, rate) or chosen
    return _with_questions(chosen, curves, len(folds))


def _curve(folds: Sequence[Fold], evidence: Evidence, kind: str) -> list[Choice]:
    """What each cut-off of one kind would cost and cover, with the other kinds switched off."""
    curve = [Choice(NEVER, 0, 0.0)]
    for cutoff in RISKS:
        cutoffs = _set(SILENT, kind, cutoff)
        covered = evidence.coverage(cutoffs)
        if covered > curve[-1].coverage:
            curve.append(Choice(cutoff, count_alarms(folds, cutoffs), covered))
    return curve


def _set(cutoffs: Cutoffs, name: str, value: Any) -> Cutoffs:
    return replace(cutoffs, **{name: value})


def _widest(curves: Mapping[str, Sequence[Choice]], rate: float, recordings: int) -> Cutoffs:
    """The cut-offs that cover most within the rate; of equal ones those with fewer alarms."""
    best, most = SILENT, (0.0, 0)
    bold = [[choice for choice in curve if choice.cutoff <= MOST_RISK[kind]] for kind, curve in curves.items()]
    for choices in product(*bold):
        alarms = sum(choice.alarms for choice in choices)
        covered = sum(weight * choice.coverage for weight, choice in zip(WEIGHTS.values(), choices, strict=True))
        if expected(alarms, recordings) <= rate and (covered, -alarms) > most:
            most = (covered, -alarms)
            absence, reversal, repeat = (choice.cutoff for choice in choices)
            best = replace(SILENT, absence=absence, reversal=reversal, repeat=repeat)
    return best


def _first_within(tries: Iterable[Cutoffs], folds: Sequence[Fold], rate: float) -> Cutoffs | None:
    return next((one for one in tries if expected(count_alarms(folds, one), len(folds)) <= rate), None)


def _with_questions(chosen: Cutoffs, curves: Mapping[str, Sequence[Choice]], recordings: int) -> Cutoffs:
    """Rules too weak for an alert may ask, as long as that stays rare on clean recordings."""
    asked = {kind: _boldest(curves[kind], recordings) for kind in ("absence", "reversal")}
    return replace(
        chosen,
        asked_absence=max(chosen.absence, asked["absence"]),
        asked_reversal=max(chosen.reversal, asked["reversal"]),
    )


def _boldest(curve: Iterable[Choice], recordings: int) -> float:
    return max(choice.cutoff for choice in curve if choice.alarms <= QUESTION_RATE / 2 * recordings)
