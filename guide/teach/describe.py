"""From labels to all that the live side needs: prototypes, after-effects, segments, orderings and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from guide.domain import KeyStep, Labels, Segment
from guide.label.after_effects import AfterEffects
from guide.label.clock_prior import ClockPrior
from guide.label.energy import LinkSettings
from guide.label.prototypes import Prototypes
from guide.procedure.events import Event
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.task_model import histories_of, labeller_of
from guide.teach.after_effects import Sample, learn_after_effects
from guide.teach.annotations import labels_to_segments
from guide.teach.demonstrations import Demonstrations
from guide.teach.progress import Tell, part_of, say_nothing
from guide.teach.prototypes import Judged, chosen, learn_prototypes
from guide.teach.rehearse import calibrate_steps, heard_with, rehearse
from guide.teach.reorder import SHORTEST_VISIT

Floats = NDArray[np.float64]

MOST_REHEARSED = 100_000  # frames: following so many live takes minutes, and more recordings silence no other rules
FEWEST_REHEARSED = 12  # recordings, however long they are


@dataclass(frozen=True, slots=True)
class Learned:
    """What the recordings taught: labels and segments in each, and what the live side needs of them."""

    labels: tuple[Labels, ...]
    segments: tuple[tuple[Segment, ...], ...]
    procedure: Procedure
    prototypes: Prototypes
    links: LinkSettings
    """How strongly labels hold together in time, fitted to the length of the recordings."""
    notes: tuple[str, ...]
    effects: AfterEffects | None = None
    """What steps leave behind, where any of them leaves something that can be relied on."""


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """The demonstrations that are followed as if they were live, and what is looked for in them."""

    judged: Sequence[Judged]
    effects: Sequence[Floats]  # (T, C) each
    steps: tuple[int, ...]
    links: LinkSettings
    clock: ClockPrior | None
    smoothing_s: float
    rate: float

    def under(self, procedure: Procedure, tell: Tell) -> list[tuple[Event, ...]]:
        """What the tracker would hear of each, by what the others teach."""
        heard = []
        for count, (one, effects) in enumerate(zip(self.judged, self.effects, strict=True), 1):
            histories = histories_of(procedure, self.steps, self.smoothing_s, self.rate)
            labeller = labeller_of(histories, self.links, self.rate, self.clock)
            heard.append(rehearse(labeller, one.costs, one.times, effects))
            tell(count / len(self.judged))
        return heard


def describe(
    demonstrations: Demonstrations,
    labels: Sequence[Labels],
    steps: Sequence[KeyStep],
    notes: Sequence[str] = (),
    is_carried: bool = False,
    tell: Tell = say_nothing,
) -> Learned:
    """Everything that follows from labels, found or given; `tell` hears how much of the work is done, about.

    Labels are `carried` where people did not give them to every recording: they were found, or carried over from a few.
    """
    segments = tuple(
        tuple(labels_to_segments(each, one.times, demonstrations.rate))
        for each, one in zip(labels, demonstrations.items, strict=True)
    )
    links = LinkSettings().capped(min(one.duration_s for one in demonstrations.items) / len(steps))
    taught = learn_prototypes(demonstrations, labels)
    tell(0.6)
    columns = taught.prototypes.steps
    samples = [_sample(demonstrations, one) for one in taught.judged]
    effects = learn_after_effects(samples, demonstrations.settings, columns)
    tell(0.7)
    places = some(taught.judged)
    rehearsed = _Rehearsed(
        [taught.judged[place] for place in places],
        [effects.left_out[place] for place in places],
        columns,
        links,
        taught.prototypes.clock,
        demonstrations.settings.smoothing_s,
        demonstrations.rate,
    )
    sequences = solid(segments)
    rehearsals = rehearsed.under(learn_procedure(sequences, steps), part_of(tell, 0.7, 0.95))
    trust = calibrate_steps(rehearsed.judged, rehearsals)
    heard = {one.place: heard_with(each, trust) for one, each in zip(rehearsed.judged, rehearsals, strict=True)}
    procedure = learn_procedure(sequences, steps, rehearsals=heard, is_carried=is_carried)
    return Learned(
        labels=tuple(labels),
        segments=segments,
        procedure=procedure,
        prototypes=replace(taught.prototypes, confidence=trust),
        links=links,
        notes=tuple(notes),
        effects=effects.effects,
    )


def _sample(demonstrations: Demonstrations, one: Judged) -> Sample:
    embedding = np.array(demonstrations.items[one.place].embedding)
    embedding[:, -1] = 0.0  # what lies outside all directions tells of the person, not of the workplace
    return Sample(embedding, one.labels, one.times)


def some(judged: Sequence[Judged]) -> list[int]:
    """The demonstrations that are followed as if they were live: all, or of very long ones some, spread over all."""
    frames = sum(len(one.times) for one in judged)
    wanted = max(len(judged) * MOST_REHEARSED // max(frames, 1), FEWEST_REHEARSED)
    return chosen(len(judged), wanted)


def solid(segments: Sequence[Sequence[Segment]]) -> list[tuple[Segment, ...]]:
    """The segments without those that are far shorter than the step usually takes: slips of the labels, not visits.

    The longest of a step in a recording stays however short it is: whoever is quick has done the step all the same.

    >>> long, slip = Segment(1, 0.0, 8.0), Segment(1, 20.0, 21.0)
    >>> solid([(long, slip), (long,), (slip,)]) == [(long,), (long,), (slip,)]
    True
    """
    longest = [_longest(each) for each in segments]
    lasted: dict[int, list[float]] = {}
    for best in longest:
        for step, segment in best.items():
            lasted.setdefault(step, []).append(segment.duration)
    least = {step: SHORTEST_VISIT * float(np.median(durations)) for step, durations in lasted.items()}
    return [
        tuple(one for one in each if one.duration >= least[one.step] or one == best[one.step])
        for each, best in zip(segments, longest, strict=True)
    ]


def _longest(segments: Sequence[Segment]) -> dict[int, Segment]:
    """The longest segment of each step."""
    return {one.step: one for one in sorted(segments, key=lambda segment: segment.duration)}
