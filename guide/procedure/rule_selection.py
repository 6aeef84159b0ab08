"""The one place that decides whether a rule alarms, asks or is silent, and says why.

Every rule has a risk, the chance that a right recording breaks it, or seems to (`evidence.py`). Each demonstration is
right, so what the others say against it, or the tracker says of its rehearsal by rules of the others, is a false alarm;
and each is made wrong in several ways (`folds.py`). Rules are taken in the order of their risk up to where they find
most for their false alarms, as long as those expected of the next recording stay within the rate. Live, the next
recording counts as one more rehearsal, with a false alarm: then one level holds the rate whatever the task is
(conformal risk control). Rules a little riskier may ask, as long as that is rare; the rest are silent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import Alert, Belief, KeyStep
from guide.procedure.events import Event, Reviewed
from guide.procedure.evidence import Demonstrations, Evidence, chance_broken, weigh
from guide.procedure.folds import MOST_RISK, Breach, Fold, breach_of, folds_of
from guide.procedure.model import Decision, Procedure, Rule, Rules, StepStatistics, Verdict
from guide.procedure.precedence import without_circles
from guide.procedure.replay import standing_alerts
from guide.procedure.settings import TrackerSettings
from guide.procedure.tracker import Tracker

NEVER = -1.0
# Cut-offs on risk at which rules may ask.
RISKS = (
    NEVER,
    0.0,
    *(number / 1000 for number in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40)),
    MOST_RISK,
)
LEVELS = 100  # at which live rules may begin to alarm
LEAST_SHARE = 1e-4  # below it a share is not told in figures
ASKED_RISK = 0.15  # beyond it nothing is a rule
FACTORS = (2.0, 3.0, 5.0)  # times the longest visit seen, or into the shortest; from bold to timid
QUESTION_RATE = 0.25  # questions per right recording, out of the rules too weak for an alert
# False alarms a recording that are borne where they let all faults be found instead of none: live, and on true steps,
# where a third of the faults that are made are about order, but most mistakes.
WORTH, WORTH_TRUE = 2.0, 4.0
FALSE_ALARM_RATE = 0.2  # per recording: one needless alert in five sessions
FEWEST_TO_WARN = round(1 / FALSE_ALARM_RATE) - 1  # rehearsals, none of them with a false alarm, that prove that rate
PRIOR_ALARMS = 0.5  # that few recordings may have hidden: two true ones without any just meet the default rate
MOST_SHARE = 0.05  # of the rehearsals in which a limit on time, or on what is known, may be wrong
LEAST_PATIENCE_S = 30.0

Floats: TypeAlias = NDArray[np.float64]
Rehearsals: TypeAlias = Mapping[int, Sequence[Event]]


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """The greatest risk at which rules of each kind alarm (see `Breach`), and all of them ask; None is no time limit.

    >>> Cutoffs(pair=0.02).verdict(Rule("out_of_order", 2, 1), 0.03)
    'silent'
    """

    alone: float = NEVER
    pair: float = NEVER
    asked: float = NEVER
    long_factor: float | None = None
    short_factor: float | None = None
    is_unknown_flagged: bool = True

    @property
    def kinds(self) -> tuple[float, float]:
        return self.alone, self.pair

    def limit(self, rule: Rule) -> float:
        return self.pair if rule.is_pair else self.alone

    def verdict(self, rule: Rule, risk: float) -> Verdict:
        if risk <= self.limit(rule):
            return "alarms"
        return "asks" if risk <= self.asked and rule.kind != "repeated" else "silent"  # nobody is asked of a repeat


CURIOUS = Cutoffs(asked=1.0)  # after a single demonstration: ask, never alarm


def choose_rules(
    demonstrations: Demonstrations,
    steps: Sequence[KeyStep],
    rate: float,
    are_true: bool = False,
    rehearsals: Rehearsals | None = None,
    told: Callable[[Rules, int], Sequence[Alert]] = lambda *_: (),
) -> Rules:
    """The rules that find most while the false alarms expected per recording stay within `rate`.

    A rehearsal is what the tracker would hear of a demonstration, by its number, seen by what the others teach. `told`
    says which alerts rules of the others raise in a rehearsal.
    """
    ends = _ends(rehearsals or {})
    evidence = weigh(demonstrations, steps, are_true, list(ends.values()))
    folds = folds_of(demonstrations, steps, are_true, ends)
    if not folds:
        return _Decided(evidence, replace(CURIOUS, is_unknown_flagged=are_true), len(demonstrations), ends).rules()
    if ends:
        folds = [_told_of(fold, told) for fold in folds]
    choice = _Choice(folds, rate, is_live=bool(ends))
    cutoffs = choice.cutoffs()
    return replace(
        _Decided(evidence, cutoffs, len(demonstrations), ends).rules(),
        false_alarms=choice.false_alarms(cutoffs),
        questions=choice.questions(cutoffs),
    )


def _told_of(fold: Fold, told: Callable[[Rules, int], Sequence[Alert]]) -> Fold:
    """The fold with the false alarms that every rule of the others raises in its rehearsal."""
    every = Cutoffs(ASKED_RISK, ASKED_RISK, is_unknown_flagged=False)
    rules = _Decided(fold.others, every, len(fold.others.orders.demonstrations), {}).rules()
    alerts = told(replace(rules, patience_s=None), fold.number)
    return fold._replace(alarms=[breach_of(one, fold.others) for one in alerts])


def expected(alarms: float, recordings: int) -> float:
    """False alarms to expect per recording after so many in `recordings`: few of them prove little.

    >>> expected(0, 2)
    0.2
    """
    return (alarms + PRIOR_ALARMS) / (recordings + PRIOR_ALARMS)


def expected_live(alarms: float, rehearsals: int) -> float:
    """The same live, where a cut-off is set by `rehearsals`: the next recording is one more, and may have the worst.

    >>> expected_live(0, 4), expected_live(1, 9)
    (0.2, 0.2)
    """
    return (alarms + 1) / (rehearsals + 1)


class _Choice:
    """The cut-offs that folds speak for."""

    def __init__(self, folds: Sequence[Fold], rate: float, is_live: bool) -> None:
        """`is_live` where there are rehearsals; else steps are true."""
        self._folds, self._rate, self._is_live = folds, rate, is_live
        self._alarms = _array(breach for fold in folds for breach in fold.alarms)
        faults = _array(breach for fold in folds for breach in fold.faults)
        self._faults = faults[(faults <= ASKED_RISK).any(1)]  # what nobody could know is none
        self._new_steps = sum(fold.new_steps() for fold in folds)

    def cutoffs(self) -> Cutoffs:
        """What was never done comes first, then all other rules, durations and questions."""
        chosen = Cutoffs(is_unknown_flagged=self._is_within(Cutoffs()))
        # Live one level for both: each cut-off that is free may hide a false alarm of its own.
        limits = self._levels() if self._is_live else product(self._limits(0), self._limits(1))
        both = [replace(chosen, alone=alone, pair=pair) for alone, pair in limits]
        within = filter(self._is_within, both)
        chosen = max(within, key=lambda one: (self.gain(one), one.alone + one.pair), default=chosen)
        for name in ("long_factor", "short_factor"):
            tries = [replace(chosen, **{name: factor}) for factor in FACTORS]  # type: ignore[arg-type]
            chosen = next(filter(self._is_within, tries), chosen)
        asking = (replace(chosen, asked=risk) for risk in (ASKED_RISK, *reversed(RISKS)))
        return next(one for one in asking if self._asked(one) <= QUESTION_RATE * len(self._folds))

    def false_alarms(self, cutoffs: Cutoffs) -> float:
        """Per recording that is left out."""
        return self._count(cutoffs) / len(self._folds)

    def questions(self, cutoffs: Cutoffs) -> float:
        return self._asked(cutoffs) / len(self._folds)

    def _levels(self) -> Iterable[tuple[float, float]]:
        """Cut-offs under which rules about one step and about pairs each find the same share of what they can find.

        Risks of the two kinds are not alike: under one cut-off on risk, steps would be warned of before any order is.
        """
        risks = [np.sort(kind[kind <= MOST_RISK]) for kind in self._faults.T]
        for level in range(LEVELS):
            counts = [math.ceil(level / LEVELS * len(kind)) for kind in risks]
            alone, pair = (
                float(kind[count - 1]) if count else NEVER for kind, count in zip(risks, counts, strict=True)
            )
            yield alone, pair
        yield MOST_RISK, MOST_RISK

    def _limits(self, kind: int) -> list[float]:
        """Cut-offs for a kind of rule: none, just below each false alarm, and all."""
        risks = np.unique(self._alarms[:, kind])
        return [NEVER, *(float(risk) * (1 - 1e-6) for risk in risks[risks <= MOST_RISK]), MOST_RISK]

    def gain(self, cutoffs: Cutoffs) -> float:
        """What the share of faults that is found is worth, less the false alarms a recording."""
        found = _told(self._faults, cutoffs) / max(len(self._faults), 1)
        worth = WORTH if self._is_live else WORTH_TRUE
        return round(worth * found - _told(self._alarms, cutoffs) / len(self._folds), 9)

    def _is_within(self, cutoffs: Cutoffs) -> bool:
        alarms, count = self._count(cutoffs), len(self._folds)
        if self._is_live:
            return expected_live(alarms, count) <= self._rate
        return expected(alarms, count) <= self._rate

    def _count(self, cutoffs: Cutoffs) -> int:
        limits = sum(_out_of_limits(fold, cutoffs) for fold in self._folds)
        return _told(self._alarms, cutoffs) + limits + (self._new_steps if cutoffs.is_unknown_flagged else 0)

    def _asked(self, cutoffs: Cutoffs) -> int:
        alone, pair = (max(risk, cutoffs.asked) for risk in cutoffs.kinds)
        asking = replace(cutoffs, alone=alone, pair=pair)
        return _told(self._alarms, asking) - _told(self._alarms, cutoffs)


class _Decided:
    """What cut-offs make of the evidence: a decision on every rule, and the rules that follow."""

    def __init__(self, evidence: Evidence, cutoffs: Cutoffs, demonstrations: int, ends: Mapping[int, Belief]) -> None:
        self._evidence, self._cutoffs, self._count, self._ends = evidence, cutoffs, demonstrations, ends
        self._statistics = {one.step: one for one in evidence.statistics}

    def rules(self) -> Rules:
        cutoffs, statistics = self._cutoffs, self._evidence.statistics
        verdicts = {rule: self._verdict(rule) for rule in self._evidence.risks if self._is_rule(rule)}
        required = {rule.step for rule, verdict in verdicts.items() if rule.kind == "missed" and verdict == "alarms"}
        verdicts = self._without_circles(
            {rule: verdict for rule, verdict in verdicts.items() if rule.kind != "needs" or rule.before not in required}
            if not self._evidence.has_variants
            else verdicts
        )
        found = Rules(
            variant_risk=cutoffs.pair if self._evidence.has_variants and cutoffs.pair > NEVER else None,
            shortest_s=_limits(statistics, cutoffs.short_factor, is_long=False),
            longest_s=_limits(statistics, cutoffs.long_factor, is_long=True),
            patience_s=max(LEAST_PATIENCE_S, 2 * self._evidence.pause_s),
            is_unknown_flagged=cutoffs.is_unknown_flagged,
            least_certainty=self._evidence.least_certainty,
            decisions=tuple(Decision(rule, verdict, self._why(rule)) for rule, verdict in sorted(verdicts.items())),
        )
        return found.decided()

    def _without_circles(self, verdicts: Mapping[Rule, Verdict]) -> dict[Rule, Verdict]:
        """Of orders that contradict each other the surest are told, and the others silent."""
        told = [rule for rule, verdict in verdicts.items() if rule.before is not None and verdict != "silent"]
        told.sort(key=lambda rule: (verdicts[rule], self._evidence.risks[rule]))  # alarms come before asks
        kept = {*without_circles((rule.before or 0, rule.step) for rule in told)}
        lost = {rule for rule in told if (rule.before, rule.step) not in kept}
        return {rule: "silent" if rule in lost else verdict for rule, verdict in verdicts.items()}

    def _is_rule(self, rule: Rule) -> bool:
        """Whether demonstrations suggest it at all; after a single one, whatever they did is asked about."""
        return self._evidence.counted[rule] <= max(ASKED_RISK, self._cutoffs.asked)

    def _verdict(self, rule: Rule) -> Verdict:
        return self._cutoffs.verdict(rule, self._evidence.risks[rule])

    def _why(self, rule: Rule) -> str:
        limit = max(self._cutoffs.limit(rule), 0.0)
        bound = (
            f"such rules alarm up to {_percent(limit)}" if limit or self._verdict(rule) == "alarms" else "none alarms"
        )
        if self._cutoffs.asked > limit and rule.kind != "repeated":
            bound += f" and ask up to {_percent(self._cutoffs.asked)}"
        return f"{self._counts(rule)}{self._seemed(rule)}; risk {_percent(self._evidence.risks[rule])}, {bound}"

    def _counts(self, rule: Rule) -> str:
        own = self._statistics[rule.step]
        if rule.before is None:
            times = own.present if rule.kind == "missed" else self._count - own.unusual
            often = f"{own.usual_visits} times where it is done" if own.usual_visits > 1 else "once at most"
            what = "done" if rule.kind == "missed" else f"done {often}"
            return f"{what} in {times} of {self._count} demonstrations"
        orders = self._evidence.orders
        first, then = orders.column[rule.before], orders.column[rule.step]
        support = int(orders.first[first, then])
        if rule.kind == "needs":
            return f"came first in {support} of {own.present} that did it"
        return f"came first in {support} of {support + int(orders.first[then, first])} that did both"

    def _seemed(self, rule: Rule) -> str:
        if not self._ends:
            return ""
        alert_chance = TrackerSettings().alert_chance
        broken = sum(chance_broken(rule, belief) >= alert_chance for belief in self._ends.values())
        return f", seemed broken in {broken} of {len(self._ends)} rehearsals"


def silence_limits(procedure: Procedure, rehearsals: Rehearsals) -> Procedure:
    """The procedure without limits on time, and on what is known, that too many rehearsals break."""
    kinds = ("unknown", "stalled", "too_long", "too_short")
    cried: Counter[tuple[str, int]] = Counter()
    for events in rehearsals.values():
        tracker = Tracker(procedure)
        alerts = standing_alerts([said for event in events for said in tracker.apply(event)])
        cried.update({(alert.kind, alert.step if alert.kind in kinds[2:] else 0) for alert in alerts})
    rules = procedure.rules
    loud = {cause for cause, times in cried.items() if times > MOST_SHARE * len(rehearsals)}
    return replace(
        procedure,
        rules=replace(
            rules,
            longest_s=tuple(pair for pair in rules.longest_s if ("too_long", pair[0]) not in loud),
            shortest_s=tuple(pair for pair in rules.shortest_s if ("too_short", pair[0]) not in loud),
            patience_s=None if ("stalled", 0) in loud else rules.patience_s,
            is_unknown_flagged=rules.is_unknown_flagged and ("unknown", 0) not in loud,
        ),
    )


def _ends(rehearsals: Rehearsals) -> dict[int, Belief]:
    """What was believed at the end of each rehearsal."""
    beliefs = {
        place: [one.belief for one in events if isinstance(one, Reviewed)] for place, events in rehearsals.items()
    }
    return {place: found[-1] for place, found in beliefs.items() if found}


def _array(breaches: Iterable[Breach]) -> Floats:
    return np.array(list(breaches), np.float64).reshape(-1, 2)


def _told(breaches: Floats, cutoffs: Cutoffs) -> int:
    return int((breaches <= np.array(cutoffs.kinds)).any(1).sum())


def _out_of_limits(fold: Fold, cutoffs: Cutoffs) -> int:
    """Visits that are longer or shorter than the others allow."""
    if not cutoffs.long_factor and not cutoffs.short_factor:
        return 0
    longest, shortest = (
        dict(_limits(fold.others.statistics, factor, is_long))
        for factor, is_long in ((cutoffs.long_factor, True), (cutoffs.short_factor, False))
    )
    return sum(
        not shortest.get(visit.step, 0.0) <= visit.busy_s <= longest.get(visit.step, np.inf) for visit in fold.left_out
    )


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


def _percent(share: float) -> str:
    """Two digits of it, if it is not next to nothing.

    >>> _percent(0.0476), _percent(1.0), _percent(2.9e-10)
    ('4.8 %', '100 %', 'under 0.01 %')
    """
    if 0 < share < LEAST_SHARE:
        return f"under {100 * LEAST_SHARE:g} %"
    return f"{float(f'{100 * share:.2g}'):g} %"
