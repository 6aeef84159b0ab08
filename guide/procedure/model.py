"""What was learnt about a task: steps, orders, counts, and the rules that may raise a flag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from guide.domain import KeyStep, Ordering, Precedence
from guide.procedure.orders import Orders
from guide.procedure.precedence import Edge, close_edges, reduce_edges, strict_edges, without_circles

FEWEST_EQUAL = 3  # demonstrations that must visit a step equally often before that means anything
LANGUAGE_TAG = r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4})?$"  # as browsers write languages: de, pt-BR


@dataclass(frozen=True, slots=True)
class StepStatistics:
    """What the demonstrations say about one step; durations are seconds per visit.

    >>> StepStatistics(1, present=4, repeated=1, most_visits=2, durations_s=(2.0, 2.2, 3.0, 4.5, 5.0)).longest_s
    5.0
    """

    step: int
    present: int
    """Demonstrations that hold the step."""
    repeated: int
    """Demonstrations in which it was visited more than once."""
    most_visits: int
    durations_s: tuple[float, float, float, float, float]
    """Shortest, 10 %, median, 90 % and longest visit."""
    visits: tuple[int, ...] = ()
    """Demonstrations with one visit, with two and so on; left out where nobody came back."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each demonstration that holds the step visited it, the fewest visits first.

        >>> StepStatistics(1, 3, 3, 2, (2.0, 2.2, 3.0, 4.5, 5.0), visits=(0, 3)).counts
        (2, 2, 2)
        """
        visits = self.visits or (self.present - self.repeated, self.repeated)
        return tuple(times for times, count in enumerate(visits, 1) for _ in range(count))

    @property
    def usual_visits(self) -> int:
        """How often the step is visited where that is always equally often, else once.

        >>> [StepStatistics(1, 3, 3, 3, (2.0,) * 5, visits=visits).usual_visits for visits in ((0, 3), (0, 2, 1))]
        [2, 1]
        """
        is_always_so = sum(count > 0 for count in self.visits) == 1 and self.present >= FEWEST_EQUAL
        return len(self.visits) if is_always_so else 1

    @property
    def unusual(self) -> int:
        """Demonstrations that came back to a step that comes once."""
        return 0 if self.usual_visits > 1 else self.repeated

    @property
    def shortest_s(self) -> float:
        return self.durations_s[0]

    @property
    def longest_s(self) -> float:
        return self.durations_s[-1]


@dataclass(frozen=True, slots=True)
class Transition:
    """`then` directly followed `first` in `count` places; 0 is the start or the end of a demonstration."""

    first: int
    then: int
    count: int


Verdict: TypeAlias = Literal["alarms", "asks", "silent", "off"]  # off is what a person does not want
RuleKind: TypeAlias = Literal["missed", "repeated", "needs", "out_of_order"]


class Rule(NamedTuple):
    """What may be broken: a step `missed` or `repeated`, done though it `needs` another first, or `out_of_order`.

    >>> Rule("needs", 3, before=1).cause
    Rule(kind='missed', step=1, before=None)
    """

    kind: RuleKind
    step: int
    before: int | None = None

    @property
    def is_pair(self) -> bool:
        return self.before is not None

    @property
    def cause(self) -> Rule:
        """What is told of once, however many rules it breaks."""
        if self.kind == "needs" and self.before is not None:
            return Rule("missed", self.before)
        return Rule(self.kind, self.step)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a rule alarms, asks, is silent or switched off, and why, in words."""

    rule: Rule
    verdict: Verdict
    reason: str


GivenKind = Literal["before", "needs", "either", "required"]


@dataclass(frozen=True, slots=True)
class GivenRule:
    """What a trainer says of steps, whatever the demonstrations say; where it does not hold, nobody is told of it.

    `before`: the first step comes before the second where both are done; `needs`: the second is begun only when the
    first was done; `either`: one of the two is done, and not both; `required`: the one step must be done.

    >>> GivenRule("needs", (1, 2)).holds
    True
    """

    kind: GivenKind
    steps: tuple[int, ...]
    holds: bool = True

    @property
    def about(self) -> tuple[GivenKind, tuple[int, ...]]:
        """What it is about: of two rules about the same, the later one stands."""
        return self.kind, tuple(sorted(self.steps)) if self.kind == "either" else self.steps


