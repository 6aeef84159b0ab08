"""How right flags are: learn a drawn task, then follow many unseen recordings of it with planted faults.

`python -m offline.trial --seed 1011 --labelled 0,2,all`. Pictures go from the painter to the trunk without a video in
between, so that thirty recordings take minutes; everything after the trunk is what a live session runs.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from guide.command import entry
from guide.courses import PRIORS, Prior
from guide.domain import Guidance, KeyStep, Labels, Question
from guide.errors import InputError
from guide.perceive.appearance import AppearanceSettings, appearance
from guide.perceive.preprocess import Preprocessing, to_network_input
from guide.teach.demonstrations import Demonstration, Demonstrations
from guide.teach.describe import Learned, describe
from guide.teach.spread import Spread
from offline.backbones import load_trunk
from offline.config import Recipe, resolve
from offline.demo.orders import FAULTS
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.demo.task import TASK
from offline.demo.truth import known_at
from offline.evaluation.embedders import Embedders
from offline.features import RecordingFeatures, collection_of
from offline.flags import Judged, Planted, first_word, judge, total
from offline.following import Lesson, follow_sight, see
from offline.keysteps.registry import finder
from offline.metrics import match_steps
from offline.progress import progress

RATE = 5.0
KINDS = ("none", "missed", "out_of_order")


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Learn a drawn task with some labels or none, and count right and wrong flags on unseen recordings."""

    seed: int = 1011
    """The drawn world; figures that are reported come from seeds above 1000, which nobody tunes on."""
    labelled: str = "0,2,all"
    """How many demonstrations come with their true labels, one row each."""
    recordings: int = 12
    """Demonstrations."""
    each: int = 10
    """Unseen recordings of each kind: clean, a step missed, two steps out of order."""
    priors: tuple[Prior, ...] = PRIORS
    """What counts beside what is seen being done: the usual course, and what steps leave behind."""
    cache: Path = Path(".cache/cnc")
    """Where embeddings are kept between runs."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A recording as the trunk saw it, with its truth."""

    features: RecordingFeatures
    labels: Labels
    planted: Planted


def main(options: TrialOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False)
    counts = _counts(options)
    train = [Recording(options.seed, "train", number + 1) for number in range(options.recordings)]
    live = [
        Recording(options.seed, "live", FAULTS.index(kind) + 1 + len(FAULTS) * number)
        for kind in FAULTS
        if kind in KINDS
        for number in range(options.each)
    ]
    drawn = list(look([*train, *live], console))
    task, unseen = drawn[: len(train)], drawn[len(train) :]
    table = Table(title=f"flags on {len(live)} unseen recordings, seed {options.seed}, priors {_words(options.priors)}")
    for column in (
        "labelled",
        "precision",
        "recall",
        "missed",
        "out of order",
        "false alarms a clean one",
        "delay s",
        "first word s",
        "questions",
    ):
        table.add_column(column, justify="right")
    for count in counts:
        learned, names = learn(task, count, options.cache)
        settings = _demonstrations(task, None).settings
        row = _row(count, list(follow(unseen, learned, settings, names, options.priors)), len(task), names)
        table.add_row(*row)
        console.print(f"{row[0]} labelled: precision {row[1]}, recall {row[2]}", style="dim")  # the next takes minutes
    console.print(table)


def _counts(options: TrialOptions) -> list[int]:
    wanted = [str(options.recordings) if part == "all" else part.strip() for part in options.labelled.split(",")]
    if not all(part.isdecimal() and int(part) <= options.recordings for part in wanted):
        raise InputError(
            f"--labelled takes numbers up to {options.recordings} or all with commas between, got {options.labelled!r}."
        )
    return [int(part) for part in wanted]


def look(recordings: Sequence[Recording], console: Console) -> Iterator[Drawn]:
    """Every recording drawn and seen through the default trunk, in order."""
    from offline.extraction import Extractor  # here: what only learns from features needs no ONNX Runtime

    trunk = load_trunk(resolve("default", None, {}).backbone)
    means, jobs = trunk.spec.mean_width, [(recording, trunk.spec.preprocessing) for recording in recordings]
    context = multiprocessing.get_context("spawn")
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(os.cpu_count() or 1, context) as pool,
        progress(console, "drawing", len(recordings)) as advance,
    ):
        extractor = Extractor(trunk, Path(folder))  # on a CPU by ONNX Runtime, which is several times as fast as torch
        size = extractor.batch_size
        for number, (pictures, labels, planted) in enumerate(pool.map(_draw, jobs)):
            parts = [
                extractor.runner.pool(pictures[begin : begin + size].astype(np.float32))
                for begin in range(0, len(pictures), size)
            ]
            times = np.arange(len(pictures)) / RATE
            advance(number + 1, recordings[number].name)
            name, rows = recordings[number].name, np.concatenate(parts)
            yield Drawn(RecordingFeatures(name, RATE, times, rows, mean_width=means), labels, planted)


