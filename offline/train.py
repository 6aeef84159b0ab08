"""`python -m offline.train`: from a handful of recordings to a bundle that guides, every stage kept and restartable."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro
from rich.console import Console
from torch import nn

from guide.bundle import require_place
from guide.commands.entry import entry
from guide.domain import Features
from guide.errors import InputError, OutputError
from guide.perceive.region import RegionSettings
from guide.teach.collection import Found
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned
from guide.teach.given import Given, read_given
from guide.teach.prototypes import chosen
from guide.teach.reorder import visits_a_step
from offline.config import PRESETS, PresetName, Recipe, resolve
from offline.embedding import Inputs, embed, prepare_inputs, window_s
from offline.executor import Executor, Here
from offline.export import Export, Written, write_bundle
from offline.extraction import ExtractionDevice, Extractor, open_extractor
from offline.features import TRIED, FeatureCache
from offline.finetune import FineTuned, finetune_task, require_gpu
from offline.fleet import Fleet, open_fleet
from offline.gather import find_task, require_change, require_k, see_task, see_twice, see_views, seen_of
from offline.keysteps.choose import choose_k
from offline.learn import describe_found, find_labels
from offline.loop import Progress as LoopProgress
from offline.loop import Trained
from offline.pictures import EmbeddedRecording, draw_pictures, draw_stills
from offline.processes import Group, joined, lock_run
from offline.progress import progress, working
from offline.second_look import FEWEST, MOST_TRIED, Gain, gain_in_words, try_second_look
from offline.training import head_folders, run_key, train_embedder
from offline.training_report import print_curves, print_learned, print_resumed, print_written, settings_lines
from offline.videos import RecordingFacts, ends_of
from offline.views import VIEWS


def _preset(name: str, metavar: str) -> Any:
    """What the help says of an option that a preset decides unless it is given."""
    values = (getattr(PRESETS[preset], name) for preset in ("default", "paper"))
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="(default: {}; paper: {})".format(*values))


_INPUTS = tyro.conf.arg(metavar="INPUTS", help_behavior_hint="(needed)")


@dataclass(frozen=True)
class TrainOptions:
    """Learn a procedure from recordings of one task, with few labels or none, and write a bundle that guides."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, _INPUTS] = ()
    """Videos, folders, globs, folders of stills, or features (.npy with --rate, .npz with features and rate)."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(needed)")] = None
    """Where the bundle goes, for example exported/NAME."""
    preset: PresetName = "default"
    """`default`: our best settings, fast on a CPU; `paper`: every number of the paper."""
    k: Annotated[int | Literal["auto"] | None, _preset("k", "N|auto")] = None
    """Number of key-steps, not counting background, or auto."""
    fps: Annotated[float | None, _preset("fps", "FPS")] = None
    """Working rate of videos in frames per second; raised until every recording gives 64 frames."""
    rate: Annotated[float | None, tyro.conf.arg(metavar="RATE", help_behavior_hint="(needed for these)")] = None
    """Stills or rows of .npy features per second."""
    labels: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: none are read)")] = None
    """A folder of label files (CSV or ELAN) named like the recordings, for some or all; steps keep their numbers."""
    lenient: bool = False
    """Repair mistakes in label files where possible and list the changes, instead of stopping."""
    backbone: Annotated[str | None, _preset("backbone", "NAME")] = None
    """The trunk: efficientnet_lite0 or resnet50."""
    backbone_weights: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="(default: its own)")] = (
        None
    )
    """A file with the trunk's weights: where they cannot be downloaded, or fine-tuned before."""
    looks: Annotated[int | Literal["auto"] | None, _preset("looks", "1|2|auto")] = None
    """2: a second look at where things move, 1.77 times the time per frame; auto tries whether it helps."""
    views: Annotated[int | None, _preset("views", "N")] = None
    """Learn from so many other views of each video too, for gloves or a camera that is tilted."""
    loss: Annotated[str | None, _preset("loss", "NAME")] = None
    """The loss for the embedder: tc3i, tcc, cidm, lav or lav+tcc."""
    device: ExtractionDevice = "auto"
    """Where to compute: auto, cpu or cuda."""
    seed: int = 0
    """Two runs with one seed give one result."""
    skip_bad: bool = False
    """Continue without recordings that cannot be read, instead of stopping."""
    config: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="(default: none)")] = None
    """A TOML file with settings, for example loss = "tc3i"; --dry-run lists them, docs/training.md explains them."""
    finetune: bool = False
    """Let TC3I train the trunk's last blocks on these videos too, and go on with that trunk; needs a CUDA device."""
    quantize: bool = False
    """Add an 8-bit trunk, calibrated on these recordings, and report how well it agrees with the float one."""
    cache: Path = Path(".cache/cnc")
    """Where features and checkpoints are kept between runs."""
    ray: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT|auto", help_behavior_hint="(default: none)")] = None
    """A Ray cluster that extracts features, trains heads, tries numbers of steps and rehearses; see docs/ray.md."""
    dry_run: bool = False
    """Print the settings and stop; needs no inputs."""


