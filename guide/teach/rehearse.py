"""Teaches the live side what it needs of labelled demonstrations, and rehearses it on each of them.

A rehearsal is a demonstration as the live side would see it, by a discriminant fitted to the others. What rehearsals
show decides when a step counts as seen, and silences rules that would cry wolf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Segment, Times
from guide.label.directions import Reduction, narrowing, wide_reduction
from guide.label.elapsed import learn_elapsed
from guide.label.histories import Course
from guide.label.labeller import Labelled, Labeller
from guide.label.recogniser import Recogniser, RecogniserSettings, judge_left_out, judge_rows, learn_from_rows
from guide.label.steps import StepSettings, StepTrack
from guide.label.unaries import costs_of, label_costs_of
from guide.label.window import WindowSettings, WindowTimes
from guide.perceive.appearance import appearance
from guide.procedure.events import Event, Finished, Reviewed, Ticked, news_of
from guide.procedure.rule_selection import Seen
from guide.teach.demonstrations import Demonstration, Demonstrations
from guide.teach.reorder import elsewhere, shuffled, turned
from guide.teach.subsample import room_for

Floats = NDArray[np.float64]

MOST_FRAMES = 20_000  # of the demonstrations: more do not change the recogniser, and memory is finite
MOST_REORDERED = 20_000  # frames of a collection whose recordings are also taught in other orders
BENCHES = 3  # other moments of a recording whose bench its steps are also taught before: with one, chance decides
REORDERED_STRIDE = 2  # reordered recordings teach with every other frame
MOST_WIDE = 30_000  # frames of the usual number of features, whose memory neither may exceed where there are more
MOST_REHEARSALS = 40
# Labels say that a step was done, and a hard one is often missed, so it takes more than doubt to say it was not. That a
# step is come back to, or done before another, is what labels do not say: it counts once it is likelier than not.
LEAST_DONE = 0.02
LEAST_OTHERWISE = 0.5
LEAST_SURE = 0.9  # that a step was done which labels lack: what everybody does came out at 1, all else below .3


@dataclass(frozen=True, slots=True)
class _Showing:
    """A demonstration, or the same in another order or before another bench."""

    features: NDArray[Any]  # (T, 2P)
    labels: Labels
    times: Times


def teach_live(
    demonstrations: Demonstrations, labels: Sequence[Labels], seed: int = 0
) -> tuple[Recogniser, list[Floats]]:
    """The recogniser of the demonstrations' labels, found or given; and costs (T, C) of each, judged by the others."""
    taught = teach_judged(demonstrations, labels, seed)
    return taught.recogniser, [costs_of(taught.recogniser, distances) for distances in taught.judged]


class Taught(NamedTuple):
    """A recogniser, what it was taught, and each demonstration as one of the others judges it."""

    recogniser: Recogniser
    judged: list[Floats]  # squared distances (T, C)
    features: list[NDArray[Any]]  # (T, 2P) of each demonstration, in the orders and before the benches that taught
    labels: list[Labels]  # of these rows
    in_order: list[Floats]  # squared distances (T, C) for labels, which go by the demonstrations as they are

    def label_costs(self, costs: Sequence[Floats]) -> list[Floats]:
        """Costs (T, C + 1) for labels of each demonstration, judged by the others; unknown activity as in `costs`."""
        usual = self.recogniser.for_labels
        return [label_costs_of(usual, each, own) for each, own in zip(self.in_order, costs, strict=True)]


def teach_judged(demonstrations: Demonstrations, labels: Sequence[Labels], seed: int = 0) -> Taught:
    """The recogniser of the demonstrations' labels, with all that went into it."""
    groups = _showings(demonstrations, labels, np.random.default_rng(seed))
    features, shown = _taught(groups)
    recogniser, own = _learn(groups, features, shown)
    if len(groups[0]) == 1:
        return Taught(recogniser, own, features, shown, own)
    as_they_are = [group[:1] for group in groups]
    usual, in_order = _learn(as_they_are, *_taught(as_they_are))
    return Taught(replace(recogniser, in_order=replace(usual, elapsed=None)), own, features, shown, in_order)


