"""`python -m offline.study.variants`: which planted mistakes are found by what true steps of variants teach."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.errors import InputError
from guide.procedure.model import Procedure
from guide.procedure.orders import Orders
from guide.procedure.rule_selection import FALSE_ALARM_RATE
from guide.procedure.scores import Checked, check, learn_names, never_flag, score
from guide.whole_file import write_whole
from offline.study.plain_rule import PlainRule
from offline.study.variants.growth import draw
from offline.study.variants.world import KINDS, SHAPES, World, make_world, named

WIDTH = 120  # columns that the table needs
CHECKED = 40  # sequences with a mistake, and as many right ones, in each world
OURS, PLAIN, ANY = "ours", "plain rule", "whatever is new"
ALARMS, LEARNING = "false alarms", "learning s"
MEASURES = ("precision", "recall", ALARMS)  # in the picture

Checker: TypeAlias = Callable[[Checked], Checked]


@dataclass(frozen=True, slots=True)
class Config:
    """Make variant tasks, learn each from right sequences and check others, half of which end at a mistake.

    Recall counts the mistakes that can be known: what is done is right in no product. "Whatever is new" flags all that
    no demonstration did: it finds what anybody could, and cries too often.
    """

    shape: str = "mixed"
    """mixed: 5 to 60 steps in 1 to 12 products; toys: short sequences of many products; tent: one long task."""
    seeds: int = 50
    """Worlds."""
    first: int = 1000
    """Number of the first world; those below 1000 are for choosing."""
    demonstrations: tuple[int, ...] = ()
    """How many right sequences teach; what suits the shape where none is given."""
    rate: float = FALSE_ALARM_RATE
    """False alarms per sequence to stay under."""
    picture: Path | None = None
    """Also draw precision, recall and false alarms over the numbers of demonstrations, as SVG."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What was told of one world's sequences; `found` and `planted` by kind of mistake."""

    found: dict[str, int]
    planted: dict[str, int]
    right_flags: int
    flags: int
    clean_alarms: int
    clean: int
    f1_average: float
    learn_s: float = field(compare=False)


def try_world(world: World, demonstrations: int, rate: float, seed: int) -> Mapping[str, Tried]:
    """Learns and checks one world, by checker; only mistakes that can be known count as planted."""
    random = Random(seed)
    taught = [named(str(number), world.plan(random)[1]) for number in range(demonstrations)]
    began = time.perf_counter()
    procedure = learn_names(taught, rate)
    learn_s = time.perf_counter() - began
    random = Random(-1 - seed)
    wrong = [world.mistake(random) for _ in range(CHECKED)]
    judged = [check(procedure, named(kind, steps, is_wrong=True)) for kind, steps, _ in wrong]
    clean = [check(procedure, named("right", world.plan(random)[1])) for _ in range(CHECKED)]
    known = [is_known for _, _, is_known in wrong]
    checkers: dict[str, Checker] = {
        OURS: lambda one: one,
        PLAIN: PlainRule(taught).check,
        ANY: lambda one: _whatever_is_new(procedure, one),
        "never flag": never_flag,
    }
    return {
        name: _tried([checker(one) for one in judged], known, [checker(one) for one in clean], learn_s)
        for name, checker in checkers.items()
    }


def _tried(judged: Sequence[Checked], is_known: Sequence[bool], clean: Sequence[Checked], learn_s: float) -> Tried:
    known = [one for one, is_one in zip(judged, is_known, strict=True) if is_one]
    return Tried(
        {kind: sum(one.flagged[-1] for one in known if one.sequence.id == kind) for kind in KINDS},
        {kind: sum(one.sequence.id == kind for one in known) for kind in KINDS},
        sum(one.flagged[-1] for one in judged),
        sum(sum(one.flagged) for one in judged),
        sum(one.false_alarms for one in clean),
        len(clean),
        score(judged).f1_average,
        learn_s,
    )


def _whatever_is_new(procedure: Procedure, checked: Checked) -> Checked:
    """Flags each step that goes against all demonstrations in any way that is looked at."""
    numbers = {step.name: step.number for step in procedure.steps}
    steps = [numbers.get(step.name) for step in checked.sequence.done]
    again = {one.step for one in procedure.statistics if one.repeated}
    flagged = tuple(
        step is None
        or (step in steps[:place] and steps[place - 1] != step and step not in again)
        or (step not in steps[:place] and _is_new(procedure.orders, [one for one in steps[:place] if one], step))
        for place, step in enumerate(steps)
    )
    return replace(checked, flagged=flagged, false_alarms=sum(flagged))


def _is_new(orders: Orders, done: Sequence[int], step: int) -> bool:
    total, both = orders.kin(step, done)
    return (total > 0 and not both) or any(one.support == one.total for one in orders.lacking(step, done))


def run(config: Config) -> None:
    """Prints the rows of each number of demonstrations, over all worlds."""
    if config.shape not in SHAPES:
        raise InputError(f"--shape is one of {', '.join(SHAPES)}, got {config.shape!r:.40}: choose one.")
    shape = SHAPES[config.shape]
    counts = config.demonstrations or shape.demonstrations
    if config.seeds < 1 or config.first < 0 or min(counts) < 1:
        raise InputError("--seeds and --demonstrations are numbers from 1 up, --first from 0: give others.")
    table = Table(
        "taught by", "checker", "precision", "recall", *KINDS, ALARMS, "average F1", LEARNING,
        title=config.shape,
    )  # fmt: skip
    curves: dict[str, dict[str, list[float]]] = {}
    for count in counts:
        seeds = range(config.first, config.first + config.seeds)
        tried = [try_world(make_world(shape, Random(seed)), count, config.rate, seed) for seed in seeds]
        for name in tried[0]:
            summed = _sum([one[name] for one in tried])
            table.add_row(str(count) if name == OURS else "", name, *_row(summed, name))
            for measure in MEASURES if name in (OURS, PLAIN) else ():
                curves.setdefault(name, {}).setdefault(measure, []).append(min(summed[measure] or 0.0, 1.0))
    Console(width=WIDTH).print(table)
    if config.picture is not None:
        write_whole(config.picture, draw(counts, curves))


def _sum(tried: Sequence[Tried]) -> dict[str, float | None]:
    found = {kind: sum(one.found[kind] for one in tried) for kind in KINDS}
    planted = {kind: sum(one.planted[kind] for one in tried) for kind in KINDS}
    parts = {
        "precision": (sum(one.right_flags for one in tried), sum(one.flags for one in tried)),
        "recall": (sum(found.values()), sum(planted.values())),
        **{kind: (found[kind], planted[kind]) for kind in KINDS},
        ALARMS: (sum(one.clean_alarms for one in tried), sum(one.clean for one in tried)),
        "average F1": (sum(one.f1_average for one in tried), len(tried)),
    }
    summed = {name: part / whole if whole else None for name, (part, whole) in parts.items()}
    return summed | {LEARNING: max(one.learn_s for one in tried)}


def _row(summed: Mapping[str, float | None], name: str) -> list[str]:
    learning = f"{summed[LEARNING]:.2f}" if name == OURS else ""
    shown = [one for measure, one in summed.items() if measure != LEARNING]
    return [*("-" if one is None else f"{one:.3f}" for one in shown), learning]


if __name__ == "__main__":
    entry(Config, run)
