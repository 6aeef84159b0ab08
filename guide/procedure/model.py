"""What was learnt about a task: steps, orders, counts, and the rules that may raise a flag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from guide.domain import KeyStep, Ordering, Precedence
from guide.procedure.precedence import Edge, reduce_edges, strict_edges


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


@dataclass(frozen=True, slots=True)
class Rules:
    """Which deviations may raise a flag, fixed on the demonstrations so that false alarms stay rare.

    `edges` and `required` may raise alerts; `asked_edges` and `asked_steps` rest on less evidence and may only raise a
    question. `single` holds the steps that must not be done twice. Limits are seconds per visit; no limit, no flag.

    >>> Rules(edges=((1, 2),), required=(1, 2)).predecessors(2)
    (1,)
    """

    edges: tuple[Edge, ...] = ()
    asked_edges: tuple[Edge, ...] = ()
    required: tuple[int, ...] = ()
    asked_steps: tuple[int, ...] = ()
    single: tuple[int, ...] = ()
    shortest_s: tuple[tuple[int, float], ...] = ()
    longest_s: tuple[tuple[int, float], ...] = ()
    patience_s: float | None = None
    is_unknown_flagged: bool = True
    false_alarms: float = 0.0
    """Leave-one-out false alarms per demonstration under these rules."""
    questions: float = 0.0
    """Leave-one-out questions per demonstration under these rules."""

    def predecessors(self, step: int) -> tuple[int, ...]:
        return tuple(first for first, then in self.edges if then == step)


@dataclass(frozen=True, slots=True)
class Procedure:
    """A learnt task. `reasons` says in words why a step counts as optional or repeatable.

    >>> Procedure((KeyStep(1, "cut"),), demonstrations=2).name(1)
    'cut'
    """

    steps: tuple[KeyStep, ...]
    demonstrations: int
    orderings: tuple[Ordering, ...] = ()
    precedences: tuple[Precedence, ...] = ()
    statistics: tuple[StepStatistics, ...] = ()
    transitions: tuple[Transition, ...] = ()
    longest_pause_s: float = 0.0
    reasons: tuple[tuple[int, str], ...] = ()
    rules: Rules = Rules()

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(step.number for step in self.steps)

    @property
    def graph(self) -> tuple[Precedence, ...]:
        """The order that the demonstrations keep, transitively reduced; the rules trust part of it for alerts."""
        return tuple(self.precedence(first, then) for first, then in reduce_edges(strict_edges(self.precedences)))

    def name(self, step: int) -> str:
        """The step's name; a number that is no key-step gives a word for it."""
        return next((known.name for known in self.steps if known.number == step), "unknown activity")

    def precedence(self, first: int, then: int) -> Precedence:
        found = (pair for pair in self.precedences if (pair.first, pair.then) == (first, then))
        return next(found, Precedence(first, then, 0, 0))

    def statistics_of(self, step: int) -> StepStatistics | None:
        return next((one for one in self.statistics if one.step == step), None)

    def usual_rank(self) -> Mapping[int, float]:
        """Where each step usually stands: its mean place over the orderings, 0 first; a step never seen stands last."""
        places: dict[int, list[float]] = {number: [] for number in self.numbers}
        for ordering in self.orderings:
            for place, step in enumerate(ordering.steps):
                places.setdefault(step, []).extend([float(place)] * ordering.count)
        last = float(len(self.steps))
        return {step: sum(found) / len(found) if found else last for step, found in places.items()}
