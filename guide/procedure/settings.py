"""How a tracker speaks: choices of ours, none of them learnt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrackerSettings:
    """What an operator may tune about the flags.

    >>> TrackerSettings().most_questions
    3
    """

    alert_chance: float = 0.6
    """How probable it must be that a rule was broken before that is told."""
    ask_margin: float = 0.2
    """What is less probable than what is told, by no more than this, is asked about, and what was told stands."""
    most_questions: int = 3
    """Questions asked in one session; more would be a quiz."""
    is_by_hand: bool = False
    """Nobody looks: a step that a person marks as done was done at that moment, and is judged then."""
