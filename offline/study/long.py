"""`python -m offline.study.long`: long work through the whole chain, with the memory and the processor time it takes.

Labelled recordings of hours with many steps are made as features, taught as `offline.train --labels` teaches them, and
written as a bundle; a clean and a faulty recording that nobody learned from are then followed frame by frame.
"""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from guide.benchmarks.figures import Figure, Part, processor
from guide.benchmarks.memory import held_mb
from guide.bundle import read_bundle
from guide.commands.entry import entry
from guide.domain import Guidance, KeyStep, Labels, Update
from guide.errors import InputError
from guide.networks import start_networks
from guide.procedure.replay import standing_alerts
from guide.session import Session
from guide.settings import LiveSettings
from guide.teach.describe import describe
from guide.teach.reorder import visits_a_step
from offline.config import resolve
from offline.embedding import prepare_inputs
from offline.export import Export, write_bundle
from offline.metrics.live import step_frames
from offline.study.flags import FAULT_KINDS, judge
from offline.study.long_work import LongWork, Made

PART = 0.1  # of a recording: the first and the last tenth are compared
LOOK_EVERY_S = 0.1
SHORT_S = 15.0  # steps that usually take less are told apart
FEWEST_STEPS = 14  # among which two faults of each kind have room


@dataclass(frozen=True, slots=True)
class LongOptions:
    """Make long recordings of many steps, learn from them, follow two more, and print memory, time and flags."""

    steps: int = 40
    """Key-steps, from 2 s to three minutes long where recordings last two hours."""
    minutes: float = 120.0
    """Length of a recording."""
    demonstrations: int = 4
    """Recordings that teach."""
    width: int = 3472
    """Features a frame."""
    seed: int = 0
    """Decides all that is made."""
    folder: Path | None = None
    """Where recordings and bundle are kept (about 1.3 GB for two hours); deleted afterwards where none is named."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A recording as it was followed: labels (T,), what was said, milliseconds (T,) and MB held, begin and end."""

    labels: Labels
    said: list[Guidance]
    took_ms: NDArray[np.float64]
    held_mb: tuple[float, float]


def main(options: LongOptions) -> None:
    """Runs the command."""
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        Console(highlight=False, markup=False, soft_wrap=True).print(study(options, folder).text())


def study(options: LongOptions, folder: Path) -> Part:
    """The figures of one made task."""
    if options.steps < FEWEST_STEPS:
        raise InputError(
            f"faults of each kind need {FEWEST_STEPS} steps at least, got {options.steps}: choose another --steps."
        )
    work = LongWork(options.steps, options.minutes, options.width, seed=options.seed)
    taught = [work.make(number, folder) for number in range(options.demonstrations)]
    began = time.process_time()
    with _Memory() as memory:
        teach(work, taught, folder)
    learning = [
        Figure("learning", time.process_time() - began, "s"),
        Figure("peak memory of learning", memory.most_mb, "MB"),
    ]
    clean, faulty = (work.make(options.demonstrations + n, folder, faults=bool(n)) for n in range(2))
    session = _session(folder)
    one, other = follow(clean, session), follow(faulty, _session(folder))
    rules = session.procedure.rules
    title = f"Long work: {options.steps} steps, {options.demonstrations} recordings of {options.minutes:g} min"
    notes = (
        f"{len(rules.required)} steps alarmed when missing, {len(rules.edges)} pairs of an order, "
        f"{len(rules.single)} steps when repeated; asked about {len(rules.asked_steps)}, {len(rules.asked_edges)}",
    )
    figures = (*learning, *_times(one, other), *_labels(work, clean, one), *_flags(one, faulty, other))
    return Part(title, processor(), figures, notes)


def teach(work: LongWork, taught: list[Made], folder: Path) -> None:
    """Learns from labelled recordings and writes the bundle, as training does where all are labelled."""
    recipe = resolve("default", None, {"k": work.steps})
    inputs = prepare_inputs([one.seen for one in taught], recipe, visits_a_step([one.labels for one in taught]))
    demonstrations = inputs.demonstrations()
    steps = [KeyStep(number, f"step {number}") for number in range(1, work.steps + 1)]
    learned = describe(demonstrations, [one.labels for one in taught], steps)
    write_bundle(Export(recipe, inputs, learned, demonstrations, None, {}, {}, {}), folder / "bundle")


