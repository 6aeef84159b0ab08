"""What can happen to a tracker: six kinds of news, each a plain value, to be stored and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from guide.domain import Belief, StepEvent


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A key-step (or unknown activity, -1) is being done; known `at`, begun at `start`."""

    step: int
    at: float
    confidence: float = 1.0
    start: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The step that was being done has ended; known `at`, over since `end`."""

    step: int
    at: float
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""

    at: float


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Looking back, this is what has probably been done; it takes the place of what was thought before."""

    at: float
    belief: Belief
    restart: int = 0
    """The number of the restart behind which it does not look; 0 is the beginning."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A person says that a step is done, or that it is not."""

    step: int
    at: float
    is_done: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The recording is over; without a time it ends with the last news.

    One that is cut off ends before the work does: what is lacking then may have been done since.
    """

    at: float | None = None
    is_cut_off: bool = False


Event: TypeAlias = Confirmed | Ended | Ticked | Reviewed | Marked | Finished


def news_of(event: StepEvent) -> Confirmed | Ended | None:
    """What a tracker hears of a step's event: nothing while it is not confirmed."""
    if event.state == "confirmed":
        return Confirmed(event.step, event.at, event.confidence, event.start)
    if event.state == "ended":
        return Ended(event.step, event.at, event.end)
    return None
