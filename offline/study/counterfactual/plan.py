"""Which recordings are made: so many of each kind, spread over the sources, no two alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from offline.study.counterfactual.faults import (
    KINDS,
    Kind,
    Rules,
    Variant,
    missed,
    out_of_order,
    repeated,
    shuffled,
    unchanged,
)
from offline.study.counterfactual.pieces import Layout


@dataclass(frozen=True, slots=True)
class Planned:
    """A recording to be made: its name, the number of its source, and what happens to it."""

    name: str
    source: int
    variant: Variant


def plan(layouts: Sequence[Layout], counts: Mapping[Kind, int], seed: int) -> list[Planned]:
    """Recordings of each kind in turn, numbered from 01; fewer than asked for where the sources allow no more.

    What is fixed by one kind does not depend on how many of another are asked for.
    """
    rules = Rules.learn([layout.steps for layout in layouts])
    made: list[Planned] = []
    for kind in KINDS:
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        choices = [variants_of(kind, layout, rules, rng, counts.get(kind, 0)) for layout in layouts]
        for source, variant in _in_turn(choices, counts.get(kind, 0), rng):
            made.append(Planned(f"{len(made) + 1:02d}_{kind}", source, variant))
    return made


def variants_of(kind: Kind, layout: Layout, rules: Rules, rng: np.random.Generator, count: int) -> list[Variant]:
    """What can be done of a kind to a recording, in random order; of shuffled ones `count`."""
    if kind == "none":
        return [unchanged(layout)]
    if kind == "shuffled":
        return shuffled(layout, rng, count)
    found = {"missed": missed, "out_of_order": out_of_order, "repeated": repeated}[kind](layout, rules)
    drawn = [found[int(number)] for number in rng.permutation(len(found))]
    # Each step once before any comes again: a step with many places to be repeated at is no likelier than another.
    return [drawn[number] for number in sorted(range(len(drawn)), key=lambda number: _rank(drawn, number))]


def _rank(found: Sequence[Variant], number: int) -> int:
    """How many variants on the same step come before this one."""
    return sum(other.step == found[number].step for other in found[:number])


def _in_turn(choices: Sequence[Sequence[Variant]], count: int, rng: np.random.Generator) -> list[tuple[int, Variant]]:
    """Up to `count` variants, one of each source in turn."""
    sources = [int(source) for source in rng.permutation(len(choices))]
    rounds = range(max(map(len, choices), default=0))
    turns = [(source, choices[source][turn]) for turn in rounds for source in sources if turn < len(choices[source])]
    return turns[:count]