@dataclass(frozen=True, slots=True)
class Task:
    """The recordings of a task, and what trunk, head and live embedder see in them; `folder` is the run's.

    `recipe` is what was asked for, with as many steps as given labels name.
    """

    recipe: Recipe
    facts: tuple[RecordingFacts, ...]
    extractor: Extractor | None
    inputs: Inputs
    folder: Path
    given: Given | None = None
    fleet: Fleet | None = None
    finetuned: FineTuned | None = None

    @property
    def executor(self) -> Executor:
        """Where what can be done side by side is done: without a fleet here, where maths has all cores anyway."""
        return Executor(Here()) if self.fleet is None else self.fleet.executor

    @property
    def kept(self) -> Path:
        """Where the labels found are kept; other given labels lead to others, and so do other looks and views."""
        if self.given is None:
            return self.folder / "found.npz"
        seen = "-twice" * (self.recipe.looks == 2) + f"-views-{self.recipe.views}" * (self.recipe.views > 0)
        return self.folder / f"found-{self.given.fingerprint}{seen}.npz"


@dataclass(frozen=True, slots=True)
class Result:
    """What was learned: how training ended, recordings by the trained head (T, D) and as live, the steps."""

    trained: Trained
    embeddings: tuple[Features, ...]
    demonstrations: Demonstrations
    learned: Learned


