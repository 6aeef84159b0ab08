"""From labels to all that the live side needs: segments, orderings and rules, prototypes, recogniser."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, KeyStep, Labels, Segment
from guide.label.after_effects import Traces
from guide.label.energy import LinkSettings
from guide.label.limits import Judgement
from guide.label.manner import SHORTEST_VISIT
from guide.label.recogniser import Recogniser
from guide.label.unaries import AppearanceUnaries
from guide.procedure.events import Event
from guide.procedure.learn import FALSE_ALARM_RATE, learn_procedure, loosened
from guide.procedure.model import Procedure, Rules
from guide.procedure.rule_selection import Seen, doubt, hush
from guide.task_model import PRIORS, course_of
from guide.teach.after_effects import Shown, learn_traces
from guide.teach.annotations import labels_to_segments
from guide.teach.calibrate import (
    LeftOut,
    calibrate_labels,
    calibrate_steps,
    feature_scale,
    heard_with,
    leave_out,
)
from guide.teach.demonstrations import Demonstrations
from guide.teach.likeness import with_likeness
from guide.teach.mend import mended
from guide.teach.progress import Tell, part_of, say_nothing
from guide.teach.rehearse import Taught, chosen, rehearse, see_freely, teach_judged
from guide.teach.strangers import Lessons, manners_of, strangers

SLIPPING_RATE = 3 * FALSE_ALARM_RATE  # departures a recording, where some of them are slips of the labels
MOMENT = 0.1  # of what a step usually takes: so short a stretch of a label is hardly the step
MOST_REHEARSED = 100_000  # frames: following so many live takes minutes, and more recordings silence no other rules
FEWEST_REHEARSED = 12  # recordings, however long they are


@dataclass(frozen=True, slots=True)
class Learned:
    """What the recordings taught: labels and segments in each, and what the live side needs of them."""

    labels: tuple[Labels, ...]
    segments: tuple[tuple[Segment, ...], ...]
    procedure: Procedure
    centres: NDArray[np.float64]  # (K, D), row n is key-step n + 1
    recogniser: Recogniser
    links: LinkSettings
    """How strongly labels hold together in time, fitted to the length of the recordings."""
    notes: tuple[str, ...]
    judgement: Judgement = field(default_factory=Judgement)
    """How sure is sure, how far is unknown and how unlike a step may look, from left-out demonstrations."""
    traces: Traces | None = None
    """What steps leave behind, where any of them leaves something that can be relied on."""


def describe(
    demonstrations: Demonstrations,
    labels: Sequence[Labels],
    steps: Sequence[KeyStep],
    notes: Sequence[str] = (),
    hold_slips: bool = False,
    given: Collection[int] = (),
    tell: Tell = say_nothing,
) -> Learned:
    """Everything that follows from labels, found or given; `tell` hears how much of the work is done, about.

    Labels that people did not give to every recording `hold_slips`, found or carried over from the `given` ones: they
    look like steps left out or done twice. Rules may then seem to be broken more often than they are; what the other
    recordings show to somebody without rules, and rehearsals, still decide what is alarmed.
    """
    segments = tuple(
        tuple(labels_to_segments(each, one.times, demonstrations.rate))
        for each, one in zip(labels, demonstrations.items, strict=True)
    )
    links = LinkSettings().capped(min(one.duration_s for one in demonstrations.items) / len(steps))
    taught = teach_judged(demonstrations, labels)
    tell(0.4)
    recogniser, judgement, left = _left_out(demonstrations, labels, taught, given)
    traces, left = _with_traces(demonstrations, recogniser, left)
    tell(0.82)
    visits, left = solid(segments), some(left)
    procedure = learn_procedure(visits, steps, SLIPPING_RATE if hold_slips else FALSE_ALARM_RATE)
    learned = procedure.rules
    if hold_slips:
        seen = _seen(procedure, demonstrations, recogniser, left, part_of(tell, 0.82, 0.86))
        procedure = learn_procedure(mended(visits, seen), steps, SLIPPING_RATE)
        if procedure.rules.edges != learned.edges:  # only orders that were looked for are seen to be broken
            seen = _seen(procedure, demonstrations, recogniser, left, say_nothing)
        learned = procedure.rules
        procedure = doubt(loosened(procedure), [*seen.values()])
    rehearsals = _rehearsals(procedure, demonstrations, recogniser, left, part_of(tell, 0.86, 0.91))
    trust = calibrate_steps(left, rehearsals)
    hushed = hush(procedure, [heard_with(each, trust) for each in rehearsals], FALSE_ALARM_RATE, hidden(left))
    return Learned(
        labels=tuple(labels),
        segments=segments,
        procedure=hushed,
        centres=_centres(demonstrations.embeddings, labels, steps),
        recogniser=recogniser,
        links=links,
        notes=(*notes, *_timid(learned, hushed.rules)),
        judgement=replace(
            with_likeness(judgement, left, rehearsals, recogniser.numbers),
            labels=calibrate_labels(recogniser, left, links, demonstrations.rate, demonstrations.settings.smoothing_s),
            steps=trust,
        ),
        traces=traces,
    )


def _left_out(
    demonstrations: Demonstrations, labels: Sequence[Labels], taught: Taught, given: Collection[int]
) -> tuple[Recogniser, Judgement, list[LeftOut]]:
    places = chosen(demonstrations)
    features, own = [demonstrations.features[place] for place in places], [labels[place] for place in places]
    scale, numbers = feature_scale(features), taught.recogniser.numbers
    strange = strangers(Lessons(features, own, taught.features, taught.labels), scale, numbers)
    times = [demonstrations.items[place].times for place in places]
    recogniser, judgement, left = leave_out(taught.recogniser, scale, taught.judged, strange, own, times)
    costs = taught.label_costs([one.costs for one in left])
    left = [
        replace(one, label_costs=each, is_given=place in given, place=place)
        for one, each, place in zip(left, costs, places, strict=True)
    ]
    return recogniser, replace(judgement, manners=manners_of(recogniser, features, own)), left


def _with_traces(
    demonstrations: Demonstrations, recogniser: Recogniser, left: Sequence[LeftOut]
) -> tuple[Traces | None, list[LeftOut]]:
    features = [demonstrations.features[place] for place in chosen(demonstrations)]
    shown = [Shown(each, one.labels, one.times) for each, one in zip(features, left, strict=True)]
    found = learn_traces(shown, demonstrations.settings, AppearanceUnaries(recogniser).steps)
    return found.traces, [replace(one, traces=each) for one, each in zip(left, found.left_out, strict=True)]


def some(left: Sequence[LeftOut]) -> list[LeftOut]:
    """The demonstrations that are followed as if they were live: all, or of very long ones some, spread over all."""
    frames = sum(len(one.times) for one in left)
    wanted = max(len(left) * MOST_REHEARSED // max(frames, 1), FEWEST_REHEARSED)
    count = min(wanted, len(left))
    return [left[number * len(left) // count] for number in range(count)]


def _rehearsals(
    procedure: Procedure,
    demonstrations: Demonstrations,
    recogniser: Recogniser,
    left: Sequence[LeftOut],
    tell: Tell,
) -> list[tuple[Event, ...]]:
    """What the tracker would hear of the demonstrations if they were followed live by what the others teach."""
    steps = AppearanceUnaries(recogniser).steps
    smoothing_s, rate = demonstrations.settings.smoothing_s, demonstrations.rate
    heard = []
    for count, one in enumerate(left, 1):
        heard.append(rehearse(one.costs, one.times, course_of(procedure, steps, smoothing_s, rate), one.traces))
        tell(count / len(left))
    return heard


def _seen(
    procedure: Procedure,
    demonstrations: Demonstrations,
    recogniser: Recogniser,
    left: Sequence[LeftOut],
    tell: Tell,
) -> dict[int, Seen]:
    """What is seen, by what the others teach and without any rule, in each demonstration that nobody labelled.

    Their labels have no say in it, also where they hold a step for a moment: carried ones put it there because it was
    done in those that they come from. They only tell which visits they lack.
    """
    free = replace(procedure, rules=Rules(edges=procedure.rules.edges))  # to be told of, not to be kept
    steps, priors = AppearanceUnaries(recogniser).steps, tuple(one for one in PRIORS if one not in ("order", "done"))
    smoothing_s, rate = demonstrations.settings.smoothing_s, demonstrations.rate
    found = {}
    for count, one in enumerate(left, 1):
        if not one.is_given:
            course = course_of(free, steps, smoothing_s, rate, priors)
            found[one.place] = see_freely(one.costs, one.times, course, one.traces, one.labels)
        tell(count / len(left))
    return found


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


def hidden(left: Sequence[LeftOut]) -> list[frozenset[int]]:
    """The steps that each demonstration holds for a moment only: nobody could see them there.

    >>> frames = [np.repeat([1, 2], count) for count in ([20, 20], [20, 20], [20, 1])]
    >>> hidden([LeftOut(np.arange(len(each)) / 2, each, np.ones((40, 2)), np.ones((40, 2))) for each in frames])
    [frozenset(), frozenset(), frozenset({2})]
    """
    counts = [dict(zip(*np.unique(one.labels, return_counts=True), strict=True)) for one in left]
    usual = {step: np.median([each[step] for each in counts if step in each]) for each in counts for step in each}
    return [frozenset(int(step) for step, count in each.items() if count < MOMENT * usual[step]) for each in counts]


def _timid(learned: Rules, kept: Rules) -> tuple[str, ...]:
    """A note where most of what was learned is not alarmed: whoever made the bundle can do something about it."""
    could, can = (len(rules.required) + len(rules.edges) + len(rules.single) for rules in (learned, kept))
    if 2 * can >= could:
        return ()
    return (
        f"{can} of {could} rules raise alarms, the others ask at most: demonstrations followed by what others teach do "
        "not bear them out, or would raise too many false alarms; more demonstrations or labels make it surer",
    )


def _longest(segments: Sequence[Segment]) -> dict[int, Segment]:
    """The longest segment of each step."""
    return {one.step: one for one in sorted(segments, key=lambda segment: segment.duration)}


def _centres(embeddings: Sequence[Features], labels: Sequence[Labels], steps: Sequence[KeyStep]) -> NDArray[np.float64]:
    """The prototype of each key-step: the mean embedding of its frames, or of all where it has none."""
    # A recording at a time: a long collection does not fit into memory twice over.
    sums, counts = np.zeros((len(steps), embeddings[0].shape[1])), np.zeros((len(steps), 1))
    for rows, numbers in zip(embeddings, labels, strict=True):
        for place, step in enumerate(steps):
            chosen = rows[numbers == step.number]
            sums[place] += chosen.sum(0, dtype=np.float64)
            counts[place] += len(chosen)
    everything = sum(rows.sum(0, dtype=np.float64) for rows in embeddings) / sum(len(rows) for rows in embeddings)
    return np.where(counts > 0, sums / np.maximum(counts, 1), everything)
