"""Long work: who does its parts, and how far it is, a share from 0 to 1 told to who wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Tell: TypeAlias = Callable[[float], None]


class Map(Protocol):
    """Does the same to each of some things, perhaps side by side: results in their order, as of the builtin `map`."""

    def __call__(self, do: Callable[[Item], Result], items: Sequence[Item], /) -> Iterable[Result]: ...


def say_nothing(share: float) -> None:
    """For who does not want to know."""


def part_of(tell: Tell, low: float, high: float) -> Tell:
    """Tells of a part of the work as of that stretch of the whole.

    >>> heard: list[float] = []
    >>> part_of(heard.append, 0.5, 0.75)(1.0)
    >>> heard
    [0.75]
    """
    return lambda share: tell(low + (high - low) * share)