def main(options: TrainOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    recipe = _recipe(options)
    if options.dry_run:
        console.print("\n".join(settings_lines(options.preset, recipe)), soft_wrap=True)
        return
    if options.out is None:
        raise InputError("a place for the bundle was expected, none was given: add --out exported/NAME.")
    if not 0 <= options.seed < 2**31:
        raise InputError(f"the seed is a whole number from 0 to 2147483647, got {options.seed}: choose another.")
    if options.finetune:
        require_gpu(options.device)
    with joined(options.device) as group:
        if options.finetune and (options.ray is not None or group.world > 1):
            raise InputError("--finetune works in one process on one GPU: leave it out, or --ray and torchrun.")
        if options.ray is not None and group.world > 1:
            raise InputError(
                "--ray and torchrun came together: see the recordings with --ray first, then use torchrun."
            )
        if group.is_first:
            learn_task(options, recipe, options.out, console, group)
            console.print(f"wrote {options.out}\nnext: python -m guide check {options.out}", soft_wrap=True)
        else:
            help_training(options, recipe, group)


def learn_task(
    options: TrainOptions, recipe: Recipe, out: Path, console: Console, group: Group | None = None
) -> Learned:
    """All stages: features, embedder, key-steps, procedure, bundle. The other processes of a group help to train."""
    group = group or Group()
    require_place(out)
    # The run's folder is ours until the bundle is written.
    with open_fleet(options.ray, options.cache, options.device) as fleet, ExitStack() as held:
        if fleet is not None:  # its machines compute as asked for; this one with what it has
            options = replace(options, device="cpu" if fleet.device == "cpu" else "auto")
        task = _gather(options, recipe, console, group, held, fleet)
        console.print(f"run {task.folder}", soft_wrap=True)
        return _learn(options, task, out, console, group)


def _learn(options: TrainOptions, task: Task, out: Path, console: Console, group: Group) -> Learned:
    recipe = task.recipe
    if task.given is not None:
        count = len(task.given.files)
        names = f"labels of {count} recording{'s' * (count != 1)} name {recipe.k} key-steps"
        console.print(f"{names}; they are carried to the others", soft_wrap=True)
        for change in task.given.changes:
            console.print(f"changed: {change}", soft_wrap=True)
    head, trained = _train(task, recipe, options, console)
    group.leave()
    embeddings = tuple(embed(head, clip) for clip in task.inputs.clips(recipe))
    task, demonstrations, found = _look_and_find(task, embeddings, options, console)
    with working(console, "learning the procedure"):
        learned = describe_found(found, demonstrations, recipe, task.given, task.executor.map)
    print_learned(learned, console)
    with working(console, "writing the bundle" + " with an 8-bit network" * options.quantize):
        written = _export(options, task, Result(trained, embeddings, demonstrations, learned), out)
    print_written(written, console)
    print_curves(task.folder, console)
    return learned


def help_training(options: TrainOptions, recipe: Recipe, group: Group) -> None:
    """What every process but the first does: its share of each batch, in silence."""
    quiet = Console(quiet=True)
    task = _gather(options, recipe, quiet, group)
    _train(task, task.recipe, options, quiet)
    group.leave()


def _recipe(options: TrainOptions) -> Recipe:
    if options.config is not None and not options.config.is_file():
        what = "is a folder" if options.config.is_dir() else "does not exist"
        raise InputError(f"a settings file was expected, but {options.config} {what}: check the path.")
    overrides = {name: getattr(options, name) for name in ("k", "fps", "backbone", "looks", "views", "loss")}
    return resolve(options.preset, options.config, overrides)


def _gather(
    options: TrainOptions,
    recipe: Recipe,
    console: Console,
    group: Group,
    held: ExitStack | None = None,
    fleet: Fleet | None = None,
) -> Task:
    """The recordings with all that is seen in them; several processes go one after another, the first extracts.

    `held` gets the lock of the run; the other processes of a group work under the lock of the first.
    """
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for, but torch finds no CUDA device: use --device auto or cpu.")
    with group.in_turn():
        facts = find_task(options.inputs, options.rate, options.skip_bad, console)
        given = None if options.labels is None else read_given(options.labels, ends_of(facts), options.lenient)
        recipe = _with_given(recipe, given, options.k)
        _require_cache(options.cache)
        extractor = None if facts[0].recording.kind == "features" else _extractor(options, recipe)
        if options.quantize and extractor is None:
            raise InputError("--quantize is for networks that see pictures, but features were given: leave it out.")
        if extractor is None:
            recipe = _seen_once(recipe)
        finetuned = None
        if options.finetune:
            extractor, finetuned = _finetune(facts, extractor, recipe, options, console)
        cache = FeatureCache(options.cache / "features")
        recordings = see_task(facts, extractor, recipe, cache, console, options.skip_bad, fleet)
        facts = seen_of(recordings, facts)
        require_change(recordings)
        require_k(recordings, recipe)
        folder = options.cache / "runs" / run_key(recordings, recipe, options.seed)
        if held is not None:
            held.enter_context(lock_run(folder, lambda words: console.print(words, soft_wrap=True)))
        known = [] if given is None else [own for own in given.labels(recordings) if own is not None]
        inputs = prepare_inputs(recordings, recipe, visits_a_step(known))
    return Task(recipe, facts, extractor, inputs, folder, given, fleet, finetuned)


def _with_given(recipe: Recipe, given: Given | None, asked: int | str | None) -> Recipe:
    """The recipe with as many steps as the labels name; raises InputError where another number was asked for."""
    if given is None:
        return recipe
    count = len(given.steps)
    if isinstance(asked, int) and asked != count:
        raise InputError(f"the labels name {count} key-steps, but --k asks for {asked}: leave --k out.")
    return replace(recipe, k=count)


def _seen_once(recipe: Recipe) -> Recipe:
    """The recipe for features that somebody else's network gave; raises InputError where pictures were asked for."""
    if recipe.looks == 2:
        raise InputError("--looks 2 is for pictures, but features were given: leave it out.")
    if recipe.views:
        raise InputError(f"--views {recipe.views} is for pictures, but features were given: leave it out.")
    return replace(recipe, looks=1)


def _extractor(options: TrainOptions, recipe: Recipe) -> Extractor:
    return open_extractor(recipe.backbone, options.cache / "trunks", options.backbone_weights, device=options.device)


def _finetune(
    facts: tuple[RecordingFacts, ...],
    extractor: Extractor | None,
    recipe: Recipe,
    options: TrainOptions,
    console: Console,
) -> tuple[Extractor, FineTuned]:
    """The extractor whose trunk was fine-tuned on the recordings."""
    if extractor is None:
        raise InputError("--finetune is for networks that see pictures, but features were given: leave it out.")
    trunk, how = finetune_task(facts, extractor, recipe, options.seed, options.cache, console, options.skip_bad)
    return Extractor(trunk, options.cache / "trunks", options.device), how


def _require_cache(folder: Path) -> None:
    """Raises OutputError where nothing can be kept, before the long work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as cause:
        raise OutputError(
            f"features and checkpoints are kept in {folder}, which cannot be written ({cause.strerror}): "
            "choose a folder you may write to with --cache DIR."
        ) from cause


def _train(task: Task, recipe: Recipe, options: TrainOptions, console: Console) -> tuple[nn.Module, Trained]:
    device = torch.device("cuda" if options.device != "cpu" and torch.cuda.is_available() else "cpu")
    inputs = task.inputs
    print_resumed(head_folders(task.folder, recipe), console)
    if task.fleet is not None:
        task.fleet.train_heads(inputs, recipe, options.seed, task.folder, console)
    with progress(console, f"training ({recipe.loss})", recipe.heads * recipe.most_iterations) as advance:

        def report(state: LoopProgress, loss: float, rate: float) -> None:
            advance(state.iteration, f"loss {loss:.4f}, held out {state.smoothed:.4f}, {rate:.1f} a second")

        embedder, trained = train_embedder(inputs, recipe, options.seed, device, task.folder, report)
    heads = f"each of {recipe.heads} heads " if recipe.heads > 1 else ""
    console.print(f"training ended after {trained.iterations} iterations: {heads}{trained.why_ended}", soft_wrap=True)
    console.print(f"weights {trained.weights_hash}, C-IDM window {window_s(inputs, recipe):.1f} s")
    return embedder, trained


def _look_and_find(
    task: Task, embeddings: Sequence[Features], options: TrainOptions, console: Console
) -> tuple[Task, Demonstrations, Found]:
    """The key-steps, and the task as it is seen by one look or two: as asked for, or as a trial on these steps says."""
    task = (_seen_twice if task.recipe.looks == 2 else _with_views)(task, options, console)
    demonstrations, found = _find(task, embeddings, options, console)
    if task.recipe.looks == "auto":
        gain = _try_second_look(task, found, options, console)
        if gain is not None and gain.is_clear:
            task = _seen_twice(task, options, console)
            demonstrations, found = _find(task, embeddings, options, console)
        else:
            task = replace(task, recipe=replace(task.recipe, looks=1))
        found = replace(found, notes=(*found.notes, gain_in_words(gain)))
    return task, demonstrations, found


def _find(
    task: Task, embeddings: Sequence[Features], options: TrainOptions, console: Console
) -> tuple[Demonstrations, Found]:
    choice = None
    if task.recipe.k == "auto" and not task.kept.is_file():
        trying = partial(task.executor.map, what="finding key-steps: how many", console=console)
        choice = choose_k(task.inputs.collection(embeddings), options.seed, each=trying)
    with working(console, "finding key-steps"):
        demonstrations = task.inputs.demonstrations(task.folder)
        return demonstrations, find_labels(
            task.inputs, demonstrations, embeddings, task.recipe, options.seed, task.kept, task.given, choice
        )


def _seen_twice(task: Task, options: TrainOptions, console: Console) -> Task:
    """The task with a second look at every frame."""
    assert task.extractor is not None, "features are seen once"
    recipe, recordings = replace(task.recipe, looks=2), task.inputs.recordings
    cache = FeatureCache(options.cache / "features")
    twice = see_twice(task.facts, recordings, task.extractor, RegionSettings(), cache, console, fleet=task.fleet)
    inputs = replace(task.inputs, recordings=tuple(twice))
    return _with_views(replace(task, recipe=recipe, inputs=inputs), options, console)


def _with_views(task: Task, options: TrainOptions, console: Console) -> Task:
    """The task with other views of its recordings, by as many looks as the recordings themselves."""
    views = VIEWS[: task.recipe.views]
    if not views:
        return task
    assert task.extractor is not None, "features have no views"
    cache, recordings = FeatureCache(options.cache / "features"), task.inputs.recordings
    copies = see_views(task.facts, recordings, views, task.extractor, task.recipe.region, cache, console, task.fleet)
    return replace(task, inputs=replace(task.inputs, copies=copies))


def _try_second_look(task: Task, found: Found, options: TrainOptions, console: Console) -> Gain | None:
    """What a second look gains, on the labels that people gave where these are enough, else on all; or nothing."""
    assert task.extractor is not None, "features are seen once"
    recordings = task.inputs.recordings
    given = [None] * len(recordings) if task.given is None else task.given.labels(recordings)
    own = [place for place, labels in enumerate(given) if labels is not None]
    places = own if len(own) >= FEWEST else range(len(recordings))
    places = [places[number] for number in chosen(len(places), MOST_TRIED)]
    if len(places) < FEWEST:
        return None
    twice = see_twice(
        [task.facts[place] for place in places], [recordings[place] for place in places], task.extractor,
        RegionSettings(), FeatureCache(options.cache / "features"), console, is_trial=True, fleet=task.fleet,
    )  # fmt: skip
    with working(console, "trying the second look"):
        return try_second_look(twice, [found.labels[place][::TRIED] for place in places], task.inputs.settings)


def _export(options: TrainOptions, task: Task, result: Result, out: Path) -> Written:
    recipe = task.recipe
    recordings = () if task.extractor is None else tuple(fact.recording for fact in task.facts)
    export = Export(
        recipe,
        task.inputs,
        result.learned,
        result.demonstrations,
        extractor=task.extractor,
        training=_training_facts(options, task, result.trained),
        stills=draw_stills(recordings, result.learned.segments) if recordings else {},
        pictures=draw_pictures(_seen(task, result), recordings),
        recordings=recordings,
        labelled=() if task.given is None else tuple(task.given.files),
        is_quantized=options.quantize,
    )
    return write_bundle(export, out)


def _training_facts(options: TrainOptions, task: Task, trained: Trained) -> dict[str, Any]:
    """What the manifest says of how training went."""
    facts = {**asdict(trained), "seed": options.seed, "window_s": window_s(task.inputs, task.recipe)}
    return facts if task.finetuned is None else {**facts, "finetuned": asdict(task.finetuned)}


def _seen(task: Task, result: Result) -> list[EmbeddedRecording]:
    rows = zip(task.inputs.recordings, result.embeddings, result.learned.labels, strict=True)
    return [
        EmbeddedRecording(recording.id, embeddings, recording.times, labels) for recording, embeddings, labels in rows
    ]


if __name__ == "__main__":
    entry(TrainOptions, main)
