"""What the pages show of a bundle, as plain values: no Streamlit here, and nothing a page would still have to decide.

Bundles come from outside. A name in one is text, never markup: pages pass it through `plain` before Markdown sees it.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guide.bundle import Bundle, fingerprint, read_bundle
from guide.domain import KeyStep, Precedence
from guide.errors import GuideError, InputError, OutputError
from guide.ingest.base import NO_PICTURES
from guide.manifest import is_list
from guide.procedure.explain import watching
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain
from guide.record.timeline import colour
from guide.serve.picture import decode
from guide.teach.review_store import ReviewStore
from guide.words import count_of

STILLS_PER_STEP = 4
# Colours that can be read on a light page and on a dark one.
GRAPH_LOOK = (
    'rankdir=LR; ranksep=0.25; nodesep=0.15; bgcolor="transparent"; pad=0.05;',
    'node [shape=box, style="rounded,filled", fillcolor="#e3ebea", color="#7b9097", fontcolor="#1d2b30", height=0.35];',
    'node [fontname="sans-serif", margin="0.1,0.04", width=0.5]; edge [color="#7b9097", fontcolor="#7b9097"];',
)


@dataclass(frozen=True, slots=True)
class StepView:
    """A key-step as a page shows it; `stills` are JPEG files' bytes.

    >>> StepView(2, "open case", "#bcdb27", (), ("optional",), "in 9 of 12 demonstrations", "about 4 s", "").label
    '2 open case'
    """

    number: int
    name: str
    colour: str
    stills: tuple[bytes, ...]
    marks: tuple[str, ...]
    seen: str
    lasts: str
    reason: str

    @property
    def is_named(self) -> bool:
        return self.name != f"step {self.number}"

    @property
    def label(self) -> str:
        """Number and name, or the name alone where it is the number in words: nobody has named the step yet."""
        return f"{self.number} {self.name}" if self.is_named else self.name


@dataclass(frozen=True, slots=True)
class OrderingView:
    """An order that was seen, and in how many demonstrations."""

    steps: tuple[StepView, ...]
    count: int


@dataclass(frozen=True, slots=True)
class EdgeView:
    """`first` comes before `then`; what the demonstrations say for it, and what happens when it is broken."""

    first: str
    then: str
    support: int
    total: int
    when_broken: str

    @property
    def seen_so(self) -> str:
        """How many demonstrations did it so; nothing where a person wrote the order down."""
        return f"{self.support} of {self.total}" if self.total else ""


@dataclass(frozen=True, slots=True)
class BundleView:
    """A sound bundle, ready to draw."""

    folder: Path
    name: str
    version: str
    summary: str
    """The bundle in one line."""
    steps: tuple[StepView, ...]
    orderings: tuple[OrderingView, ...]
    edges: tuple[EdgeView, ...]
    graph: str
    """The precedence graph in Graphviz's language."""
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    watch: str
    """The command that guides someone with this bundle."""


@dataclass(frozen=True, slots=True)
class DamagedBundle:
    """A folder that holds no sound bundle, and the one sentence that says why.

    >>> DamagedBundle(Path("exported/old"), "exported/old is no bundle.").name
    'old'
    """

    folder: Path
    problem: str

    @property
    def name(self) -> str:
        return self.folder.name


def view_bundle(folder: Path) -> BundleView | DamagedBundle:
    """The bundle in `folder`, checked; a damaged one keeps its sentence instead of stopping the page."""
    try:
        bundle = read_bundle(folder)
        return _view(bundle, from_plain(bundle.json("procedure.json")))
    except GuideError as error:
        return DamagedBundle(folder, str(error))
    except OSError as error:
        return DamagedBundle(folder, f"{folder} cannot be read ({error.strerror}): check its permissions.")


def rename_bundle(folder: Path, name: str, videos: Path | None = None) -> Path:
    """Gives a procedure another name, with its review and where its `videos` lie; says where it lies then.

    Sessions that were recorded keep the name that they were recorded under.
    """
    if not name or name.startswith("."):
        raise InputError("a procedure's name has letters or digits: choose another.")
    place, store = folder.with_name(name), ReviewStore(folder)
    if place.exists() or ReviewStore(place).folder.exists():
        raise InputError(f"there is a procedure {name} already: choose another name.")
    if videos is not None and not store.videos():
        store.keep_videos(str(videos.absolute()))
    try:
        folder.rename(place)
        if store.folder.exists():
            store.folder.rename(ReviewStore(place).folder)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be renamed ({cause.strerror}): check who may write there.") from cause
    return place


def delete_bundle(folder: Path) -> None:
    """Deletes a procedure with its kept versions and the labels of its review; recordings and sessions stay."""
    try:
        shutil.rmtree(folder)
        shutil.rmtree(ReviewStore(folder).folder, ignore_errors=True)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be deleted ({cause.strerror}): check who owns it.") from cause


def _view(bundle: Bundle, procedure: Procedure) -> BundleView:
    steps = {step.number: _step(bundle, procedure, step) for step in procedure.steps}
    return BundleView(
        folder=bundle.folder,
        name=bundle.folder.name,
        version=fingerprint(bundle),
        summary=_summary(bundle, procedure),
        steps=tuple(steps.values()),
        orderings=tuple(
            OrderingView(tuple(steps[number] for number in ordering.steps), ordering.count)
            for ordering in procedure.orderings
        ),
        edges=tuple(_edge(procedure, steps, pair) for pair in procedure.graph),
        graph=_graph(steps.values(), procedure.graph),
        notes=(*(str(note) for note in _list(bundle.facts.get("notes"))), *filter(None, [watching(procedure)])),
        facts=_facts(bundle, procedure),
        watch=f"python -m guide watch {NO_PICTURES if is_list(bundle) else 'VIDEO'} --bundle "
        f"{shlex.quote(str(bundle.folder))}",
    )


