"""What the Review page shows, as plain values: steps with pictures, pairs of the order, a trial, versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

from guide.bundle import Bundle
from guide.domain import Alert, KeyStep, Segment, Times
from guide.errors import InputError
from guide.ingest.files import open_video
from guide.procedure.explain import Explained, explain
from guide.procedure.given_rules import with_given
from guide.procedure.learn import describe
from guide.procedure.model import GivenRule, Procedure, Rules
from guide.procedure.precedence import Edge, reduce_edges, strict_edges
from guide.procedure.reading import from_plain
from guide.procedure.wording import TITLES
from guide.record.timeline import colour
from guide.teach.annotations import labels_to_segments, segments_to_labels
from guide.teach.demonstrations import Demonstrations
from guide.teach.edited import Review, Reviewed, segments_of, vanishing
from guide.teach.edits import MarkKind, Split, rule_words
from guide.teach.moments import Moment, choose_moments, to_jpeg
from guide.teach.relearn import is_quick
from guide.teach.stills import Still, lacking, named_stills, read_stills, relabelled
from guide.teach.trial import Trial
from guide.teach.videos import picture_at
from guide.ui.state.bundles import GRAPH_LOOK

STEPS, LABEL = "Steps", "Label a recording"  # parts of the page that others lead to
USUAL_FRAME_S = 0.04


@dataclass(frozen=True, slots=True)
class StepPicture:
    """A still of a step (JPEG), whose it is, and when it was.

    >>> StepPicture(b"", Moment(1, 0, 75.0), "01").caption
    'recording 01, 1:15'
    """

    data: bytes
    moment: Moment
    recording: str

    @property
    def caption(self) -> str:
        return f"recording {self.recording}, {clock(self.moment.at)}"


@dataclass(frozen=True, slots=True)
class StepCard:
    """A step as the page shows it; `is_optional` and `is_repeatable` are what a person set."""

    number: int
    name: str
    colour: str
    pictures: tuple[StepPicture, ...]
    seen: str
    learned: str
    """What the demonstrations say of it besides, in words."""
    is_optional: bool
    is_repeatable: bool
    by_demonstrations: frozenset[MarkKind] = frozenset()
    """What the demonstrations alone make of it: nobody can take that away by hand."""
    say: str = ""
    """What the voice says of it, where that is not its name."""

    @property
    def label(self) -> str:
        return label(KeyStep(self.number, self.name))

    @property
    def marks(self) -> tuple[str, ...]:
        """What a person set, in the words of the page of learned procedures."""
        return tuple(
            word for word, holds in (("optional", self.is_optional), ("repeatable", self.is_repeatable)) if holds
        )


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two steps in the order that the demonstrations keep, and whether that is watched."""

    first: int
    then: int
    first_label: str
    then_label: str
    support: int
    total: int
    when_broken: str
    is_watched: bool


@dataclass(frozen=True, slots=True)
class TrialView:
    """What a version made of a recording: its steps as the track draws them, a line for each thing it said."""

    steps: tuple[dict[str, Any], ...]
    truth: tuple[dict[str, Any], ...]
    lasted_s: float
    said: tuple[tuple[str, str], ...]  # severity, words
    summary: str


def frame_s(video: Path | None) -> float:
    """How long a frame of a video lasts, in seconds; what is usual where nobody can tell.

    >>> frame_s(None)
    0.04
    """
    try:
        with open_video(str(video)) as container:
            return float(1 / (container.streams.video[0].average_rate or 25))
    except (av.FFmpegError, OSError, IndexError):
        return USUAL_FRAME_S


def label(step: KeyStep) -> str:
    """Number and name, or the name alone where it is the number in words.

    >>> label(KeyStep(3, "step 3")), label(KeyStep(3, "fit board"))
    ('step 3', '3 fit board')
    """
    return step.name if step.name == f"step {step.number}" else step.label


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(75.4)
    '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def pictures(bundle: Bundle, review: Review, videos: Mapping[str, Path]) -> tuple[Still, ...]:
    """The bundle's pictures under the steps as the edits leave them; new ones where a step has few and a video is."""
    found = read_stills(bundle, review.demonstrations, review.start.labels)
    kept = relabelled(found, review.demonstrations, review.result.labels)
    return tuple(named_stills([*kept, *_more(kept, review, videos)]).values())


