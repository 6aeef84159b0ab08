"""Numbers in sentences."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count_of(1, "step"), count_of(2, "step")
    ('1 step', '2 steps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