def rehearse(costs: Floats, times: Times, course: Course, traces: Floats | None = None) -> tuple[Event, ...]:
    """What the tracker would hear of costs and traces (T, C), through the live delay, course and hysteresis.

    Nothing is cut: a tracker hears steps, which follow the course; labels are only for people to see.
    """
    labeller = Labeller(WindowTimes(WindowSettings()), StepTrack(StepSettings()), course)
    events: list[Event] = []
    for place, (row, at) in enumerate(zip(costs, times, strict=True)):
        events += _heard(labeller.push(row, float(at), traces=None if traces is None else traces[place]))
    labelled, ended = labeller.finish()
    last = [news for event in ended if (news := news_of(event)) is not None]
    return (*events, *_heard(labelled), *last, Finished(float(times[-1])))


def see_freely(
    costs: Floats, times: Times, course: Course, traces: Floats | None = None, labels: Labels | None = None
) -> Seen:
    """The steps in costs and traces (T, C) of a demonstration, and which of the orders of `course` it does not keep.

    The course should want no step, and no order be worth anything to it. A step counts as done unless it is all but
    sure that it was not: labels say it was. Visits to a step that the `labels` (T,) lack are told where it is all but
    sure that it was done.
    """
    for place, (row, at) in enumerate(zip(costs, times, strict=True)):
        course.push(row, float(at), None if traces is None else traces[place])
    course.end()
    model, steps = course.model, np.array(course.model.steps)
    swapped = [pair for pair in model.pairs if course.both(*pair) >= LEAST_OTHERWISE]
    done = course.done()
    lacking = set() if labels is None else {*steps[done >= LEAST_SURE].tolist()} - {*labels.tolist()}
    return Seen(
        frozenset(steps[done >= LEAST_DONE].tolist()),
        frozenset(steps[course.again() >= LEAST_OTHERWISE].tolist()),
        frozenset((model.steps[first], model.steps[then]) for first, then in swapped),
        tuple(Segment(*stretch) for stretch in course.likeliest() if stretch[0] in lacking),
    )


def _heard(labelled: Labelled) -> list[Event]:
    events: list[Event] = [] if labelled.belief is None else [Reviewed(labelled.belief.at, labelled.belief)]
    for label, changes in labelled.settled:
        events += [news for change in changes if (news := news_of(change)) is not None]
        events.append(Ticked(label.at))
    return events


def _showings(
    demonstrations: Demonstrations, labels: Sequence[Labels], rng: np.random.Generator
) -> list[list[_Showing]]:
    """Each demonstration as it is and, where there is not too much of it, in other orders and before another bench."""
    places = chosen(demonstrations)
    frames, width = sum(len(demonstrations.items[n]) for n in places), demonstrations.items[0].pooled.shape[1]
    most = min(MOST_REORDERED, room_for(MOST_WIDE, width))
    benches = BENCHES if 5 * frames <= 3 * most else 1  # so that what is made up takes no more memory
    groups = []
    for number in places:
        recording, own = demonstrations.items[number], labels[number]
        group = [_Showing(demonstrations.features[number], own, recording.times)]
        for pooled, shown in _other_ways(recording, own, demonstrations, benches, rng) if frames <= most else []:
            group.append(_Showing(appearance(pooled, recording.times, demonstrations.settings), shown, recording.times))
        groups.append(group)
    return groups


def _other_ways(
    recording: Demonstration, labels: Labels, demonstrations: Demonstrations, benches: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], Labels]]:
    """The demonstration turned round, shuffled, and with the bench as it looks at some other moments of it."""
    for order in (turned(labels, rng), shuffled(labels, rng)):
        yield np.asarray(recording.pooled[order], np.float32), labels[order]
    for _ in range(benches):
        yield elsewhere(recording.pooled, demonstrations.settings.memory_s * demonstrations.rate, rng), labels