def _more(kept: Sequence[Still], review: Review, videos: Mapping[str, Path]) -> Iterator[Still]:
    for moment in lacking(kept, choose_moments(segments_of(review.result, review.demonstrations))):
        video = videos.get(review.demonstrations.items[moment.recording].id)
        if video is not None and (image := picture_at(video, moment.at)) is not None:
            yield Still(moment, to_jpeg(image))


def cards(review: Review, stills: Iterable[Still]) -> tuple[StepCard, ...]:
    """A card for each step as the edits leave it; a part that was split off stands beside the other."""
    procedure, stills = counted(review), tuple(stills)
    inferred = {step.number: step for step in procedure.steps}
    return tuple(_card(step, stills, review, procedure, inferred[step.number]) for step in beside(review))


def beside(review: Review) -> tuple[KeyStep, ...]:
    """The steps by number, but those that were split off after what they were split from."""
    order = [step.number for step in review.start.steps]
    for edit, result in zip(review.edits, review.results, strict=True):
        new = [step.number for step in result.steps if step.number not in order]
        place = order.index(edit.step) + 1 if isinstance(edit, Split) else len(order)
        order[place:place] = new
    return tuple(sorted(review.result.steps, key=lambda step: order.index(step.number)))


def counted(review: Review) -> Procedure:
    """Orders and counts of the reviewed labels, without rules: those are chosen when it is taught."""
    return describe(segments_of(review.result, review.demonstrations), review.result.steps, Rules())


def _card(step: KeyStep, stills: Iterable[Still], review: Review, procedure: Procedure, inferred: KeyStep) -> StepCard:
    found = procedure.statistics_of(step.number)
    seen = f"in {0 if found is None else found.present} of {procedure.demonstrations} recordings"
    if found is not None and found.present:
        seen += f", about {found.durations_s[2]:.0f} s"
    by_demonstrations: dict[MarkKind, str] = {}
    if inferred.is_optional and not step.is_optional:
        by_demonstrations["optional"] = "some leave it out"
    if inferred.is_repeatable and not step.is_repeatable:
        by_demonstrations["repeatable"] = "some do it again"
    ids = [one.id for one in review.demonstrations.items]
    shown = [StepPicture(s.picture, s.moment, ids[s.moment.recording]) for s in stills if s.moment.step == step.number]
    return StepCard(
        step.number,
        step.name,
        colour(step.number),
        tuple(shown),
        seen,
        ", ".join(by_demonstrations.values()),
        step.is_optional,
        step.is_repeatable,
        frozenset(by_demonstrations),
        step.say,
    )


def pairs(bundle: Bundle, review: Review) -> tuple[PairRow, ...]:
    """Every pair that the demonstrations keep in order or that a rule watches, and those switched off."""
    live = from_plain(bundle.json("procedure.json")) if is_quick(review.edits) else None
    procedure, result = counted(review), review.result
    rules = (Rules() if live is None else live.learned or live.rules, with_given(live or procedure, result.given).rules)
    chosen = {*strict_edges(procedure.precedences), *relaxed(result)}
    chosen |= {edge for each in rules for part in (each.edges, each.asked_edges) for edge in part}
    return tuple(_pair(edge, procedure, result, rules[1], live is not None) for edge in sorted(chosen))


def reasons(bundle: Bundle, review: Review) -> tuple[Explained, ...]:
    """Why each rule alarms, asks or is silent, as it was last taught; none while labels wait to be taught."""
    return explain(from_plain(bundle.json("procedure.json"))) if is_quick(review.edits) else ()


def relaxed(result: Reviewed) -> set[Edge]:
    """The pairs whose order a person told the guide not to watch."""
    pairs = (one.steps for one in result.given if one.kind == "before" and not one.holds)
    return {(first, then) for first, then in pairs}


