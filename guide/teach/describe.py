"""From labels to all that the live side needs: prototypes, after-effects, segments, orderings and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from guide.domain import KeyStep, Labels, Segment
from guide.label.after_effects import AfterEffects
from guide.label.energy import LinkSettings
from guide.label.prototypes import Prototypes
from guide.procedure.events import Event
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.task_model import histories_of, labeller_of
from guide.teach.after_effects import Sample, learn_after_effects
from guide.teach.demonstrations import Demonstrations
from guide.teach.progress import Map, Tell, part_of, say_nothing
from guide.teach.prototypes import Judged, chosen, learn_prototypes
from guide.teach.rehearse import calibrate_steps, rehearse

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
    notes: tuple[str, ...] = ()
    effects: AfterEffects | None = None
    """What steps leave behind, where any of them leaves something that can be relied on."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """What labels teach of how steps look, and some demonstrations as the others see them."""

    labels: tuple[Labels, ...]
    segments: tuple[tuple[Segment, ...], ...]
    prototypes: Prototypes
    effects: AfterEffects | None
    judged: Sequence[Judged]
    """The demonstrations that are followed as if they were live."""
    looks: Sequence[Floats]
    """What after-effects (T, C) say of each of these."""
    links: LinkSettings
    smoothing_s: float
    rate: float


def describe(
    demonstrations: Demonstrations,
    labels: Sequence[Labels],
    steps: Sequence[KeyStep],
    notes: Sequence[str] = (),
    tell: Tell = say_nothing,
    each: Map = map,
) -> Learned:
    """Everything that follows from labels, found or given; `tell` hears how much of the work is done, about.

    Demonstrations are rehearsed by `each`, which may do so elsewhere.
    """
    seen = learn_recognition(demonstrations, labels, steps, tell)
    rehearsals = rehearse_all(seen, steps, part_of(tell, 0.7, 0.95), each)
    return replace(learn_rules(seen, rehearsals, steps), notes=tuple(notes))


def learn_recognition(
    demonstrations: Demonstrations, labels: Sequence[Labels], steps: Sequence[KeyStep], tell: Tell = say_nothing
) -> Recognition:
    """What labels (T,) of all demonstrations teach of how steps look."""
    links = LinkSettings().capped(min(one.duration_s for one in demonstrations.items) / len(steps))
    taught = learn_prototypes(demonstrations, labels)
    tell(0.6)
    samples = [_sample(demonstrations, one) for one in taught.judged]
    effects = learn_after_effects(samples, demonstrations.settings, taught.prototypes.steps)
    tell(0.7)
    places = some(taught.judged)
    return Recognition(
        tuple(labels),
        demonstrations.segments(labels),
        taught.prototypes,
        effects.effects,
        [taught.judged[place] for place in places],
        [effects.left_out[place] for place in places],
        links,
        demonstrations.settings.smoothing_s,
        demonstrations.rate,
    )


def rehearse_all(
    seen: Recognition, steps: Sequence[KeyStep], tell: Tell = say_nothing, each: Map = map
) -> list[tuple[Event, ...]]:
    """What the tracker would hear of each demonstration, by what the others teach."""
    procedure, heard = learn_procedure(seen.segments, steps), []
    # Without the demonstrations: each may be followed elsewhere.
    known = replace(seen, labels=(), segments=(), judged=(), looks=())
    for events in each(partial(_rehearse, known, procedure), [*zip(seen.judged, seen.looks, strict=True)]):
        heard.append(events)
        tell(len(heard) / len(seen.judged))
    return heard


def _rehearse(known: Recognition, procedure: Procedure, one: tuple[Judged, Floats]) -> tuple[Event, ...]:
    judged, looks = one
    histories = histories_of(procedure, known.prototypes.steps, known.smoothing_s, known.rate)
    labeller = labeller_of(histories, known.links, known.rate, known.prototypes.clock)
    return rehearse(labeller, judged.costs, judged.times, looks)


def learn_rules(seen: Recognition, rehearsals: Sequence[tuple[Event, ...]], steps: Sequence[KeyStep]) -> Learned:
    """The procedure, and how sure a step must look, by what rehearsals showed."""
    heard = {one.place: each for one, each in zip(seen.judged, rehearsals, strict=True)}
    return Learned(
        labels=seen.labels,
        segments=seen.segments,
        procedure=learn_procedure(seen.segments, steps, rehearsals=heard),
        prototypes=replace(seen.prototypes, confidence=calibrate_steps(seen.judged, rehearsals)),
        links=seen.links,
        effects=seen.effects,
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