@dataclass(frozen=True)
class Rules:
    """Which deviations may raise a flag, fixed on the demonstrations so that false alarms stay rare.

    `edges` are pairs whose second step comes after the first where both are done; `needs` those of them whose second is
    begun only when the first was, though the first is not `required`. These may raise alerts; what is `asked_` rests on
    less evidence and may only raise a question. `single` holds the steps that are done once, or
    always equally often. Limits are seconds per visit; no limit, no flag. `decisions` says why, and holds rules that
    are silent as well.

    >>> Rules(edges=((1, 2),), required=(1, 2)).predecessors(2)
    (1,)
    """

    edges: tuple[Edge, ...] = ()
    asked_edges: tuple[Edge, ...] = ()
    needs: tuple[Edge, ...] = ()
    asked_needs: tuple[Edge, ...] = ()
    required: tuple[int, ...] = ()
    asked_steps: tuple[int, ...] = ()
    single: tuple[int, ...] = ()
    variant_risk: float | None = None
    """The greatest risk of a rule that holds in some variants of the task and alarms; None where none is looked at."""
    shortest_s: tuple[tuple[int, float], ...] = ()
    longest_s: tuple[tuple[int, float], ...] = ()
    patience_s: float | None = None
    is_unknown_flagged: bool = True
    least_certainty: float = 0.0
    """A session whose frames are less certain on average, unlike those of all rehearsals, is asked and not warned."""
    false_alarms: float = 0.0
    """Leave-one-out false alarms per demonstration under these rules."""
    questions: float = 0.0
    """Leave-one-out questions per demonstration under these rules."""
    decisions: tuple[Decision, ...] = ()
    given: tuple[GivenRule, ...] = ()
    """What a trainer gave; the rules above follow it."""

    def decided(self) -> Rules:
        """The rules with those that the decisions let alarm or ask."""
        told = {
            (kind, verdict): [one.rule for one in self.decisions if (one.rule.kind, one.verdict) == (kind, verdict)]
            for kind in ("missed", "repeated", "needs", "out_of_order")
            for verdict in ("alarms", "asks")
        }
        needs, asked_needs = (_edges(told["needs", verdict]) for verdict in ("alarms", "asks"))
        edges = tuple(sorted({*_edges(told["out_of_order", "alarms"]), *needs}))
        return replace(
            self,
            edges=edges,
            asked_edges=tuple(sorted({*_edges(told["out_of_order", "asks"]), *asked_needs} - {*edges})),
            needs=needs,
            asked_needs=asked_needs,
            required=tuple(rule.step for rule in told["missed", "alarms"]),
            asked_steps=tuple(rule.step for rule in told["missed", "asks"]),
            single=tuple(rule.step for rule in told["repeated", "alarms"]),
        )

    def without(self, is_off: Callable[[Rule], bool], reason: str) -> Rules:
        """The rules less some that a person does not want."""
        decisions = tuple(
            replace(one, verdict="off", reason=reason) if is_off(one.rule) else one for one in self.decisions
        )
        pairs = {
            name: tuple(edge for edge in getattr(self, name) if not is_off(Rule(kind, edge[1], edge[0])))
            for name, kind in _PAIRS.items()
        }
        steps = {
            name: tuple(step for step in getattr(self, name) if not is_off(Rule(kind, step)))
            for name, kind in _STEPS.items()
        }
        return replace(self, decisions=decisions, **pairs, **steps)  # type: ignore[arg-type]

    @property
    def watched(self) -> frozenset[Rule]:
        """What alarms or asks."""
        pairs = (Rule(kind, edge[1], edge[0]) for name, kind in _PAIRS.items() for edge in getattr(self, name))
        return frozenset((*pairs, *(Rule(kind, step) for name, kind in _STEPS.items() for step in getattr(self, name))))

    def usual(self, kind: str) -> frozenset[Rule]:
        """What the demonstrations suggest of a kind, whether it alarms or not."""
        told = {*self.watched, *(one.rule for one in self.decisions if one.verdict != "off")}
        return frozenset(rule for rule in told if rule.kind == kind)

    def predecessors(self, step: int) -> tuple[int, ...]:
        return self._indexed["edges", 1].get(step, ())

    def successors(self, step: int) -> tuple[int, ...]:
        return self._indexed["edges", 0].get(step, ())

    def needing(self, step: int) -> tuple[int, ...]:
        """The steps that need this one, which not everybody does."""
        return self._indexed["needs", 0].get(step, ())

    def needed_by(self, step: int, is_asked: bool = False) -> tuple[int, ...]:
        """The steps that must be done before this one is begun, with those that are only asked about if wanted.

        What must be done at all, and before this step where it is, is needed by it.
        """
        firsts, wanted = self._indexed["edges", 1].get(step, ()), {*self.required}
        if is_asked:
            firsts, wanted = (*firsts, *self._indexed["asked_edges", 1].get(step, ())), {*wanted, *self.asked_steps}
        asked = self._indexed["asked_needs", 1].get(step, ()) if is_asked else ()
        needed = (first for first in firsts if first in wanted and (first, step) not in self.relaxed_edges)
        return tuple(dict.fromkeys((*self._indexed["needs", 1].get(step, ()), *needed, *asked)))

    def fulfilled(self, done: Iterable[int]) -> set[int]:
        """The steps that are done, and those in whose place a given alternative is."""
        steps = set(done)
        return steps.union(*(pair for pair in self.alternatives if not steps.isdisjoint(pair)))

    def when_left_out(self, step: int) -> Verdict:
        """Whether leaving the step out alarms, leads to a question or to nothing."""
        if step in self.required or self.needing(step):
            return "alarms"
        is_asked = step in self.asked_steps or step in self._indexed["asked_needs", 0]
        return "asks" if is_asked else "silent"

    def required_but(self, done: Iterable[int]) -> tuple[int, ...]:
        """What must be done and is not."""
        found = self.fulfilled(done)
        return tuple(step for step in self.required if step not in found)

    @cached_property
    def alternatives(self) -> tuple[Edge, ...]:
        """Pairs of steps one of which is done, by given rules."""
        pairs = (one.steps for one in self.given if one.kind == "either" and one.holds)
        return tuple((first, other) for first, other in pairs)

    @cached_property
    def given_edges(self) -> frozenset[Edge]:
        """The pairs whose order was given, or follows from what was."""
        pairs = (one.steps for one in self.given if one.kind in ("before", "needs") and one.holds)
        return close_edges((first, then) for first, then in pairs)

    @cached_property
    def relaxed_edges(self) -> frozenset[Edge]:
        """The pairs of which nobody is told that the second was begun without the first."""
        pairs = (one.steps for one in self.given if one.kind in ("before", "needs") and not one.holds)
        return frozenset((first, then) for first, then in pairs)

    def is_relaxed(self, kind: GivenKind, steps: tuple[int, ...]) -> bool:
        return any(not one.holds and one.about == GivenRule(kind, steps).about for one in self.given)

    @cached_property
    def _indexed(self) -> Mapping[tuple[str, int], Mapping[int, tuple[int, ...]]]:
        """The other steps of each step's pairs, by kind of rule and the step's place in the pair."""
        found: dict[tuple[str, int], dict[int, tuple[int, ...]]] = {}
        for name in ("edges", "asked_edges", "needs", "asked_needs"):
            for place in (0, 1):
                others = found.setdefault((name, place), {})
                for edge in getattr(self, name):
                    others[edge[place]] = (*others.get(edge[place], ()), edge[1 - place])
        return found