def _pair(edge: Edge, procedure: Procedure, result: Reviewed, rules: Rules, is_learned: bool) -> PairRow:
    counts = procedure.precedence(*edge)
    first, then = (label(result.step(number)) for number in edge)
    is_watched = edge not in relaxed(result)
    if edge in rules.given_edges:
        when_broken = "alert (given)"
    elif not is_watched:
        when_broken = "nothing (relaxed)"
    elif not is_learned:
        when_broken = "chosen when taught"
    else:
        when_broken = "alert" if edge in rules.edges else "question" if edge in rules.asked_edges else "nothing"
    return PairRow(*edge, first, then, counts.support, counts.total, when_broken, is_watched)


def given_rows(review: Review) -> tuple[tuple[str, GivenRule], ...]:
    """The rules that were given, in words."""
    result = review.result
    stances = {True: "", False: " (relaxed)"}
    return tuple((f"{rule_words(one, result.names)}{stances[one.holds]}", one) for one in result.given)


def graph(review: Review) -> str:
    """The precedence graph in Graphviz's language: a box a step, relaxed pairs dashed, given ones bold."""
    result = review.result
    procedure, off = with_given(counted(review), result.given), relaxed(result)
    given = set(reduce_edges(procedure.rules.given_edges))
    drawn = {(one.first, one.then): one for one in procedure.graph}
    drawn |= {edge: procedure.precedence(*edge) for edge in off}
    nodes = [f"{step.number} [label={_quoted(label(step))}];" for step in result.steps]
    edges = [
        f"{first} -> {then} [label={_quoted('given' if edge in given else f'{one.support} of {one.total}')}"
        f"{_style(edge in off - given, edge in given)}];"
        for edge, one in sorted(drawn.items())
        for first, then in [edge]
    ]
    return "\n".join(["digraph order {", *GRAPH_LOOK, *nodes, *edges, "}"])


def _style(is_off: bool, is_given: bool) -> str:
    if is_off:
        return ', style=dashed, color="#b9c4c7", constraint=false'
    return ", penwidth=2" if is_given else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def label_rows(segments: Sequence[Segment], steps: Mapping[int, str]) -> list[dict[str, object]]:
    """Segments as rows of a table to type in."""
    return [{"start": one.start, "end": one.end, "step": steps.get(one.step, str(one.step))} for one in segments]


def typed_segments(rows: Iterable[Mapping[str, object]], steps: Mapping[int, str]) -> tuple[Segment, ...]:
    """The segments of such a table in order of time; rows that are not filled yet are passed over.

    Raises InputError where a row makes no sense.
    """
    numbers = {text: number for number, text in steps.items()}
    found = []
    for place, row in enumerate(rows, start=1):
        start, end, step = row.get("start"), row.get("end"), row.get("step")
        if not (_is_number(start) and _is_number(end) and step in numbers):
            continue
        assert isinstance(start, int | float)
        assert isinstance(end, int | float)
        assert isinstance(step, str)
        if not 0 <= start < end:
            raise InputError(f"row {place} ends at {end:g} s, which is not after its start at {start:g} s: correct it.")
        found.append(Segment(numbers[step], round(float(start), 3), round(float(end), 3)))
    found.sort(key=lambda one: one.start)
    for before, after in pairwise(found):
        if after.start < before.end:
            raise InputError(
                f"steps follow one another, but one begins at {after.start:g} s before the last ends at "
                f"{before.end:g} s: move one of them."
            )
    return tuple(found)


def on_frames(segments: Sequence[Segment], times: Times, rate: float) -> tuple[Segment, ...]:
    """The segments with their edges on the frames that are learned from, as they are saved.

    Raises InputError where a segment holds no frame.

    >>> on_frames([Segment(1, 0.0, 0.7), Segment(2, 0.7, 2.0)], np.arange(4) / 2, 2.0)
    (Segment(step=1, start=0.0, end=1.0), Segment(step=2, start=1.0, end=2.0))
    """
    for one in segments:
        if not segments_to_labels([one], times).any():
            raise InputError(f"no frame falls between {one.start:g} and {one.end:g} s: make that step longer.")
    return tuple(labels_to_segments(segments_to_labels(segments, times), times, rate))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def drawn_segments(value: object, duration_s: float, known: Iterable[int]) -> tuple[Segment, ...] | None:
    """The segments that the timeline in the browser sent; nothing where they make no sense."""
    rows = value.get("segments") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return None
    numbers, found = set(known), []
    for row in rows:
        match row:
            case [int(step), int() | float() as start, int() | float() as end] if step in numbers:
                if 0 <= start < end <= duration_s + 0.01:
                    found.append(Segment(step, round(float(start), 3), round(min(float(end), duration_s), 3)))
    found.sort(key=lambda one: one.start)
    is_apart = all(after.start >= before.end for before, after in pairwise(found))
    return tuple(found) if is_apart else None


