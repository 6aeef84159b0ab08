"""`python -m offline.study.looks`: what a second look, at where things move, tells of the steps.

Each recording is left out in turn and all others teach with their labels; the one left out is told frame by frame by
the live side's order-free features and discriminant alone: no window, no histories, no knowledge of the order. The same
is done with its steps in other orders, which is what looks are chosen by.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.domain import Labels, Times
from guide.errors import InputError
from guide.perceive.appearance import AppearanceSettings
from guide.teach.prototypes import learn_prototypes
from guide.teach.reorder import shuffled, visits_a_step
from offline.config import resolve
from offline.extraction import open_extractor
from offline.features import TRIED
from offline.metrics.live import StepFrames, step_frames
from offline.second_look import FEWEST, gain_in_words, try_second_look
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import ALL, Way, demonstrations_of, without
from offline.study.looks.seeing import CROP, LOOKS, WHOLE, Seer, see_set
from offline.study.looks.sources import SetOptions, read_sets

Tell: TypeAlias = Callable[[NDArray[Any], Times], Labels]

SHUFFLES: Final = 3  # other orders of each recording left out
TIMED_FRAMES: Final = 20


@dataclass(frozen=True)
class Options(SetOptions):
    """Tell the frames of recordings left out by one look and by two, all others labelled; accuracy / macro F1."""

    looks: str = "whole;crop;whole+crop"
    """Rows of the table, with semicolons between; + puts looks side by side."""


def main(options: Options) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, width=160)
    rows = [row.strip().split("+") for row in options.looks.split(";")]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if unknown := [name for name in names if name != WHOLE and name not in LOOKS]:
        raise InputError(f"--looks takes {'; '.join((WHOLE, *LOOKS))}, got {unknown[0]!r}: change it.")
    recipe = resolve("default", None, {})
    sets = list(read_sets(options, recipe))
    seer = Seer(open_extractor(recipe.backbone, options.cache / "trunks"), options.cache / "looks")
    seen = [see_set(one, seer, names, console) for one in sets]
    table = Table(title="recordings left out, all others labelled: accuracy / macro F1 on the frames of steps")
    for title in ("looks", *(f"{one.title}{how}" for one in sets for how in ("", ", shuffled"))):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(" + ".join(row), *(_figure(one) for each in seen for one in score(each.task(row))))
    console.print(table)
    if [WHOLE, CROP] in rows:
        for each in seen:
            console.print(f"{each.of.title}, as learning tries it: {judge(each.task([WHOLE, CROP]))}", soft_wrap=True)
    console.print(f"a frame with two looks takes {measure_ratio(seer):.2f} times the processor time of one look")


def judge(task: LabelledTask) -> str:
    """What learning would say of two looks side by side, from true labels."""
    if len(task.recordings) < FEWEST:
        return gain_in_words(None)
    step_s = float(np.median([one.duration_s for one in task.recordings])) / task.k / visits_a_step(task.truth)
    tried = [
        replace(one, rate=one.rate / TRIED, times=one.times[::TRIED], pooled=one.pooled[::TRIED])
        for one in task.recordings
    ]
    labels = [own[::TRIED] for own in task.truth]
    return gain_in_words(try_second_look(tried, labels, AppearanceSettings.for_step(step_s)))


def measure_ratio(seer: Seer) -> float:
    """How many times the processor time of one look two take, from decoded pictures to what the trunk pools."""
    rng = np.random.default_rng(0)
    made = [(n / 5, rng.integers(0, 256, (480, 640, 3), dtype=np.uint8)) for n in range(TIMED_FRAMES)]
    took_s = []
    for looks in ([WHOLE], [WHOLE], [WHOLE, CROP]):  # the first warms up
        began = time.process_time()
        seer.look(made, looks)
        took_s.append(time.process_time() - began)
    return took_s[2] / took_s[1]


def score(task: LabelledTask) -> tuple[StepFrames, StepFrames]:
    """Means over the recordings left out, as they are and with their steps in other orders."""
    plain: list[StepFrames] = []
    reordered: list[StepFrames] = []
    for number, (recording, truth) in enumerate(zip(task.recordings, task.truth, strict=True)):
        tell = _taught_by(without(task, number))
        rng = np.random.default_rng(number)
        orders = [shuffled(truth, rng) for _ in range(SHUFFLES)]
        plain.append(step_frames(truth, tell(recording.pooled, recording.times)))
        reordered += [step_frames(truth[new], tell(recording.pooled[new], recording.times)) for new in orders]
    return _mean(plain), _mean(reordered)


def _taught_by(others: LabelledTask) -> Tell:
    """Who tells the nearest prototype of each frame by itself."""
    demonstrations = demonstrations_of(others, Way(ALL))
    prototypes = learn_prototypes(demonstrations, others.truth).prototypes
    embed, numbers = demonstrations.embed, np.array(prototypes.steps)
    return lambda pooled, times: numbers[prototypes.memberships(embed(pooled, times)).argmax(1)]


def _mean(scores: list[StepFrames]) -> StepFrames:
    return StepFrames(*(float(mean) for mean in np.nanmean(np.array(scores), axis=0)))


def _figure(scores: StepFrames) -> str:
    return f"{100 * scores.accuracy:.1f} / {100 * scores.macro_f1:.1f}"


if __name__ == "__main__":
    entry(Options, main)
