"""Judges each step of a finished sequence: what is told once per cause is here said of every step concerned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from guide.procedure.flags import lacking_in_variant, other_variant
from guide.procedure.model import Procedure
from guide.procedure.orders import Orders

Blame: TypeAlias = Literal["both", "early"]


def judge(procedure: Procedure, steps: Sequence[int], blame: Blame = "both") -> list[bool]:
    """Whether each step of the sequence is a mistake: out of order, of another variant, repeated, or unknown activity.

    A broken precedence is laid on the step done too early and, where both are blamed, on the one done too late; then on
    that alone where the sequence ends with it and the early one does not need it. A step that lacks what it needs is a
    mistake, unless the work went on without a step that everybody does: that is nobody's mistake, it is missing.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> task = Procedure((KeyStep(1, "cut"), KeyStep(2, "glue"), KeyStep(3, "dry")), 4, rules=Rules(edges=((1, 2),)))
    >>> judge(task, [2, 1, 3]), judge(task, [2, 1, 3], blame="early"), judge(task, [2, 7])
    ([True, True, False], [True, False, False], [False, True])
    """
    first = {step: index for index, step in reversed(list(enumerate(steps)))}
    last = len(steps) - 1
    wrong = {step for step in steps if step not in procedure.numbers and procedure.rules.is_unknown_flagged}
    for before, after in procedure.rules.edges:
        if before in first and after in first and first[after] < first[before]:
            wrong |= {after} if blame == "early" else {before} if first[before] == last else {after, before}
    left_out = set(procedure.rules.required_but(steps))
    lacking = {step: _lacking(procedure, steps[:index], step) for step, index in first.items()}
    stops_short = not left_out <= set[int]().union(*lacking.values())
    for step, index in first.items():
        # Where a sequence stops short, nobody can know that what only its last step needs was left out.
        earlier = set[int]().union(*(lacking[other] for other in first if other != step))
        excused = left_out & earlier if index == last and stops_short else left_out
        if lacking[step] - excused:
            wrong |= {step, *(_late(procedure.orders, step, steps[index:]) if blame == "both" else ())}
        if other_variant(procedure, steps[:index], step) is not None:
            wrong.add(step)
    return [
        step in wrong if index == first[step] else _is_again(procedure, steps, index, step in wrong)
        for index, step in enumerate(steps)
    ]


def _lacking(procedure: Procedure, done: Sequence[int], step: int) -> set[int]:
    """What the step needs and was not done before it."""
    variant = {one.step for one in lacking_in_variant(procedure, done, step)}
    return {*procedure.rules.needed_by(step), *variant} - procedure.rules.fulfilled(done)


def _late(orders: Orders, early: int, later: Sequence[int]) -> set[int]:
    """The steps that came first wherever both were done, and now come after one that was done too early."""
    known = [step for step in later if step in orders.column] if early in orders.column else []
    return {
        step
        for step in known
        if orders.first[orders.column[step], orders.column[early]]
        and not orders.first[orders.column[early], orders.column[step]]
    }


def _is_again(procedure: Procedure, steps: Sequence[int], index: int, is_redone: bool) -> bool:
    """A later turn at a step is a mistake where it must not be repeated, unless it puts a wrong one right."""
    step = steps[index]
    if step not in procedure.numbers:
        return procedure.rules.is_unknown_flagged
    turns = sum(other == step != before for before, other in zip((0, *steps[:index]), steps[:index], strict=False))
    is_usual = turns < procedure.usual_visits(step)
    return steps[index - 1] != step and step in procedure.rules.single and not is_redone and not is_usual
