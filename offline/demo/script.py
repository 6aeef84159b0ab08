"""What happens in a recording and when: steps in an allowed order, background between them, one fault at most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from guide.domain import BACKGROUND, UNKNOWN

from .orders import Fault, FaultKind, plant, sample_order
from .rounds import sample_rounds
from .task import TASK, TaskName

RATE_HZ = 10  # frames per second of every recording; all times lie on this grid
STEP_S = (3.0, 9.0)  # shortest and longest duration of a step: a factor of three
SHARE = (0.25, 0.37)  # background share drawn per recording, well inside 20-40 % after rounding
GAP_S = 0.4  # hands need this long from one thing to the next
IDLE_S = 3.5  # longer background is cut into pieces of about this length

Idle: TypeAlias = Literal["rest", "fiddle", "look", "cup", "tidy"]
Activity: TypeAlias = Literal["step", "rest", "fiddle", "look", "cup", "tidy", "phone", "hammer"]
IDLES: tuple[Idle, ...] = ("rest", "fiddle", "look", "cup", "tidy")
UNKNOWNS: tuple[Activity, ...] = ("phone", "hammer")


@dataclass(frozen=True, slots=True)
class Event:
    """One activity from `start` to `end` (seconds); `step` is 0 for background, -1 for unknown activity.

    >>> Event("step", 3, 1.0, 4.5).frames
    range(10, 45)
    """

    activity: Activity
    step: int
    start: float
    end: float

    @property
    def frames(self) -> range:
        return range(round(self.start * RATE_HZ), round(self.end * RATE_HZ))


@dataclass(frozen=True, slots=True)
class Script:
    """Events that follow one another without holes, and the fault planted in them.

    >>> script = sample_script(np.random.default_rng(1))
    >>> script.fault.kind, script.events[0].start
    ('none', 0.0)
    """

    events: tuple[Event, ...]
    fault: Fault = field(default_factory=Fault)

    @property
    def duration(self) -> float:
        return self.events[-1].end

    @property
    def steps(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.step > BACKGROUND)

    @property
    def unknowns(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.step == UNKNOWN)

    @property
    def order(self) -> tuple[int, ...]:
        return tuple(event.step for event in self.steps)


def sample_script(
    rng: np.random.Generator, fault: FaultKind = "none", scale: float = 1.0, task: TaskName = "box"
) -> Script:
    """A script with the given kind of fault; `scale` shortens every duration (for tests)."""
    order, planted = sample_rounds(fault, rng) if task == "rounds" else plant(sample_order(rng), fault, rng)
    pace = rng.uniform(0.9, 1.1)
    low, high = STEP_S
    durations = np.clip(pace * np.exp(rng.uniform(np.log(low * 0.95), np.log(high * 1.05), len(order))), low, high)
    share = rng.uniform(*SHARE)
    gaps = _sample_gaps(float(durations.sum()) * share / (1 - share), len(order) + 1, rng)
    return Script(tuple(_lay_out(order, durations * scale, gaps * scale, rng)), planted)


def _sample_gaps(total: float, count: int, rng: np.random.Generator) -> np.ndarray:
    spare = max(total - GAP_S * count, 0.0)
    return np.asarray(GAP_S + spare * rng.dirichlet(np.full(count, 0.7)))


def _lay_out(order: tuple[int, ...], durations: np.ndarray, gaps: np.ndarray, rng: np.random.Generator) -> list[Event]:
    events: list[Event] = []
    unknown = UNKNOWNS[int(rng.integers(len(UNKNOWNS)))]
    for step, duration, gap in zip((*order, None), (*durations, 0.0), gaps, strict=True):
        for piece in _split(float(gap), rng):
            _append(events, IDLES[int(rng.choice(len(IDLES), p=(0.34, 0.18, 0.24, 0.12, 0.12)))], BACKGROUND, piece)
        if step is not None:
            _append(events, "step" if step != UNKNOWN else unknown, step, float(duration))
    return events


def _split(gap: float, rng: np.random.Generator) -> np.ndarray:
    pieces = max(1, round(gap / IDLE_S))
    weights = rng.uniform(0.7, 1.3, pieces)
    return np.asarray(gap * weights / weights.sum())


def _append(events: list[Event], activity: Activity, step: int, duration: float) -> None:
    start = events[-1].end if events else 0.0
    ticks = round(start * RATE_HZ) + max(1, round(duration * RATE_HZ))
    events.append(Event(activity, step, start, ticks / RATE_HZ))


def label_of(step: int) -> str:
    """The label a step carries in CSV files and in truth.json."""
    return TASK.step(step).label
