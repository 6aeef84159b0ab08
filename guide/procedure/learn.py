"""Learns a procedure from the step sequences of its demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from guide.domain import BACKGROUND, Alert, KeyStep, Segment
from guide.errors import InputError
from guide.procedure.counts import longest_pause_s, step_statistics
from guide.procedure.model import Procedure, Rules, StepStatistics, Transition
from guide.procedure.orderings import ordering_of_segments, rank_orderings
from guide.procedure.orders import Orders
from guide.procedure.precedence import count_precedence, count_transitions
from guide.procedure.replay import standing_alerts
from guide.procedure.rule_selection import FALSE_ALARM_RATE, Rehearsals, choose_rules, silence_limits
from guide.procedure.tracker import Tracker
from guide.procedure.visits import first_order, visits_of


def learn_procedure(
    sequences: Sequence[Sequence[Segment]],
    steps: Sequence[KeyStep] | None = None,
    rate: float = FALSE_ALARM_RATE,
    are_true: bool = False,
    rehearsals: Rehearsals | None = None,
) -> Procedure:
    """The procedure behind some demonstrations, each given as its segments.

    Steps not given are named by number. A step given as optional or repeatable stays so; any other becomes so where the
    demonstrations leave it out or repeat it. The rules keep false alarms on clean recordings within `rate` each. Where
    steps `are_true`, and not recognised, rules of variants hold too, and a step met in one demonstration alone counts
    as unknown activity there, else it is passed over. Where there are `rehearsals` of demonstrations, by number, these
    tell the false alarms.

    >>> task = learn_procedure([[Segment(1, 0.0, 2.0), Segment(2, 2.0, 4.0)]] * 4)
    >>> task.rules.edges, task.rules.required
    (((1, 2),), (1, 2))
    """
    known = tuple(steps) if steps is not None else number_steps(sequences)
    _check(sequences, known)
    demonstrations = [visits_of(segments) for segments in sequences]

    def told(rules: Rules, number: int) -> list[Alert]:
        """What is told of a rehearsal by rules of the other demonstrations."""
        tracker = Tracker(describe([*sequences[:number], *sequences[number + 1 :]], known, rules))
        return standing_alerts(said for event in (rehearsals or {})[number] for said in tracker.apply(event))

    rules = choose_rules(demonstrations, known, rate, are_true, rehearsals, told)
    procedure = describe(sequences, known, rules)
    return silence_limits(procedure, rehearsals) if rehearsals else procedure


def describe(sequences: Sequence[Sequence[Segment]], steps: Sequence[KeyStep], rules: Rules) -> Procedure:
    """The orders, counts and steps of the demonstrations under given rules."""
    demonstrations = [visits_of(segments) for segments in sequences]
    statistics = step_statistics(demonstrations, [step.number for step in steps])
    pairs = list(zip(steps, statistics, strict=True))
    orders = Orders(tuple(first_order(visits) for visits in demonstrations))
    moves = count_transitions([visit.step for visit in visits] for visits in demonstrations)
    return Procedure(
        steps=tuple(_infer(step, found, len(sequences), rules) for step, found in pairs),
        demonstrations=len(sequences),
        orderings=rank_orderings(ordering_of_segments(segments) for segments in sequences),
        orders=orders,
        precedences=count_precedence(orders.demonstrations),
        statistics=statistics,
        transitions=tuple(Transition(first, then, count) for (first, then), count in sorted(moves.items())),
        longest_pause_s=longest_pause_s(demonstrations),
        reasons=tuple(
            (step.number, why) for step, found in pairs if (why := _reason(step, found, len(sequences), rules))
        ),
        rules=rules,
    )


def number_steps(sequences: Sequence[Sequence[Segment]]) -> tuple[KeyStep, ...]:
    """A key-step for each number that occurs, named after it."""
    numbers = {segment.step for segments in sequences for segment in segments if segment.step > BACKGROUND}
    return tuple(KeyStep(number, f"step {number}") for number in sorted(numbers))


def _is_left_out(found: StepStatistics, count: int, rules: Rules) -> bool:
    return found.present < count and found.step not in rules.required


def _is_done_again(found: StepStatistics, rules: Rules) -> bool:
    return found.repeated > 0 and found.step not in rules.single


def _infer(step: KeyStep, found: StepStatistics, count: int, rules: Rules) -> KeyStep:
    is_optional = step.is_optional or _is_left_out(found, count, rules)
    return replace(step, is_optional=is_optional, is_repeatable=step.is_repeatable or _is_done_again(found, rules))


def _reason(step: KeyStep, found: StepStatistics, count: int, rules: Rules) -> str:
    reasons = []
    if step.is_optional:
        reasons.append("optional: so given")
    elif _is_left_out(found, count, rules):
        reasons.append(f"optional: in {found.present} of {count} demonstrations")
    if step.is_repeatable:
        reasons.append("repeatable: so given")
    elif _is_done_again(found, rules):
        reasons.append(f"repeatable: more than once in {found.repeated} of {count} demonstrations")
    return "; ".join(reasons)


def _check(sequences: Sequence[Sequence[Segment]], steps: Sequence[KeyStep]) -> None:
    numbers = [step.number for step in steps]
    if len(set(numbers)) != len(numbers):
        raise InputError(f"key-steps need distinct numbers, got {numbers}: number each step once.")
    found = {segment.step for segments in sequences for segment in segments if segment.step > BACKGROUND}
    if strange := sorted(found - set(numbers)):
        raise InputError(
            f"the demonstrations hold steps {strange} that are not among {numbers}: add them to the steps."
        )
