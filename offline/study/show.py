"""What `make demo` runs: draw a task, learn it without labels (or with a few), guide people through it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import tyro
from rich.console import Console

from guide.bundle import read_bundle
from guide.commands.entry import entry
from guide.commands.watch import Terminal
from guide.domain import Guidance, Labels
from guide.manifest import perception_settings
from guide.networks import start_networks
from guide.session import Session, follow_percepts
from guide.settings import LiveSettings
from guide.teach.annotations import read_labels, segments_to_labels
from guide.teach.collection import Collection
from guide.teach.describe import Learned
from guide.words import count_of
from offline.config import resolve
from offline.demo.task import TASK
from offline.demo.world import World, draw_once
from offline.extraction import open_extractor
from offline.features import FeatureCache, RecordingFeatures
from offline.keysteps.registry import finder
from offline.metrics import PROTOCOLS, match_steps
from offline.progress import progress
from offline.study.flags import Judged, Planted, judge, total
from offline.study.tables import ResultTable, Row
from offline.train import TrainOptions, learn_task
from offline.videos import find_recordings

RANDOM_SEEDS = range(3)
ADVICE = "flags gain most from labels: make dashboard, page Review, or python -m offline.train --labels"

ONE_LOOK: Final = {"looks": 1}  # hands are large in these pictures, and trying a second would take a while


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Draw the demo task, learn it without labels, export it, and play unseen recordings with planted faults."""

    data: Path = Path(".cache/demo")
    """Where the drawn recordings go."""
    out: Path = Path("exported/demo")
    """Where the bundle goes."""
    cache: Path = Path(".cache/cnc")
    """Where features and checkpoints are kept between runs."""
    recordings: int = 12
    """Demonstrations to learn from."""
    live: int = 5
    """Recordings to play: one clean, one of each fault, and so on in turn."""
    labelled: int = 0
    """Demonstrations whose true labels are given to the learner, the first ones."""
    unlabelled: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: none is made)")] = (
        None
    )
    """Where the bundle goes that is first learned without labels, and played as well."""
    seed: int = 1
    """Chooses people, tables, orders and durations."""


def main(options: ShowOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, soft_wrap=True)
    console.rule("1  drawing the task")
    draw_once(World(options.seed, options.recordings, options.live), options.data, console)
    if options.unlabelled is not None:
        _show(replace(options, out=options.unlabelled, labelled=0), console)
    _show(options, console)


def _show(options: ShowOptions, console: Console) -> None:
    """Learns the task, plays the unseen recordings and tells what came of it."""
    console.rule("2  learning it from the videos " + ("and a few labels" if options.labelled else "alone"))
    learned = _learn(options, console)
    truth, found = _labels(options, learned)
    names = match_steps(truth, found)
    console.rule("3  guiding people it has never seen")
    judged = _play(options, names, console)
    console.rule("what was learned")
    _summarise(learned, truth, found, names, console)
    console.rule("what was found")
    _tell_faults(judged, console)
    words = f"\nwrote {options.out}; next: make dashboard, or python -m guide watch VIDEO --bundle {options.out}"
    console.print(words, soft_wrap=True)


def _learn(options: ShowOptions, console: Console) -> Learned:
    settings = TrainOptions(
        inputs=(str(options.data / "train"),), out=options.out, cache=options.cache, labels=_given(options)
    )
    if options.labelled:
        console.print(f"told: the labels of {options.labelled} of {options.recordings} demonstrations")
        return learn_task(settings, resolve("default", None, ONE_LOOK), options.out, console)
    console.print(f"told: there are {len(TASK.steps)} key-steps (--k auto would choose that number)")
    return learn_task(settings, resolve("default", None, ONE_LOOK | {"k": len(TASK.steps)}), options.out, console)


def _given(options: ShowOptions) -> Path | None:
    """A folder with the label files of the first demonstrations, or nothing."""
    if not options.labelled:
        return None
    folder = options.cache / f"labels-{options.seed}-{options.labelled}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted((options.data / "train").glob("*.csv"))[: options.labelled]:
        shutil.copy(path, folder)
    return folder


def _labels(options: ShowOptions, learned: Learned) -> tuple[list[Labels], list[Labels]]:
    """True and found labels of the demonstrations, frame by frame; the truth was not used for learning."""
    truth, found = [], []
    bundle = read_bundle(options.out)
    arrays = bundle.arrays("demonstrations.npz")
    for number, name in enumerate(bundle.facts["recordings"]):
        segments = read_labels(options.data / "train" / f"{name}.csv").segments
        truth.append(segments_to_labels(segments, arrays[f"times_{number}"]))
        found.append(learned.labels[number])
    return truth, found