def matched(here: Iterable[Segment], there: Iterable[Segment]) -> list[list[float]]:
    """When each step was done in two recordings, as often as both did it: [start, end, start there, end there].

    >>> matched([Segment(2, 0.0, 4.0), Segment(1, 5.0, 6.0)], [Segment(1, 1.0, 3.0), Segment(2, 3.0, 9.0)])
    [[0.0, 4.0, 3.0, 9.0], [5.0, 6.0, 1.0, 3.0]]
    """
    visits: dict[int, list[Segment]] = {}
    for one in there:
        visits.setdefault(one.step, []).append(one)
    rest = {step: iter(each) for step, each in visits.items()}
    pairs = ((one, next(rest.get(one.step, iter(())), None)) for one in here if one.step > 0)
    return [[one.start, one.end, other.start, other.end] for one, other in pairs if other is not None]


def warnings(review: Review) -> tuple[str, ...]:
    """What a person should know before the edits are taught."""
    found = []
    gone = vanishing(review.result)
    if gone:
        lost = ", ".join(label(step) for step in review.result.steps if step.number in gone)
        found.append(
            f"No labelled recording holds {lost}. Labels are carried from the recordings that you labelled, so "
            "such steps go away: label a recording in which they are done."
        )
    names = [step.name for step in review.result.steps]
    for name in sorted({name for name in names if names.count(name) > 1}):
        found.append(f"Two steps are called “{name}”: rename one, or merge them.")
    return tuple(found)


def trial_view(trial: Trial, demonstrations: Demonstrations, reviewed: Reviewed | None, place: int | None) -> TrialView:
    """A trial, beside the labels of the recording where it is one of the demonstrations."""
    truth: tuple[Segment, ...] = ()
    if reviewed is not None and place is not None:
        truth = segments_of(reviewed, demonstrations)[place]
    names = {step.number: label(step) for step in trial.procedure.steps}
    said: list[tuple[str, str]] = [(alert.severity, _alert(alert, names)) for alert in trial.alerts]
    said += [("question", f"{clock(one.at)} asked: {one.text}") for one in trial.questions]
    said += [("withdrawn", f"{_alert(alert, names)} (withdrawn later)") for alert in trial.withdrawn]
    steps = len({segment.step for segment in trial.steps})
    count = len(trial.alerts)
    summary = f"{steps} of {len(trial.procedure.steps)} steps seen, {count} alert{'' if count == 1 else 's'}"
    return TrialView(_blocks(trial.steps, names), _blocks(truth, names), trial.lasted_s, tuple(said), summary)


def _blocks(segments: Iterable[Segment], names: Mapping[int, str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"step": one.step, "name": names.get(one.step, str(one.step)), "start": one.start, "end": one.end,
         "colour": colour(one.step)}
        for one in segments if one.step > 0
    )  # fmt: skip


def _alert(alert: Alert, names: Mapping[int, str]) -> str:
    about = names.get(alert.step, "")
    return f"{clock(alert.at)} {TITLES.get(alert.kind, alert.kind)}{': ' + about if about else ''} ({alert.evidence})"


def video_places(
    bundle: Path, said: str, inputs: Iterable[str], recordings: Path, demo: Path | None
) -> tuple[Path, ...]:
    """Where the videos of a bundle's demonstrations may lie: where a person said, where it was learned from, ours."""
    places = [Path(said)] if said else []
    places += [Path(text) for text in inputs]
    places.append(recordings / bundle.name)
    if bundle.name == "demo" and demo is not None:
        places.append(demo)
    return tuple(places)
