"""The values that travel between the packages: frozen, checked, without logic.

Times are seconds since the session or recording began. Step numbers are 1..K; 0 is background, -1 is unknown activity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

BACKGROUND = 0
UNKNOWN = -1
UNSURE_BELOW = 0.5  # a label or step is shown as unsure where it is wrong more often than right at this confidence

Image: TypeAlias = NDArray[np.uint8]  # (H, W, 3), RGB
Features: TypeAlias = NDArray[np.float32]  # (T, D)
Times: TypeAlias = NDArray[np.float64]  # (T,), seconds
Labels: TypeAlias = NDArray[np.int64]  # (T,), step numbers

StepState = Literal["started", "confirmed", "ended"]
AlertKind = Literal["missed", "out_of_order", "repeated", "unknown", "too_long", "too_short", "stalled"]
Severity = Literal["info", "warning", "alarm"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a source and the moment it was taken.

    >>> Frame(number=0, at=0.0, image=np.zeros((4, 6, 3), np.uint8)).image.shape
    (4, 6, 3)
    """

    number: int
    at: float
    image: Image

    def __post_init__(self) -> None:
        if self.image.dtype != np.uint8 or self.image.ndim != 3 or self.image.shape[2] != 3:
            raise ValueError(f"a frame needs (H, W, 3) uint8, got {self.image.shape} {self.image.dtype}")


@dataclass(frozen=True, slots=True)
class KeyStep:
    """A step of the task, numbered from 1.

    >>> KeyStep(3, "fit board").label
    '3 fit board'
    """

    number: int
    name: str
    is_optional: bool = False
    is_repeatable: bool = False
    say: str = ""
    """What a voice says in the place of the name."""

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"key-steps are numbered from 1, got {self.number}")

    @property
    def label(self) -> str:
        return f"{self.number} {self.name}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of time in which one key-step (or unknown activity) was done.

    >>> Segment(step=2, start=1.0, end=3.5).duration
    2.5
    """

    step: int
    start: float
    end: float

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"a segment ends after it starts, got {self.start} to {self.end}")

    @property
    def duration(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order in which key-steps were done, and in how many demonstrations."""

    steps: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Precedence:
    """`first` came before `then` in `support` of the `total` demonstrations that hold both."""

    first: int
    then: int
    support: int
    total: int


@dataclass(frozen=True, slots=True)
class SettledLabel:
    """The label released for one moment, with its confidence in [0, 1]."""

    at: float
    step: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Belief:
    """What has probably been done until `at`, looking back from there; it may differ from what was thought before.

    >>> Belief(9.0, (Segment(2, 1.0, 9.0),), lacking=((1, 0.9),)).chance_lacking(1)
    0.9
    """

    at: float
    visits: tuple[Segment, ...] = ()
    """The likeliest course: one segment a visit, the last one perhaps still going on."""
    lacking: tuple[tuple[int, float], ...] = ()
    """How probably each step has not been done."""
    again: tuple[tuple[int, float], ...] = ()
    """How probably a step was done more often than it comes: was come back to, where it comes once."""
    swapped: tuple[tuple[tuple[int, int], float], ...] = ()
    """How probably the second of two steps was begun before the first, and the first after that."""
    since: float = -math.inf
    """Nothing is said of what was done until then: the course was begun anew."""
    fewer: tuple[tuple[int, float], ...] = ()
    """How probably a step was done, but less often than it comes."""
    certainty: float = 1.0
    """How much a frame belongs to its likeliest label, on average until now."""

    def chance_fewer(self, step: int) -> float:
        return dict(self.fewer).get(step, 0.0)

    def chance_lacking(self, step: int) -> float:
        return dict(self.lacking).get(step, 1.0)

    def chance_again(self, step: int) -> float:
        return dict(self.again).get(step, 0.0)

    def chance_swapped(self, first: int, then: int) -> float:
        return dict(self.swapped).get((first, then), 0.0)


@dataclass(frozen=True, slots=True)
class StepEvent:
    """A key-step was started, confirmed or ended; `at` is when that became known."""

    at: float
    step: int
    state: StepState
    start: float
    end: float | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Alert:
    """Something went otherwise than in the demonstrations, with the evidence in plain words."""

    id: int
    at: float
    kind: AlertKind
    step: int
    before: int | None
    severity: Severity
    evidence: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """An earlier alert no longer stands; withdrawn means it should not have been raised."""

    id: int
    at: float
    is_withdrawn: bool


@dataclass(frozen=True, slots=True)
class Question:
    """Something the guide asks the operator instead of alarming."""

    id: int
    at: float
    step: int
    text: str


Guidance: TypeAlias = Alert | Resolution | Question


@dataclass(frozen=True, slots=True)
class Update:
    """What one released label changed: the label, the step events and the guidance that follow from it."""

    label: SettledLabel
    events: tuple[StepEvent, ...] = ()
    guidance: tuple[Guidance, ...] = field(default=())