def _draw(job: tuple[Recording, Preprocessing]) -> tuple[NDArray[Any], Labels, Planted]:
    """Network inputs (T, 3, S, S) of a recording at the working rate, its labels and what was planted."""
    recording, preprocessing = job
    cv2.setNumThreads(1)
    stride = round(RATE_HZ / RATE)
    pictures = [picture for number, picture in enumerate(recording.pictures()) if number % stride == 0]
    script = recording.script
    labels = np.zeros(len(pictures), np.int64)
    for event in script.events:
        labels[[frame // stride for frame in event.frames if frame % stride == 0 and frame // stride < len(labels)]] = (
            event.step
        )
    fault = script.fault
    planted = Planted(fault.kind, fault.step, fault.before, known_at(script))
    return np.stack([to_network_input(each, preprocessing) for each in pictures]).astype(np.float16), labels, planted


def learn(task: Sequence[Drawn], labelled: int, cache: Path) -> tuple[Learned, dict[int, int]]:
    """The task learned with so many labelled demonstrations, and the true step of each learned one."""
    recipe = resolve("default", None, {"k": len(TASK.steps)})
    truth = [one.labels for one in task]
    if labelled:
        found = _demonstrations(task, None)
        given = [labels if number < labelled else None for number, labels in enumerate(truth)]
        labels = Spread().spread(found.collection(), given).labels
        steps = [KeyStep(step.number, step.name) for step in TASK.steps]
        learned = describe(found, labels, steps, hold_slips=labelled < len(task), given=range(labelled))
        return learned, {step.number: step.number for step in TASK.steps}
    embeddings = _embeddings(task, recipe, cache)
    collection = collection_of([one.features for one in task], embeddings)
    labels = finder(recipe.clusterer).find(collection, len(TASK.steps), 0).labels
    steps = [KeyStep(number, f"step {number}") for number in range(1, len(TASK.steps) + 1)]
    learned = describe(_demonstrations(task, embeddings), labels, steps, hold_slips=True)
    return learned, match_steps(truth, list(labels))


def _embeddings(task: Sequence[Drawn], recipe: Recipe, cache: Path) -> tuple[NDArray[np.float32], ...]:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recordings = [one.features for one in task]
    return Embedders(cache / "trial", device).embeddings(recordings, recipe, 0, lambda iteration, words: None)


def _demonstrations(task: Sequence[Drawn], embeddings: Sequence[NDArray[np.float32]] | None) -> Demonstrations:
    recordings = tuple(one.features for one in task)
    rows = embeddings or [np.zeros((len(one), 1), np.float32) for one in recordings]
    step_s = float(np.median([one.duration_s for one in recordings])) / len(TASK.steps)
    items = tuple(Demonstration(one.id, one.times, one.pooled, own) for one, own in zip(recordings, rows, strict=True))
    return Demonstrations(items, RATE, AppearanceSettings.for_step(step_s))


def follow(
    unseen: Sequence[Drawn],
    learned: Learned,
    settings: AppearanceSettings,
    names: Mapping[int, int],
    priors: tuple[Prior, ...],
) -> Iterator[tuple[Planted, Judged, list[Guidance]]]:
    """What is said of each unseen recording, through window, course and tracker as live, and whether it is right."""
    lesson = Lesson(learned, settings, RATE)
    for one in unseen:
        pooled, times = np.asarray(one.features.pooled, np.float32), one.features.times
        nothing = np.zeros((len(times), 1), np.float32)  # in place of embeddings
        sight = see(lesson, "appearance", appearance(pooled, times, settings), nothing, times)
        said = list(follow_sight(sight, lesson, priors).said)
        yield one.planted, judge(said, one.planted, names), said


def _row(
    labelled: int,
    judged: Sequence[tuple[Planted, Judged, list[Guidance]]],
    count: int,
    names: Mapping[int, int],
) -> list[str]:
    score = total([(planted, each) for planted, each, _ in judged])
    found = {
        kind: [each.is_found for planted, each, _ in judged if planted.kind == kind]
        for kind in ("missed", "out_of_order")
    }
    delays = [
        each.hit.at - planted.at for planted, each, _ in judged if each.hit is not None and planted.at is not None
    ]
    spoken = [(first_word(said, planted, names), planted.at) for planted, each, said in judged if each.is_found]
    words = [first - at for first, at in spoken if first is not None and at is not None]
    questions = sum(isinstance(word, Question) for _, _, said in judged for word in said) / max(len(judged), 1)
    return [
        "all" if labelled == count else str(labelled),
        f"{score.precision:.2f}",
        f"{score.recall:.2f}",
        *(f"{sum(each)} of {len(each)}" for each in found.values()),
        f"{score.clean_alarms / max(score.clean, 1):.2f}",
        *(f"{np.median(each):.1f}" if each else "-" for each in (delays, words)),
        f"{questions:.1f}",
    ]


def _words(priors: Sequence[Prior]) -> str:
    return ", ".join(priors) or "none"


if __name__ == "__main__":
    entry(TrialOptions, main)
