"""The command's options, and the plan they amount to: checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

import torch

from guide.errors import InputError
from offline.config import PresetName, Recipe, resolve
from offline.extraction import ExtractionDevice
from offline.keysteps.registry import FINDERS
from offline.metrics import PROTOCOLS
from offline.study.evaluation.methods import BLIND, Method, choose_methods, split_names
from offline.study.evaluation.published_rows import DATASETS, dataset_called
from offline.study.evaluation.scoring import MOST_CHOICES
from offline.study.evaluation.task import LabelledTask

Count: TypeAlias = int | Literal["true", "auto"]

MOST_SEEDS: Final = 1000


@dataclass(frozen=True)
class EvaluateOptions:
    """Score key-step finders on tasks whose true steps are known, beside random labels and the equal time split."""

    features: Path | None = None
    """A folder of CaptainCook4D (features and annotations), or labels only: EgoProceL, ProceL, CrossTask, CSV, ELAN."""
    videos: Path | None = None
    """Or a folder of recordings of one task, or of such folders, with label files or phases.csv beside them."""
    labels: Path | None = None
    """Label files of the recordings, `start,end,"3 fit board"` in seconds, where they do not lie beside them."""
    steps: Path | None = None
    """A file of lines `number name` with the steps of the task: others in the labels are then unknown."""
    task: str = ""
    """Which tasks, with commas between; all where none is named."""
    losses: str = ""
    """What embedders are trained with, with commas between; `raw` takes the features as they are."""
    cluster: str = ""
    """Which finders, with commas between; random and equal always come along. All; of labels alone, the blind ones."""
    k: str = "true"
    """Numbers of key-steps with commas between, `true` for as many as there are, `auto` for chosen without labels."""
    seeds: int = 3
    """How many seeds; figures are means and standard deviations over them."""
    labelled: str = "0"
    """How many recordings a user has labelled, with commas between; the others are scored, rows `1 labelled` ..."""
    choices: int = MOST_CHOICES
    """How many choices of the labelled recordings are tried at most; where there are more, so many are drawn."""
    view: str = ""
    """Which cameras, with commas between, where a data set has several: ego, back, top, rhs, lhs, third (not ego)."""
    protocols: str = "A,B,D,pooled"
    """Ways to score, with commas between."""
    dataset: str = ""
    """Which published results to print beside ours, such as CMU-MMAC; seen from the folder's name where it is."""
    include_errors: bool = False
    """CaptainCook4D: take recordings with mistakes as well."""
    lenient: bool = False
    """Repair label files that are not as they should be, and say what was changed."""
    tier: str | None = None
    """The tier of ELAN files that holds the steps."""
    skip_bad: bool = False
    """Go on without recordings that cannot be read or give too few frames, and say which."""
    out: Path = Path(".cache/evaluation")
    """Folder to write results.csv, results.md and results.html to."""
    preset: PresetName = "default"
    """Which recipe the embedders are trained by."""
    config: Path | None = None
    """A TOML file with settings of that recipe."""
    fps: float | None = None
    """Working rate of videos, in frames a second."""
    rate: float | None = None
    """How many stills or rows of .npy features there are in a second, for --videos."""
    backbone_weights: Path | None = None
    """A file with the trunk's weights: where it cannot be downloaded, or a fine-tuned one."""
    device: ExtractionDevice = "auto"
    """Where to compute: auto, cpu or cuda."""
    ray: str | None = None
    """A Ray cluster, HOST:PORT or auto, all of whose machines look, train and find; they see --cache and --videos."""
    cache: Path = Path(".cache/cnc")
    """Where features and embeddings are kept between runs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be scored, and how."""

    methods: tuple[Method, ...]
    counts: tuple[Count, ...]
    seeds: int
    protocols: tuple[str, ...]
    recipe: Recipe
    dataset: str | None
    labelled: tuple[int, ...]
    choices: int
    """Of the labelled recordings, at most."""
    views: tuple[str, ...]
    """Empty where recordings are taken as they are."""
    device: torch.device

    @property
    def loss(self) -> str:
        """In whose embedding the number of key-steps is chosen: the recipe's, if it or none is compared."""
        losses = [method.loss for method in self.methods if method.loss is not None]
        return self.recipe.loss if self.recipe.loss in losses or not losses else losses[0]


