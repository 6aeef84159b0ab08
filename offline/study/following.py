"""Following a recording as a live session does, without networks: what is said of it, and what is believed at the end.

What trunk and embedder saw is given; recogniser, judgement, window, course and tracker are those of the live side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Belief, Features, Guidance, Times
from guide.label.after_effects import Trail
from guide.label.confidence import Calibration
from guide.label.limits import Judge
from guide.label.unaries import AppearanceUnaries, BothUnaries, EmbeddingUnaries, Unaries
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.events import Reviewed
from guide.procedure.tracker import Tracker
from guide.settings import RecogniserKind
from guide.task_model import PRIORS, Prior, course_of
from guide.teach.calibrate import heard_with
from guide.teach.describe import Learned
from guide.teach.rehearse import rehearse
from offline.config import PRESETS


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that recordings taught, how far back their features look, and how many frames a second they had."""

    learned: Learned
    settings: AppearanceSettings
    rate: float
    fuzzifier: float = PRESETS["default"].fuzzifier


@dataclass(frozen=True, slots=True)
class Sight:
    """What a recogniser makes of a recording: costs (T, C) of the labels in `steps` at the `times` (T,).

    >>> Sight((1, 2), np.zeros((3, 2)), np.arange(3.0)).costs.shape
    (3, 2)
    """

    steps: tuple[int, ...]
    costs: NDArray[np.float64]
    times: Times
    trust: Calibration = field(default_factory=Calibration)
    """Of the confidence of steps."""
    traces: NDArray[np.float64] | None = None  # (T, C), what the bench says of each step having been done


@dataclass(frozen=True, slots=True)
class Followed:
    """What was said of a recording from beginning to end, and the last look back at it.

    >>> Followed((), Belief(9.0)).belief.at
    9.0
    """

    said: tuple[Guidance, ...]
    belief: Belief | None


def unaries_of(lesson: Lesson, recogniser: RecogniserKind) -> Unaries:
    """The recogniser that was asked for, as a bundle of what was learned would give it."""
    learned = lesson.learned
    appearance = AppearanceUnaries(learned.recogniser)
    if recogniser == "appearance":
        return appearance
    embedding = EmbeddingUnaries(learned.centres, lesson.fuzzifier, learned.procedure.numbers)
    return embedding if recogniser == "embedding" else BothUnaries(embedding, appearance)


def costs_by(unaries: Unaries, appearance: Features, embedding: Features) -> NDArray[np.float64]:
    """Costs (T, C) of order-free features (T, 2P) and embeddings (T, D), each frame by itself."""
    return np.stack([unaries.costs(seen, own) for seen, own in zip(appearance, embedding, strict=True)])


def see(lesson: Lesson, recogniser: RecogniserKind, appearance: Features, embedding: Features, times: Times) -> Sight:
    """What a session would make of order-free features (T, 2P) and embeddings (T, D), unknown activity told apart."""
    unaries, learned = unaries_of(lesson, recogniser), lesson.learned
    costs = costs_by(unaries, appearance, embedding)
    if recogniser == "embedding":  # it knows nothing of what is unknown
        return Sight(unaries.steps, costs, times)
    judge = Judge(learned.recogniser, learned.judgement, lesson.settings.memory_s)
    judged = [judge.push(seen, row, float(at)) for seen, row, at in zip(appearance, costs, times, strict=True)]
    trust = learned.judgement.steps if recogniser == "appearance" else Calibration()
    return Sight(unaries.steps, np.stack(judged), times, trust, _traces(learned, unaries.steps, appearance, times))


def _traces(learned: Learned, steps: tuple[int, ...], appearance: Features, times: Times) -> NDArray[np.float64] | None:
    if learned.traces is None:
        return None
    trail = Trail(learned.traces, steps)
    return np.stack([trail.push(seen, float(at)) for seen, at in zip(appearance, times, strict=True)])


def follow_sight(sight: Sight, lesson: Lesson, priors: tuple[Prior, ...] = PRIORS) -> Followed:
    """What is said of a recording that is seen so, through window, course and tracker as live."""
    learned = lesson.learned
    course = course_of(learned.procedure, sight.steps, lesson.settings.smoothing_s, lesson.rate, priors)
    heard = rehearse(sight.costs, sight.times, course, sight.traces)
    events = heard_with(heard, sight.trust)
    tracker = Tracker(learned.procedure)
    said = tuple(word for event in events for word in tracker.apply(event))
    beliefs = [event.belief for event in events if isinstance(event, Reviewed)]
    return Followed(said, beliefs[-1] if beliefs else None)
