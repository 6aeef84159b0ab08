"""How far long work is, told to who wants to know: a share from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Tell: TypeAlias = Callable[[float], None]


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