def make_plan(options: EvaluateOptions) -> Plan:
    """The plan; raises InputError with one sentence on the first option that makes no sense."""
    if (options.features is None) == (options.videos is None):
        came = "both" if options.features else "neither"
        raise InputError(f"--features DIR or --videos DIR was expected, {came} came: give one of the two.")
    if options.features is not None and options.labels is not None:
        raise InputError(
            f"--labels goes with --videos, but --features {options.features} came: leave --labels out, or give "
            "--features the folder of labels."
        )
    if not 1 <= options.seeds <= MOST_SEEDS:
        raise InputError(f"--seeds is a whole number from 1 to {MOST_SEEDS}, got {options.seeds}: choose another.")
    if options.choices < 1:
        raise InputError(f"--choices is a whole number from 1 on, got {options.choices}: choose another.")
    recipe = resolve(options.preset, options.config, {"fps": options.fps})
    return Plan(
        methods=choose_methods(options.losses or recipe.loss, options.cluster or ",".join(FINDERS)),
        counts=read_counts(options.k),
        seeds=options.seeds,
        protocols=split_names(options.protocols, tuple(PROTOCOLS), "protocols (--protocols)"),
        recipe=recipe,
        dataset=_dataset(options),
        labelled=read_labelled(options.labelled),
        choices=options.choices,
        views=tuple(dict.fromkeys(word.strip() for word in options.view.split(",") if word.strip())),
        device=_device(options.device),
    )


def read_counts(text: str) -> tuple[Count, ...]:
    """The numbers of key-steps asked for, each once.

    >>> read_counts("7, true")
    (7, 'true')
    """
    counts: dict[Count, None] = {}
    for word in (word.strip() for word in text.split(",")):
        if word in ("true", "auto"):
            counts["true" if word == "true" else "auto"] = None
        elif word.isascii() and word.isdigit() and int(word) > 0:
            counts[int(word)] = None
        else:
            raise InputError(
                f"--k is true, auto, or whole numbers from 1 with commas between, got {text!r}: change it."
            )
    return tuple(counts)


def read_labelled(text: str) -> tuple[int, ...]:
    """How many recordings are labelled, each number once; none of them is no number of its own.

    >>> read_labelled("1, 4"), read_labelled("0")
    ((1, 4), ())
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise InputError(f"--labelled is whole numbers from 0 on with commas between, got {text!r}: change it.")
    return tuple(dict.fromkeys(int(word) for word in words if int(word) > 0))


def fitted(plan: Plan, tasks: Sequence[LabelledTask], is_named: bool) -> Plan:
    """The plan as it can be carried out: of labels alone, unless finders were named, those that look at nothing."""
    if is_named or any(task.is_seen for task in tasks):
        return plan
    return replace(plan, methods=tuple(method for method in plan.methods if method.clusterer in BLIND))


def require_fit(plan: Plan, tasks: Sequence[LabelledTask]) -> None:
    """Raises InputError where the plan asks of a task what it cannot give."""
    for task in tasks:
        for count in plan.counts:
            if isinstance(count, int) and count > task.frames:
                raise InputError(
                    f"the number of key-steps must lie between 1 and the number of frames ({task.frames} in "
                    f"{task.title}), got {count}: choose another --k."
                )
        looking = [method.name for method in plan.methods if method.clusterer not in BLIND]
        looking += ["--k auto"] * ("auto" in plan.counts) + ["--labelled"] * bool(plan.labelled)
        if looking and not task.is_seen:
            raise InputError(
                f"{task.title} has labels and no pictures, so {', '.join(looking)} cannot be scored on it: "
                f"give --cluster {','.join(BLIND)}, a number or true for --k, and no --labelled."
            )
    most = max((len(task.recordings) for task in tasks), default=0)
    if plan.labelled and min(plan.labelled) >= most:
        raise InputError(
            f"--labelled leaves the other recordings to be scored, but no task has more than {most} and "
            f"{min(plan.labelled)} were asked for: choose fewer."
        )


def _dataset(options: EvaluateOptions) -> str | None:
    if options.dataset:
        found = dataset_called(options.dataset)
        if found is None:
            raise InputError(
                f"published results are there for {', '.join(DATASETS)}, got {options.dataset!r}: choose one of them."
            )
        return found
    folder = options.videos or options.features
    assert folder is not None, "one of the two was given"
    return next((found for part in reversed(folder.resolve().parts) if (found := dataset_called(part))), None)


def _device(asked: ExtractionDevice) -> torch.device:
    if asked == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for, but torch finds no CUDA device: use --device auto or cpu.")
    return torch.device("cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu")
