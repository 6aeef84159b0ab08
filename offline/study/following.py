"""Following a recording as a live session does, without networks: what is said of it, and what is believed at the end.

What the trunk saw is given; embedder, prototypes, cut, histories and tracker are those of the live side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Belief, Features, Guidance, Labels, Times
from guide.label.after_effects import AfterEffectsWatch
from guide.label.labeller import Labeller
from guide.label.prototypes import Unaries
from guide.label.window import WindowSettings
from guide.perceive.appearance import SMOOTHED_STEPS
from guide.procedure.events import Event, Reviewed
from guide.procedure.model import Procedure
from guide.procedure.tracker import Tracker
from guide.task_model import PRIORS, Prior, histories_of, labeller_of
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned
from guide.teach.rehearse import rehearse
from offline.features import RecordingFeatures


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that recordings taught, and the recordings themselves, whose embedder sees others too."""

    learned: Learned
    demonstrations: Demonstrations

    @property
    def smoothing_s(self) -> float:
        return self.demonstrations.settings.smoothing_s

    @property
    def step_s(self) -> float:
        """How long an average step takes."""
        return self.smoothing_s / SMOOTHED_STEPS


@dataclass(frozen=True, slots=True)
class Sight:
    """What prototypes make of a recording: costs (T, C) of the labels in `steps` at the `times` (T,)."""

    steps: tuple[int, ...]
    costs: NDArray[np.float64]
    times: Times
    effects: NDArray[np.float64] | None = None  # (T, C), what the workplace says of each step having been done


@dataclass(frozen=True, slots=True)
class Followed:
    """What was said of a recording from beginning to end, and the last look back at it."""

    said: tuple[Guidance, ...]
    belief: Belief | None


def see(lesson: Lesson, recording: RecordingFeatures) -> Sight:
    """What a session would make of a recording, frame by frame."""
    learned = lesson.learned
    embedding = lesson.demonstrations.embed(recording.pooled, recording.times)
    unaries = Unaries(learned.prototypes)
    costs = [unaries.push(row, float(at)) for row, at in zip(embedding, recording.times, strict=True)]
    steps = learned.prototypes.steps
    return Sight(steps, np.stack(costs), recording.times, _effects(learned, steps, embedding, recording.times))


def _effects(learned: Learned, steps: tuple[int, ...], embedding: Features, times: Times) -> NDArray[np.float64] | None:
    if learned.effects is None:
        return None
    watch = AfterEffectsWatch(learned.effects, steps)
    return np.stack([watch.push(row, float(at)) for row, at in zip(embedding, times, strict=True)])


def live_labeller(lesson: Lesson, priors: tuple[Prior, ...] = PRIORS, lag_s: float = 2.0) -> Labeller:
    """The labelling stage of a session with what was learned."""
    learned, rate = lesson.learned, lesson.demonstrations.rate
    histories = histories_of(learned.procedure, learned.prototypes.steps, lesson.smoothing_s, rate, priors)
    return labeller_of(histories, learned.links, rate, learned.prototypes.clock, WindowSettings(lag_s=lag_s))


def live_labels(lesson: Lesson, sight: Sight, lag_s: float = 2.0) -> Labels:
    """The label of each frame (T,) as a session shows it, so many seconds later."""
    labelled, _ = live_labeller(lesson, lag_s=lag_s).follow(sight.costs, sight.times, sight.effects)
    return np.array([label.step for one in labelled for label, _ in one.settled])


def hear(sight: Sight, lesson: Lesson, priors: tuple[Prior, ...] = PRIORS) -> tuple[Event, ...]:
    """What the tracker of a session hears of a recording that is seen so, through cut and histories."""
    return rehearse(live_labeller(lesson, priors), sight.costs, sight.times, sight.effects)


def follow_heard(heard: tuple[Event, ...], procedure: Procedure) -> Followed:
    """What is said of what is heard."""
    tracker = Tracker(procedure)
    said = tuple(word for event in heard for word in tracker.apply(event))
    beliefs = [event.belief for event in heard if isinstance(event, Reviewed)]
    return Followed(said, beliefs[-1] if beliefs else None)


def follow_sight(sight: Sight, lesson: Lesson, priors: tuple[Prior, ...] = PRIORS) -> Followed:
    """What is said of a recording that is seen so, through cut, histories and tracker as live."""
    return follow_heard(hear(sight, lesson, priors), lesson.learned.procedure)
