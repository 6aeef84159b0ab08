"""`python -m offline.train`: from a handful of recordings to a bundle that guides, every stage kept and restartable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import tyro
from rich.console import Console

from guide.bundle import require_place
from guide.command import entry
from guide.domain import Features
from guide.errors import InputError
from offline import paper
from offline.batches import HELD_OUT_EVERY, Batches
from offline.config import NATIVE_FPS, PresetName, Recipe, resolve
from offline.embedding import Inputs, StandardHead, build_embedder, embed, make_loss, prepare_inputs, window_s
from offline.export import Export, Parity, write_bundle
from offline.extraction import ExtractionDevice, Extractor, open_extractor
from offline.features import FeatureCache, RecordingFeatures
from offline.learn import Learned, find_steps
from offline.loop import LoopSettings, Trained, train
from offline.loop import Progress as LoopProgress
from offline.losses.registry import LossName
from offline.progress import progress
from offline.stills import draw_stills
from offline.videos import Examined, RecordingFacts, examine_all, find_recordings, require_enough, working_rate

RUN_VERSION = 2  # raised whenever the same recipe gives other weights or labels: runs of before are then left alone
FEWEST_FRAMES = 2 * HELD_OUT_EVERY  # two frames to watch convergence on
ROWS_AT_ONCE = 4096
LEAST_CHANGE = 1e-8  # of any feature; below it the directions of change drown in rounding


@dataclass(frozen=True)
class TrainOptions:
    """Learn a procedure from recordings of one task, without labels, and write a bundle for the live side."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Videos, folders, globs, folders of stills, or features (.npy with --rate, .npz with features and rate)."""
    out: Path | None = None
    """Where the bundle goes, for example exported/NAME."""
    preset: PresetName = "default"
    """`default`: the best we can show, quick on a CPU; `paper`: every number of the paper."""
    k: int | Literal["auto"] | None = None
    """Number of key-steps, or auto; background comes on top."""
    fps: float | None = None
    """Working rate of videos, in frames a second."""
    rate: float | None = None
    """How many stills or rows of .npy features there are in a second."""
    backbone: str | None = None
    """The trunk: efficientnet_lite0 or resnet50."""
    backbone_weights: Path | None = None
    """A file with the trunk's weights, where it cannot be downloaded."""
    loss: LossName | None = None
    """What the embedder is trained with."""
    device: ExtractionDevice = "auto"
    """Where to compute: auto, cpu or cuda."""
    seed: int = 0
    """Two runs with one seed give one result."""
    skip_bad: bool = False
    """Go on without recordings that cannot be read, instead of stopping."""
    config: Path | None = None
    """A TOML file with settings, for example loss = "tc3i"."""
    cache: Path = Path(".cache/cnc")
    """Where features and checkpoints are kept between runs."""
    dry_run: bool = False
    """Print the settings and stop; needs no inputs."""


