"""`python -m offline.study.variants`: which planted mistakes are found by what true steps of variants teach."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.errors import InputError
from guide.procedure.rule_selection import FALSE_ALARM_RATE
from guide.procedure.scores import check, learn_names, score
from offline.study.variants.world import KINDS, World, make_world, named

WIDTH = 100  # columns that the table needs
CHECKED = 40  # sequences with a mistake, and as many right ones, in each world


@dataclass(frozen=True, slots=True)
class Config:
    """Make variant tasks, learn each from right sequences and check others, half of which end at a mistake.

    Recall counts the mistakes that can be known: what is done is right in no product.
    """

    seeds: int = 50
    """Worlds; each draws from 5 to 60 steps and 1 to 12 products."""
    demonstrations: tuple[int, ...] = (5, 10, 20, 50, 100, 200)
    """How many right sequences teach."""
    rate: float = FALSE_ALARM_RATE
    """False alarms per sequence to stay under."""


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


def try_world(world: World, demonstrations: int, rate: float, seed: int) -> Tried:
    """Learns and checks one world; only mistakes that can be known count as planted."""
    random = Random(seed)
    taught = [named(str(number), world.plan(random)[1]) for number in range(demonstrations)]
    began = time.perf_counter()
    procedure = learn_names(taught, rate)
    learn_s = time.perf_counter() - began
    random = Random(-1 - seed)
    wrong = [world.mistake(random) for _ in range(CHECKED)]
    judged = [check(procedure, named(kind, steps, is_wrong=True)) for kind, steps, _ in wrong]
    clean = [check(procedure, named("right", world.plan(random)[1])) for _ in range(CHECKED)]
    known = [one for one, (_, _, is_known) in zip(judged, wrong, strict=True) if is_known]
    return Tried(
        {kind: sum(one.flagged[-1] for one in known if one.sequence.id == kind) for kind in KINDS},
        {kind: sum(one.sequence.id == kind for one in known) for kind in KINDS},
        sum(one.flagged[-1] for one in judged),
        sum(sum(one.flagged) for one in judged),
        sum(len(one.alerts) for one in clean),
        len(clean),
        score(judged).f1_average,
        learn_s,
    )


def run(config: Config) -> None:
    """Prints a row for each number of demonstrations, over all worlds."""
    if config.seeds < 1 or min(config.demonstrations, default=0) < 1:
        raise InputError("--seeds and --demonstrations are numbers from 1 up: give others.")
    table = Table("taught by", "precision", "recall", *KINDS, "false alarms", "average F1", "learning s")
    for count in config.demonstrations:
        table.add_row(
            str(count), *_row([try_world(_world(seed), count, config.rate, seed) for seed in range(config.seeds)])
        )
    Console(width=WIDTH).print(table)


def _world(seed: int) -> World:
    random = Random(seed)
    return make_world(random.randint(5, 60), random.randint(1, 12), random)


def _row(tried: Sequence[Tried]) -> list[str]:
    found = {kind: sum(one.found[kind] for one in tried) for kind in KINDS}
    planted = {kind: sum(one.planted[kind] for one in tried) for kind in KINDS}
    ratios = [
        (sum(one.right_flags for one in tried), sum(one.flags for one in tried)),
        (sum(found.values()), sum(planted.values())),
        *((found[kind], planted[kind]) for kind in KINDS),
        (sum(one.clean_alarms for one in tried), sum(one.clean for one in tried)),
    ]
    return [
        *(f"{part / whole:.3f}" if whole else "-" for part, whole in ratios),
        f"{sum(one.f1_average for one in tried) / len(tried):.3f}",
        f"{max(one.learn_s for one in tried):.2f}",
    ]


if __name__ == "__main__":
    entry(Config, run)
