"""The tasks of the drawn world: a small sensor box is assembled, or serviced in rounds. No seed changes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from guide.domain import KeyStep

MAT, OPEN, BOARD, SCREWS, BATTERY, CABLE, WIPE, CLOSE, LABEL = range(1, 10)


@dataclass(frozen=True, slots=True)
class Task:
    """Key-steps and the pairs (first, then) whose order is strict; all other pairs are free.

    >>> TASK.step(3).label
    '3 fit board'
    >>> (OPEN, SCREWS) in TASK.closure  # by way of "fit board"
    True
    """

    steps: tuple[KeyStep, ...]
    precedence: tuple[tuple[int, int], ...]

    def step(self, number: int) -> KeyStep:
        return next(step for step in self.steps if step.number == number)

    @property
    def required(self) -> tuple[int, ...]:
        return tuple(step.number for step in self.steps if not step.is_optional)

    @property
    def closure(self) -> frozenset[tuple[int, int]]:
        """Every ordered pair that follows from `precedence`."""
        pairs = set(self.precedence)
        while True:
            longer = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
            if not longer:
                return frozenset(pairs)
            pairs |= longer

    def successors(self, number: int) -> frozenset[int]:
        return frozenset(then for first, then in self.closure if first == number)

    def violations(self, order: tuple[int, ...]) -> list[tuple[int, int]]:
        """Strict pairs (first, then) of which `then` was begun before `first`, when both were done."""
        begun = {step: order.index(step) for step in set(order)}
        return sorted((a, b) for a, b in self.closure if a in begun and b in begun and begun[b] < begun[a])


TASK = Task(
    steps=(
        KeyStep(MAT, "lay mat"),
        KeyStep(OPEN, "open case"),
        KeyStep(BOARD, "fit board"),
        KeyStep(SCREWS, "drive screws"),
        KeyStep(BATTERY, "insert battery"),
        KeyStep(CABLE, "plug cable"),
        KeyStep(WIPE, "wipe dust", is_optional=True, is_repeatable=True),
        KeyStep(CLOSE, "close lid"),
        KeyStep(LABEL, "stick label", is_optional=True),
    ),
    precedence=(
        (MAT, OPEN),
        (MAT, LABEL),
        (OPEN, BOARD),
        (OPEN, BATTERY),
        (BOARD, SCREWS),
        (BATTERY, CABLE),
        (SCREWS, CLOSE),
        (CABLE, CLOSE),
    ),
)
ROUNDS = Task(  # the same numbers as in the other task: they stand for the same gestures
    steps=(
        KeyStep(OPEN, "open case"),
        KeyStep(BOARD, "fit board", is_repeatable=True),
        KeyStep(SCREWS, "drive screws", is_repeatable=True),
        KeyStep(BATTERY, "insert battery", is_repeatable=True),
        KeyStep(WIPE, "wipe dust", is_repeatable=True),
        KeyStep(CLOSE, "close lid"),
    ),
    precedence=((OPEN, BOARD), (OPEN, BATTERY), (OPEN, WIPE), (BOARD, SCREWS), (SCREWS, CLOSE), (BATTERY, CLOSE)),
)

TaskName: TypeAlias = Literal["box", "rounds"]
TASKS: Mapping[TaskName, Task] = {"box": TASK, "rounds": ROUNDS}