def main(options: TrainOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    recipe = _recipe(options)
    if options.dry_run:
        console.print("\n".join(_settings(options, recipe)), soft_wrap=True)
        return
    if options.out is None:
        raise InputError("a place for the bundle was expected, none was given: add --out exported/NAME.")
    if not 0 <= options.seed < 2**31:
        raise InputError(f"the seed is a whole number from 0 to 2147483647, got {options.seed}: choose another.")
    learn_task(options, recipe, options.out, console)
    console.print(f"wrote {options.out}\nnext: python -m guide check {options.out}", soft_wrap=True)


def learn_task(options: TrainOptions, recipe: Recipe, out: Path, console: Console) -> Learned:
    """All stages: features, embedder, key-steps, procedure, bundle."""
    require_place(out)
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for, but torch finds no CUDA device: use --device auto or cpu.")
    if recipe.k == "auto":
        console.print(f"--k auto: choosing the number of key-steps is not built yet, taking {recipe.steps}")
    facts = _find(options, console)
    recordings, extractor = _features(options, recipe, facts, console)
    _require_change(recordings)
    _require_k(recordings, recipe)
    folder = options.cache / "runs" / _run_key(recordings, recipe, options)
    inputs = prepare_inputs(recordings, recipe, folder / "inputs")
    head, trained = _train(inputs, recipe, options, folder, console)
    embeddings = tuple(embed(head, clip) for clip in inputs.clips(recipe))
    console.print("finding key-steps ...")
    learned = find_steps(inputs, embeddings, recipe, options.seed, folder / "found.npz")
    _tell(learned, console)
    parities = _export(options, recipe, facts, inputs, learned, embeddings, head, extractor, trained, out)
    for name, parity in parities.items():
        console.print(
            f"{name}: cosine {parity.cosine:.6f} to torch, largest difference {parity.largest_difference:.1e}"
        )
    return learned


def _settings(options: TrainOptions, recipe: Recipe) -> list[str]:
    """A line for every setting; for the paper also what it counts in other units or leaves no choice of."""
    lines = [f"{field.name:<18} {getattr(recipe, field.name)}" for field in fields(recipe)]
    if options.preset == "paper":
        lines += [
            f"the paper counts in frames of {NATIVE_FPS:g} a second: context stride {paper.CONTEXT_STRIDE} frames, "
            f"window (sigma) {paper.WINDOW_FRAMES} frames",
            f"its pictures are {paper.IMAGE_SIZE_PX} px, its trunk ends at {paper.BACKBONE_LAYER}, "
            f"its optimizer is {paper.OPTIMIZER}",
        ]
    return lines


def _recipe(options: TrainOptions) -> Recipe:
    overrides = {name: getattr(options, name) for name in ("k", "fps", "backbone", "loss")}
    return resolve(options.preset, options.config, overrides)


def _find(options: TrainOptions, console: Console) -> tuple[RecordingFacts, ...]:
    if not options.inputs:
        raise InputError("recordings of one task were expected, none were given: name videos or a folder of them.")
    found = find_recordings(options.inputs, options.rate)
    require_enough(len(found.recordings), found.ignored)
    facts = _without_short(examine_all(found.recordings, options.skip_bad), options.skip_bad)
    require_enough(len(facts.good), found.ignored)
    minutes = sum(fact.duration_s for fact in facts.good) / 60
    ignored = f", {found.ignored} other files ignored" if found.ignored else ""
    console.print(f"{len(facts.good)} recordings, {minutes:.1f} minutes{ignored}")
    for problem in facts.problems:
        console.print(f"skipped: {problem}", soft_wrap=True)
    return facts.good


def _without_short(facts: Examined, skip_bad: bool) -> Examined:
    """Leaves out what is too short to train on and to hold frames out of; without `skip_bad` that is an error."""
    problems = tuple(
        f"a recording needs at least {FEWEST_FRAMES} frames, but {fact.recording.path} has {fact.frames}: leave it out."
        for fact in facts.good
        if fact.frames < FEWEST_FRAMES
    )
    if problems and not skip_bad:
        raise InputError(f"{problems[0]} Or give --skip-bad to go on without it.")
    good = tuple(fact for fact in facts.good if fact.frames >= FEWEST_FRAMES)
    return Examined(good, facts.problems + problems)


def _require_k(recordings: Sequence[RecordingFeatures], recipe: Recipe) -> None:
    frames = sum(len(recording) for recording in recordings)
    if isinstance(recipe.k, int) and recipe.k > frames:
        raise InputError(
            f"the number of key-steps must lie between 1 and the number of frames ({frames}), got {recipe.k}: "
            "choose another --k or add recordings."
        )


def _require_change(recordings: Sequence[RecordingFeatures]) -> None:
    if not any(np.ptp(recording.pooled, axis=0).max() > LEAST_CHANGE for recording in recordings):
        raise InputError(
            "recordings in which something is done were expected, but nothing changes in any of them: "
            "check the camera, or the features."
        )


def _features(
    options: TrainOptions, recipe: Recipe, facts: Sequence[RecordingFacts], console: Console
) -> tuple[list[RecordingFeatures], Extractor | None]:
    cache = FeatureCache(options.cache / "features")
    if facts[0].recording.kind == "features":
        return [cache.features(fact.recording, None, fact.rate) for fact in facts], None
    rate = working_rate(facts, recipe.fps, recipe.least_frames)
    extractor = open_extractor(
        recipe.backbone, options.cache / "trunks", options.backbone_weights, device=options.device
    )
    total, done = sum(fact.duration_s for fact in facts), 0.0
    features = []
    with progress(console, "features", total) as advance:
        for fact in facts:
            features.append(
                cache.features(
                    fact.recording, extractor, rate, recipe.head == "conv",
                    lambda count, at, before=done: advance(before + at, ""),  # type: ignore[misc]
                )
            )  # fmt: skip
            done += fact.duration_s
            advance(done, f"at {rate:g} a second")
    return features, extractor


def _train(
    inputs: Inputs, recipe: Recipe, options: TrainOptions, folder: Path, console: Console
) -> tuple[StandardHead, Trained]:
    device = torch.device("cuda" if options.device != "cpu" and torch.cuda.is_available() else "cpu")
    head = build_embedder(inputs, recipe, options.seed).to(device)
    batches = Batches(inputs.clips(recipe), recipe.batch_videos, recipe.sampled_frames, options.seed)
    settings = LoopSettings(
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        most_iterations=recipe.most_iterations,
        evaluate_every=recipe.evaluate_every,
        patience=recipe.patience,
        seed=options.seed,
    )
    with progress(console, f"training ({recipe.loss})", recipe.most_iterations) as advance:

        def report(state: LoopProgress, loss: float, rate: float) -> None:
            advance(state.iteration, f"loss {loss:.4f}, held out {state.smoothed:.4f}, {rate:.1f} a second")

        trained = train(head, make_loss(inputs, recipe), batches, settings, folder, report)
    console.print(f"training ended after {trained.iterations} iterations: {trained.why_ended}", soft_wrap=True)
    console.print(f"weights {trained.weights_hash}, C-IDM window {window_s(inputs, recipe):.1f} s")
    return head, trained


def _export(
    options: TrainOptions,
    recipe: Recipe,
    facts: Sequence[RecordingFacts],
    inputs: Inputs,
    learned: Learned,
    embeddings: tuple[Features, ...],
    head: StandardHead,
    extractor: Extractor | None,
    trained: Trained,
    out: Path,
) -> dict[str, Parity]:
    stills = draw_stills([fact.recording for fact in facts], learned.segments) if extractor is not None else {}
    training = {**asdict(trained), "seed": options.seed, "window_s": window_s(inputs, recipe)}
    trunk = None if extractor is None else extractor.trunk
    return write_bundle(Export(recipe, inputs, learned, embeddings, head, trunk, training, stills), out)


def _tell(learned: Learned, console: Console) -> None:
    procedure = learned.procedure
    for note in learned.notes:
        console.print(f"note: {note}", soft_wrap=True)
    console.print(f"{len(procedure.steps)} key-steps found; orders seen:")
    for ordering in procedure.orderings[:5]:
        console.print(f"  {ordering.count} x  {' > '.join(str(step) for step in ordering.steps)}", soft_wrap=True)


def _run_key(recordings: Sequence[RecordingFeatures], recipe: Recipe, options: TrainOptions) -> str:
    """Names the training run by everything that decides its weights."""
    digest = hashlib.sha256(json.dumps([RUN_VERSION, asdict(recipe), options.seed], sort_keys=True).encode())
    for recording in recordings:
        digest.update(recording.id.encode())
        digest.update(recording.times.tobytes())
        for start in range(0, len(recording), ROWS_AT_ONCE):
            digest.update(recording.pooled[start : start + ROWS_AT_ONCE].tobytes())
    return digest.hexdigest()[:20]


if __name__ == "__main__":
    entry(TrainOptions, main)