def follow(made: Made, session: Session) -> Followed:
    """What a session makes of a recording, each frame timed."""
    rows = np.array(made.seen.pooled)  # not mapped: pages that were read would count as memory that grows
    labels: list[int] = []
    said: list[Guidance] = []
    took_ms, held = [], []

    def take(updates: Sequence[Update]) -> None:
        labels.extend(update.label.step for update in updates)
        said.extend(word for update in updates for word in update.guidance)

    for number, (row, at) in enumerate(zip(rows, made.seen.times, strict=True)):
        if number == int(PART * len(made.labels)):
            gc.collect()
            held.append(held_mb())
        began = time.process_time()
        updates = session.perceived(session.perceiver.take(np.asarray(row, np.float32), float(at)))
        took_ms.append(1000 * (time.process_time() - began))
        take(updates)
    gc.collect()
    held.append(held_mb())
    take(session.finish())
    return Followed(np.array(labels), said, np.array(took_ms), (held[0], held[-1]))


def _session(folder: Path) -> Session:
    bundle = read_bundle(folder / "bundle")
    return Session(bundle, start_networks(bundle, "cpu", 1), LiveSettings())


def _times(*followed: Followed) -> list[Figure]:
    took = np.concatenate([one.took_ms for one in followed])
    tenths = [
        [one.took_ms[: int(PART * len(one.took_ms))], one.took_ms[-int(PART * len(one.took_ms)) :]] for one in followed
    ]
    first, last = (np.concatenate(each) for each in zip(*tenths, strict=True))
    return [
        Figure("a frame, p50", float(np.median(took)), "ms"),
        Figure("a frame, p95", float(np.quantile(took, 0.95)), "ms"),
        Figure("a frame, mean of the first tenth", float(first.mean()), "ms"),
        Figure("a frame, mean of the last tenth", float(last.mean()), "ms"),
        Figure("memory grown since the first tenth", max(b - a for a, b in (one.held_mb for one in followed)), "MB"),
    ]


def _labels(work: LongWork, made: Made, one: Followed) -> list[Figure]:
    short = np.isin(made.labels, 1 + np.flatnonzero(work.usual_s < SHORT_S))
    scores = step_frames(made.labels, one.labels)
    return [
        Figure("right on frames of steps", 100 * scores.accuracy, "%"),
        Figure("macro F1 of steps", 100 * scores.macro_f1, "%"),
        Figure(f"right in steps under {SHORT_S:g} s", 100 * float((made.labels == one.labels)[short].mean()), "%"),
        Figure("right on all frames", 100 * float((made.labels == one.labels).mean()), "%"),
    ]


def _flags(clean: Followed, made: Made, faulty: Followed) -> list[Figure]:
    same = {int(step): int(step) for step in np.unique(made.labels)} | {
        one.step: one.step for one in made.planted if one.step
    }
    hits = [judge(faulty.said, planted, same).hit for planted in made.planted]
    flags = [alert for alert in standing_alerts(faulty.said) if alert.kind in FAULT_KINDS]
    false = [alert for alert in standing_alerts(clean.said) if alert.kind in FAULT_KINDS]
    return [
        Figure(f"faults found, of {len(hits)}", sum(hit is not None for hit in hits), ""),
        Figure("flags in that recording", len(flags), ""),
        Figure("false alarms in the clean one", len(false), ""),
    ]


class _Memory:
    """Watches the memory that is held, without files that are mapped: those pages can be given back at any time."""

    def __init__(self) -> None:
        self.most_mb = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.most_mb = max(self.most_mb, held_mb(with_files=False))
            if self._done.wait(LOOK_EVERY_S):
                return


if __name__ == "__main__":
    entry(LongOptions, main)