def _summary(bundle: Bundle, procedure: Procedure) -> str:
    rate = _number(bundle.facts.get("rate"))
    looks = "" if rate is None else f", {rate:g} frames a second"
    steps, demonstrations = len(procedure.steps), procedure.demonstrations
    if is_list(bundle):
        source = f"from {count_of(demonstrations, 'sequence')}" if demonstrations else "written down"
        return f"{count_of(steps, 'step')}, {source}; guided by hand"
    return f"{count_of(steps, 'key-step')} learned from {count_of(demonstrations, 'demonstration')}{looks}"


def _step(bundle: Bundle, procedure: Procedure, step: KeyStep) -> StepView:
    found, all_of_them = procedure.statistics_of(step.number), procedure.demonstrations
    marks = [word for word, holds in (("optional", step.is_optional), ("repeatable", step.is_repeatable)) if holds]
    lasts = "" if found is None else _lasts(found.durations_s[1], found.durations_s[2], found.durations_s[3])
    return StepView(
        number=step.number,
        name=step.name,
        colour=colour(step.number),
        stills=_stills(bundle, step.number),
        marks=tuple(marks),
        seen=f"in {0 if found is None else found.present} of {count_of(all_of_them, 'demonstration')}"
        if all_of_them
        else "",
        lasts=lasts,
        reason=dict(procedure.reasons).get(step.number, ""),
    )


def _lasts(tenth: float, half: float, ninetieth: float) -> str:
    """How long a step usually takes, from its 10 %, median and 90 % durations."""
    low, high = f"{tenth:.0f}", f"{ninetieth:.0f}"
    between = "" if low == high else f", mostly {low} to {high} s"
    return f"about {half:.0f} s{between}" if half >= 1 else "less than 1 s"


def _stills(bundle: Bundle, step: int) -> tuple[bytes, ...]:
    """The step's pictures that can be shown; a bad one is left out, it is no reason to hide the bundle."""
    names = [f"stills/{step:02d}_{number}.jpg" for number in range(1, STILLS_PER_STEP + 1)]
    found = [bundle.path(name).read_bytes() for name in names if bundle.has(name)]
    return tuple(picture for picture in found if _is_picture(picture))


def _is_picture(data: bytes) -> bool:
    try:
        decode(data)
    except InputError:
        return False
    return True


def _edge(procedure: Procedure, steps: Mapping[int, StepView], pair: Precedence) -> EdgeView:
    edge = (pair.first, pair.then)
    if edge in procedure.rules.given_edges:
        when_broken = "alert (given)"
    elif edge in procedure.rules.edges:
        when_broken = "alert"
    elif edge in procedure.rules.asked_edges:
        when_broken = "question"
    else:
        when_broken = "nothing"
    return EdgeView(steps[pair.first].label, steps[pair.then].label, pair.support, pair.total, when_broken)


def _graph(steps: Iterable[StepView], pairs: Iterable[Precedence]) -> str:
    """Boxes and arrows, small enough for a page; an arrow bears its support only where it was not always so."""
    nodes = [f"{step.number} [label={_quote(step.label)}];" for step in steps]
    arrows = [f"{one.first} -> {one.then}{_support(one)};" for one in pairs]
    return "\n".join(["digraph {", *GRAPH_LOOK, *nodes, *arrows, "}"])


def _quote(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _support(one: Precedence) -> str:
    return "" if one.support == one.total else f' [label="{one.support} of {one.total}"]'


def _facts(bundle: Bundle, procedure: Procedure) -> tuple[tuple[str, str], ...]:
    """What is known of the training, in words; whatever the manifest does not tell is left out."""
    facts, training = bundle.facts, _mapping(bundle.facts.get("training"))
    recipe, source = _mapping(facts.get("recipe")), _mapping(facts.get("input"))
    iterations, heads = _number(training.get("iterations")), _number(recipe.get("heads")) or 1
    why, each, in_all = training.get("why_ended"), "", ""
    if heads > 1:  # the iterations are those of all, the reason is that of one
        each, in_all = f"each of {heads:.0f} networks ", " in all"
    cosines = [_number(_mapping(one).get("cosine")) for one in _mapping(facts.get("parity")).values()]
    worst = min((cosine for cosine in cosines if cosine is not None), default=None)
    told = (
        ("Learned from", ", ".join(str(name) for name in _list(facts.get("recordings")))),
        ("Trunk", source.get("backbone") or (None if is_list(bundle) else "none: precomputed features")),
        ("Loss", recipe.get("loss")),
        ("Training", f"{iterations:.0f} iterations{in_all}" if iterations is not None else None),
        ("Why it ended", f"{each}{why}" if why else None),
        ("Clusterer", recipe.get("clusterer")),
        ("Seed", training.get("seed")),
        ("Exported networks", None if worst is None else f"agree with training to a cosine of {worst:.6f}"),
        ("False alarms", _false_alarms(procedure)),
        ("Program", facts.get("program")),
        ("Version", fingerprint(bundle)),
    )
    return tuple((name, str(value)) for name, value in told if value not in (None, ""))


def _false_alarms(procedure: Procedure) -> str | None:
    rate = f"{procedure.rules.false_alarms:.2f} a demonstration when each is left out of learning"
    return rate if procedure.demonstrations else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
