"""The command's options, and what they amount to: checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from guide.errors import InputError
from offline.study.evaluation.methods import split_names
from offline.study.evaluation.teaching import read_numbers
from offline.study.fault_trial.conditions import PRIOR_SETS, Conditions
from offline.study.jobs import Shift, ShiftOptions, read_seeds, require_from

Part: TypeAlias = Literal["counterfactual", "agreement", "errors"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)


@dataclass(frozen=True)
class FaultTrialOptions(ShiftOptions):
    """Leave each clean recording out in turn, make faults in it, and count right and wrong flags of what the others
    taught; look for missed steps in recordings with mistakes; with and without priors."""

    features: Path | None = None
    """A folder of CaptainCook4D: features and annotations."""
    videos: Path | None = None
    """Or a folder of labelled clean recordings of one task, or of such folders: videos, or features (.npz, .npy)."""
    drawn: str = ""
    """Or seeds of drawn worlds, such as 1021-1025,1031: their demonstrations, as `offline.study.trial` draws them."""
    labels: Path | None = None
    """Label files of --videos, where they do not lie beside the recordings."""
    task: str = ""
    """Which tasks, with commas between; all where none is named."""
    only: str = ",".join(PARTS)
    """Which parts, with commas between: counterfactual, agreement, errors."""
    labelled: str = "0,1,2,4,all"
    """How many of the others come with their true labels."""
    choices: int = 3
    """Of the ways to choose the labelled ones, so many are tried for each recording left out."""
    each: int = 3
    """Faults of each kind (a step cut out, two exchanged, one repeated) made from a recording, at most."""
    shuffles: int = 2
    """Orders in which a recording is shown to see whether unaries depend on the order."""
    priors: str = "on,off"
    """One row each, with commas between: on, off, or one of duration, done, order and after_effects alone."""
    seed: int = 1
    """Chooses the faults and the orders. From 0 up."""
    rate: float | None = None
    """How many stills or rows of .npy features there are in a second, for --videos."""
    backbone_weights: Path | None = None
    """A file with the trunk's weights, where it cannot be downloaded."""
    ray: str | None = None
    """Or a Ray cluster, HOST:PORT or auto: all its machines learn and follow, and see --cache under the same path."""
    keep_features: Path | None = None
    """Only write what the trunk sees in --videos, with labels, to this folder: for a machine without the trunk."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done."""

    parts: tuple[Part, ...]
    counts: tuple[str, ...]
    conditions: Conditions
    shift: Shift


def make_plan(options: FaultTrialOptions) -> Plan:
    """The plan; raises InputError with one sentence on the first option that makes no sense."""
    given = [name for name in ("features", "videos", "drawn") if getattr(options, name)]
    if len(given) != 1:
        came = " and ".join(f"--{name}" for name in given) or "none"
        raise InputError(f"one of --features DIR, --videos DIR and --drawn SEEDS was expected, {came} came: give one.")
    if options.drawn:
        read_seeds(options.drawn, "--drawn")
    require_from("choices", options.choices, 1)
    require_from("each", options.each, 1)
    require_from("shuffles", options.shuffles, 1)
    require_from("seed", options.seed, 0)
    shift = options.shift(options.ray)
    conditions = Conditions(
        options.cache.resolve(),
        split_names(options.priors, tuple(PRIOR_SETS), "priors (--priors)"),
        options.each,
        options.shuffles,
        options.seed,
    )
    parts = split_names(options.only, PARTS, "parts (--only)")
    if parts == ("errors",) and options.features is None:
        raise InputError("--only errors needs recordings with mistakes, which --features DIR has: give that.")
    return Plan(tuple(cast(Part, each) for each in parts), tuple(read_numbers(options.labelled)), conditions, shift)