def chosen(demonstrations: Demonstrations) -> Sequence[int]:
    """The demonstrations that are rehearsed: all, or some from beginning to end where there are many."""
    count, most = len(demonstrations.items), min(len(demonstrations.items), MOST_REHEARSALS)
    return [number * count // most for number in range(most)]


def rehearsed(demonstrations: Demonstrations) -> list[Times]:
    """The times of the demonstrations whose costs `teach_live` gives."""
    return [demonstrations.items[number].times for number in chosen(demonstrations)]


def _taught(groups: Sequence[Sequence[_Showing]]) -> tuple[list[NDArray[Any]], list[Labels]]:
    """The rows and labels that teach, one of each demonstration: its other orders belong to it."""
    stride = _stride(groups)
    strides = [stride, *[REORDERED_STRIDE * stride] * (len(groups[0]) - 1)]
    features = [_joined([each.features[::n] for each, n in zip(g, strides, strict=True)]) for g in groups]
    return features, [_joined([each.labels[::n] for each, n in zip(g, strides, strict=True)]) for g in groups]


def _learn(
    groups: Sequence[Sequence[_Showing]], features: Sequence[NDArray[Any]], labels: Sequence[Labels]
) -> tuple[Recogniser, list[Floats]]:
    """The recogniser that rows teach, and the squared distances (T, C) of each demonstration by one of the others."""
    settings, stride = RecogniserSettings(), _stride(groups)
    wide = wide_reduction(features, settings.components)
    if stride == 1:  # then all frames are few enough to be held at once
        seen = [np.concatenate([wide.many_rows(each.features) for each in group]) for group in groups]
        rows = [each[_places(group)] for each, group in zip(seen, groups, strict=True)]
    else:
        seen, rows = [], [wide.many_rows(each) for each in features]
    rotation = narrowing(rows, settings.components)
    reduction = wide.turned(rotation)
    real = [len(group[0].labels[::stride]) for group in groups]
    learned = learn_from_rows(reduction, [each @ rotation for each in rows], labels, settings, real)
    elapsed = learn_elapsed([g[0].labels for g in groups], [g[0].times for g in groups], learned.numbers)
    judged = _judge(reduction, learned.numbers, groups, [each @ rotation for each in seen])
    return replace(learned, elapsed=elapsed), judged


def _judge(
    reduction: Reduction, classes: Labels, groups: Sequence[Sequence[_Showing]], seen: Sequence[Floats]
) -> list[Floats]:
    """Each demonstration as it is, judged by all that the others show: the rows `seen`, where all are held."""
    labels = [_joined([each.labels for each in group]) for group in groups]
    shrinkage = RecogniserSettings().shrinkage
    if seen:
        own = [rows[: len(group[0].labels)] for rows, group in zip(seen, groups, strict=True)]
        return judge_rows(classes, seen, labels, shrinkage, own)
    features = [_joined([each.features for each in group]) for group in groups]
    judged = judge_left_out(reduction, classes, features, labels, shrinkage, _stride(groups))
    return [distances[: len(group[0].labels)] for distances, group in zip(judged, groups, strict=True)]


def _places(group: Sequence[_Showing]) -> NDArray[np.int64]:
    """The rows that teach, among those of all showings one after another, where every frame of the first does."""
    ends = np.cumsum([len(each.labels) for each in group]).tolist()
    strides = [1, *[REORDERED_STRIDE] * (len(group) - 1)]
    return np.concatenate([np.arange(*span) for span in zip([0, *ends[:-1]], ends, strides, strict=True)])


def _stride(groups: Sequence[Sequence[_Showing]]) -> int:
    """Every which frame of the demonstrations teaches."""
    most = min(MOST_FRAMES, room_for(MOST_WIDE, groups[0][0].features.shape[1] // 2))
    return max(1, -(-sum(len(group[0].labels) for group in groups) // most))


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The parts one after another; a single one as it is, since that of a long recording stays on disk."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