def _play(options: ShowOptions, names: Mapping[int, int], console: Console) -> list[tuple[str, Planted, Judged]]:
    bundle = read_bundle(options.out)
    networks = start_networks(bundle)
    told = json.loads((options.data / "truth.json").read_text(encoding="utf-8"))
    readable = {step: f"{TASK.step(true).name}" for step, true in names.items()}
    if not options.labelled:
        console.print("found steps are shown under the true names they match best; the live loop does not know these")
    judged = []
    for features in _features(options, console):
        session = Session(bundle, networks, LiveSettings())
        session.rename(readable)
        planted = _planted(told[features.id])
        console.print(f"\n[bold]{features.id}[/bold]  {_words(planted)}")
        view = Terminal(console, session)
        said: list[Guidance] = []
        rows = zip(np.asarray(features.pooled, np.float32), features.times, strict=True)
        percepts = (session.perceiver.take(row, float(at)) for row, at in rows)
        for update in follow_percepts(percepts, session):
            view.show(update)
            said.extend(update.guidance)
        view.end()
        judged.append((features.id, planted, judge(said, planted, names)))
    return judged


def _features(options: ShowOptions, console: Console) -> Iterator[RecordingFeatures]:
    """The trunk's outputs of the live recordings, through the same decoding, pace and network as live; kept."""
    bundle = read_bundle(options.out)
    facts = bundle.facts
    extractor = open_extractor(facts["input"]["backbone"], options.cache / "trunks")
    cache, region = FeatureCache(options.cache / "features"), perception_settings(bundle).region
    recordings = find_recordings([str(options.data / "live")]).recordings
    kept = []
    with progress(console, "looking", len(recordings)) as advance:
        for number, recording in enumerate(recordings):
            seen = cache.features(recording, extractor, float(facts["rate"]))
            kept.append(seen if region is None else cache.look_twice(seen, recording, extractor, region))
            advance(number + 1, recording.id)
    yield from kept


def _planted(told: Mapping[str, Any]) -> Planted:
    number = {step.label: step.number for step in TASK.steps}
    return Planted(told["fault"], number.get(told["step"]), number.get(told["before"]), told["at"])


def _words(planted: Planted) -> str:
    match planted.kind:
        case "none":
            return "nothing planted"
        case "unknown":
            return f"planted: an unknown activity at {planted.at:.1f} s"
        case "out_of_order":
            return f"planted: {_name(planted.step)} too early, before {_name(planted.before)}, at {planted.at:.1f} s"
        case _:
            return f"planted: {_name(planted.step)} {planted.kind}, can be known at {planted.at:.1f} s"


def _name(step: int | None) -> str:
    return "?" if step is None else TASK.step(step).name


def _summarise(
    learned: Learned, truth: list[Labels], found: list[Labels], names: Mapping[int, int], console: Console
) -> None:
    for step in learned.procedure.steps:
        console.print(f"  {step.name:<15} matches {_name(names.get(step.number))}")
    console.print("orders seen:")
    for ordering in learned.procedure.orderings[:3]:
        console.print(f"  {ordering.count} x  {' > '.join(str(step) for step in ordering.steps)}", soft_wrap=True)
    rows = [*_floors(truth, len(TASK.steps)), Row("ours", {p: [PROTOCOLS[p](truth, found)] for p in ("A", "D")})]
    ResultTable("key-steps against the drawn truth, F1 and IoU in percent", tuple(rows)).console(console)


def _floors(truth: Sequence[Labels], k: int) -> list[Row]:
    """What no vision at all scores."""
    collection = Collection.at_rate([np.zeros((len(labels), 1), np.float32) for labels in truth], 1.0)
    drawn = {
        name: [finder(name).find(collection, k, seed).labels for seed in RANDOM_SEEDS] for name in ("random", "equal")
    }
    return [
        Row(name, {p: [PROTOCOLS[p](truth, one) for one in many] for p in ("A", "D")}) for name, many in drawn.items()
    ]


def _tell_faults(judged: Sequence[tuple[str, Planted, Judged]], console: Console) -> None:
    for name, planted, each in judged:
        if planted.kind == "none":
            word = "clean, nothing to find"
        elif each.hit is not None:
            word = f"found at {each.hit.at:.1f} s"
        else:
            word = "not found"
        besides = f", {count_of(len(each.false_alarms), 'false alarm')}" if each.false_alarms else ""
        console.print(f"  {name:<16} {_words(planted)}: {word}{besides}", soft_wrap=True)
    console.print(str(total([(planted, each) for _, planted, each in judged])))
    console.print(ADVICE, soft_wrap=True)


if __name__ == "__main__":
    entry(ShowOptions, main)
