"""`python -m offline.score`: the steps that a bundle found against label files it was not learned from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console

from guide.bundle import read_bundle
from guide.commands.entry import entry
from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.given import read_given
from guide.teach.reading import read_demonstrations
from offline.keysteps.registry import finder
from offline.metrics.protocols import protocol_d
from offline.metrics.score import Score, average

RANDOM_SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class ScoreOptions:
    """Compare a bundle's steps with labels, beside the scores of an equal time split and random labels."""

    bundle: Annotated[Path, tyro.conf.Positional]
    """The bundle."""
    labels: Path
    """A folder of label files (CSV or ELAN) named like the recordings, for some or all."""
    jsonl: bool = False
    """Print one JSON object instead of text."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the bundle scores on the labelled recordings, and what an equal time split and random labels do.

    >>> nothing = Score(0.0, 0.0, 0.0, 0.0)
    >>> Standing(2, nothing, nothing, nothing).recordings
    2
    """

    recordings: int
    ours: Score
    equal: Score
    random: Score


def score(options: ScoreOptions) -> Standing:
    """Protocol D on the demonstrations that have labels, at as many steps as the bundle holds."""
    bundle = read_bundle(options.bundle)
    demonstrations, found = read_demonstrations(bundle)
    truth = read_given(options.labels, demonstrations.ends).labels(demonstrations.items)
    pairs = [(true, mine) for true, mine in zip(truth, found, strict=True) if true is not None]
    true, mine = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    k = max(1, *(int(labels.max()) for labels in found))
    return Standing(
        len(pairs),
        protocol_d(true, mine),
        _blind("equal", true, k, (0,)),
        _blind("random", true, k, RANDOM_SEEDS),
    )


def _blind(name: str, truth: Sequence[Labels], k: int, seeds: Sequence[int]) -> Score:
    collection = Collection.at_rate([np.zeros((len(labels), 1), np.float32) for labels in truth], 1.0)
    return average([protocol_d(truth, finder(name).find(collection, k, seed).labels) for seed in seeds])


def main(options: ScoreOptions) -> None:
    """Runs the command."""
    standing = score(options)
    console = Console(highlight=False, markup=False)
    if options.jsonl:
        rows = {name: _plain(getattr(standing, name)) for name in ("ours", "equal", "random")}
        console.out(json.dumps({"recordings": standing.recordings, **rows}), highlight=False)
        return
    console.print(f"on {standing.recordings} labelled recordings, protocol D:")
    for name, words in (("ours", "this bundle"), ("equal", "equal time split"), ("random", "random labels")):
        console.print(f"  {words:<18} {getattr(standing, name)}")


def _plain(value: Score) -> dict[str, float]:
    return {"f1": round(value.f1, 4), "iou": round(value.iou, 4)}


if __name__ == "__main__":
    entry(ScoreOptions, main)