_PAIRS: Mapping[str, RuleKind] = {
    "edges": "out_of_order",
    "asked_edges": "out_of_order",
    "needs": "needs",
    "asked_needs": "needs",
}
_STEPS: Mapping[str, RuleKind] = {"required": "missed", "asked_steps": "missed", "single": "repeated"}


def _edges(rules: Iterable[Rule]) -> tuple[Edge, ...]:
    return tuple((rule.before, rule.step) for rule in rules if rule.before is not None)


@dataclass(frozen=True, slots=True)
class Procedure:
    """A learnt task. `reasons` says in words why a step counts as optional or repeatable.

    >>> Procedure((KeyStep(1, "cut"),), demonstrations=2).name(1)
    'cut'
    """

    steps: tuple[KeyStep, ...]
    demonstrations: int
    orderings: tuple[Ordering, ...] = ()
    orders: Orders = field(default_factory=Orders)
    precedences: tuple[Precedence, ...] = ()
    statistics: tuple[StepStatistics, ...] = ()
    transitions: tuple[Transition, ...] = ()
    longest_pause_s: float = 0.0
    reasons: tuple[tuple[int, str], ...] = ()
    rules: Rules = Rules()
    learned: Rules | None = None
    """The rules as learnt, where given ones have changed them."""
    language: str = ""
    """The language in which a voice says the steps, as browsers write it; without it, the browser's own."""

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(step.number for step in self.steps)

    @property
    def graph(self) -> tuple[Precedence, ...]:
        """The order that was given and that the demonstrations keep, transitively reduced; rules trust part of it."""
        edges = without_circles([*sorted(self.rules.given_edges), *strict_edges(self.precedences)])
        return tuple(self.precedence(first, then) for first, then in reduce_edges(edges))

    def name(self, step: int) -> str:
        """The step's name; a number that is no key-step gives a word for it."""
        return next((known.name for known in self.steps if known.number == step), "unknown activity")

    def said(self, step: int) -> str:
        """What a voice says of the step."""
        return next((known.say for known in self.steps if known.number == step and known.say), self.name(step))

    def precedence(self, first: int, then: int) -> Precedence:
        found = (pair for pair in self.precedences if (pair.first, pair.then) == (first, then))
        return next(found, Precedence(first, then, 0, 0))

    def statistics_of(self, step: int) -> StepStatistics | None:
        return next((one for one in self.statistics if one.step == step), None)

    def usual_visits(self, step: int) -> int:
        """How often the step is done, where that is always equally often; else once."""
        found = self.statistics_of(step)
        return found.usual_visits if found else 1

    def fewest_visits(self, step: int) -> int:
        """How often the step was done at least, where it was done."""
        found = self.statistics_of(step)
        return found.counts[0] if found and found.counts else 1

    def usual_rank(self) -> Mapping[int, float]:
        """Where each step usually stands: its mean place over the orderings, 0 first; a step never seen stands last."""
        return _usual_rank(self.orderings, self.numbers)


@lru_cache(maxsize=64)
def _usual_rank(orderings: tuple[Ordering, ...], numbers: tuple[int, ...]) -> Mapping[int, float]:
    total, count = dict.fromkeys(numbers, 0), dict.fromkeys(numbers, 0)
    for ordering in orderings:
        for place, step in enumerate(ordering.steps):
            total[step] = total.get(step, 0) + place * ordering.count
            count[step] = count.get(step, 0) + ordering.count
    return MappingProxyType({step: total[step] / count[step] if count[step] else float(len(numbers)) for step in total})
