"""Judges each step of a finished sequence: what is told once per cause is here said of every step concerned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from guide.procedure.model import Procedure
from guide.procedure.precedence import close_edges

Blame: TypeAlias = Literal["both", "early"]


def judge(procedure: Procedure, steps: Sequence[int], blame: Blame = "both") -> list[bool]:
    """Whether each step of the sequence is a mistake: out of order, repeated, or unknown activity.

    A broken precedence is laid on the step done too early and, where both are blamed, on the one done too late. A step
    that was never done is nobody's mistake here: that is `missing`.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> task = Procedure((KeyStep(1, "cut"), KeyStep(2, "glue")), 4, rules=Rules(edges=((1, 2),)))
    >>> judge(task, [2, 1]), judge(task, [2, 1], blame="early"), judge(task, [2, 7])
    ([True, True], [True, False], [False, True])
    """
    first = {step: index for index, step in reversed(list(enumerate(steps)))}
    wrong = {step for step in steps if step not in procedure.numbers and procedure.rules.is_unknown_flagged}
    for before, after in close_edges(procedure.rules.edges):
        if before in first and after in first and first[after] < first[before]:
            wrong |= {after, before} if blame == "both" else {after}
    return [
        step in wrong if index == first[step] else _is_again(procedure, steps, index, step in wrong)
        for index, step in enumerate(steps)
    ]


def _is_again(procedure: Procedure, steps: Sequence[int], index: int, is_redone: bool) -> bool:
    """A later turn at a step is a mistake where it must not be repeated, unless it puts a wrong one right."""
    step = steps[index]
    if step not in procedure.numbers:
        return procedure.rules.is_unknown_flagged
    return steps[index - 1] != step and step in procedure.rules.single and not is_redone


def missing(procedure: Procedure, steps: Sequence[int]) -> tuple[int, ...]:
    """The required steps that the sequence lacks."""
    return tuple(step for step in procedure.rules.required if step not in steps)
