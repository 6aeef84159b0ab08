"""Numbers and reasons as sentences."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count_of(1, "step"), count_of(2, "step")
    ('1 step', '2 steps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentence(words: str) -> str:
    """Words that stand in the midst of a line elsewhere, as a sentence of their own.

    >>> sentence("not seen by the end")
    'Not seen by the end'
    """
    return words[:1].upper() + words[1:]
