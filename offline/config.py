"""Our own choices for learning a procedure, and the paper's beside them; each with a line saying why."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from guide.errors import InputError
from guide.perceive.region import RegionSettings
from offline import paper
from offline.backbones import BACKBONE_NAMES
from offline.keysteps.registry import FINDERS
from offline.losses.cycle import TrustKind
from offline.losses.registry import LOSS_NAMES, LossName
from offline.views import VIEWS

PresetName = Literal["default", "paper"]
HeadKind = Literal["conv", "pooled"]

NATIVE_FPS = 30.0  # the paper counts context and window in frames of cameras of this rate, without saying so


@dataclass(frozen=True, slots=True)
class Recipe:
    """Every value that decides what is learned; recorded in the bundle.

    >>> PRESETS["paper"].k
    7
    """

    backbone: str = "efficientnet_lite0"
    """The trunk: `efficientnet_lite0` comes in a package and is several times cheaper than `resnet50`, which is
    downloaded once or read from `--backbone-weights`."""
    fps: float = 5.0
    """Working rate of videos and stills in frames a second, at most that of the fastest recording."""
    least_frames: int = 64
    """The working rate rises until every recording gives this many frames."""
    looks: int | Literal["auto"] = "auto"
    """2 adds a second look at where things move, for hands that are small in the picture; `auto` keeps it where it
    clearly gains."""
    views: int = 0
    """Other views of each recording, in other colours and from another angle, that recognition learns from besides: for
    gloves or a camera that is not quite where it was. Each is one more run of the trunk over all, and with them fewer
    faults were found on g1 in what was seen as usual."""
    head: HeadKind = "pooled"
    """`conv`: the paper's 3D convolutions on trunk maps; `pooled`: a perceptron on pooled features, far cheaper."""
    heads: int = 5
    """Heads that are trained one after another and whose embeddings are concatenated: a single one depends on its first
    weights and batches."""
    bottleneck: int = 0
    """Channels to which the head first reduces its input; 0 leaves them."""
    pool: int = 1
    """Cells of a map that are averaged along each side before the head's convolutions; 1 leaves them."""
    directions: int = 128
    """Principal components of the pooled features that the head sees."""
    dropout: float = 0.1
    """Share of a `conv` head's hidden values dropped in training."""
    head_width: int = 256
    """Channels of the head's hidden layers."""
    context_count: int = 1
    """Moments that one embedding sees, the current one among them (c)."""
    context_stride_s: float = 0.0
    """Seconds between these moments; 0 means a tenth of an average step."""
    embedding_width: int = 64
    """Dimensions of a head's embedding."""
    loss: LossName = "tc3i"
    """The loss: `tc3i`, `tcc`, `cidm`, `lav` or `lav+tcc`."""
    sampled_frames: int = paper.SAMPLED_FRAMES
    """Frames drawn at random from each video of a batch."""
    batch_videos: int = paper.BATCH_SIZE
    """Videos in a batch; fewer where fewer were given."""
    learning_rate: float = 1e-3
    """Adam's learning rate; ten times the paper's, since our heads are small."""
    weight_decay: float = paper.WEIGHT_DECAY
    """Adam's weight decay."""
    window_s: float = 0.0
    """C-IDM: frames closer than this belong together; 0 means half an average step (the median recording divided by
    twice k). At most a quarter of the shortest recording."""
    margin: float = paper.MARGIN
    """C-IDM: frames farther apart than the window are pushed to this distance (zeta)."""
    xi: float = 3.0
    """Weight of C-IDM in TC3I."""
    tcc_weight: float = 1.0
    """Weight of the cycle term in TC3I."""
    gamma_unit_s: float = 0.0
    """The unit in which C-IDM squares the distance of two frames; 0 means half the median recording, so that the push
    on distant frames does not drown the pull on near ones."""
    temperature: float = 1.0
    """Divides TCC's squared distances; 1 suits the margin."""
    variance_weight: float = 0.1
    """Weight of TCC's variance term (lambda)."""
    trust: TrustKind = "close"
    """Which frames TCC counts in TC3I: `all`, or mostly those whose soft neighbour in the other recording is
    `close`."""
    most_iterations: int = 300
    """Iterations after which training ends if it has not converged."""
    evaluate_every: int = 20
    """Iterations between two evaluations on the held-out frames."""
    patience: int = 5
    """Evaluations without a fall of the smoothed held-out loss after which training has converged."""
    k: int | Literal["auto"] = "auto"
    """Number of key-steps, not counting background. `auto` chooses it without labels; lengths are then measured in
    sevenths of a recording, the paper's number."""
    clusterer: str = "correspond"
    """How key-steps are found: `correspond` (parts of recordings that correspond, then ProCut), `pcm` (the paper's
    ProCut) or a baseline."""
    fuzzifier: float = 1.2
    """The fuzzifier m; 2 collapses in 128 dimensions."""

    @property
    def steps(self) -> int:
        """The number of key-steps to find."""
        return self.k if isinstance(self.k, int) else paper.KEY_STEPS

    @property
    def region(self) -> RegionSettings | None:
        """How the second look finds its place, where there is one."""
        return RegionSettings() if self.looks == 2 else None


PAPER = Recipe(
    backbone=paper.BACKBONE,
    fps=paper.FRAMES_PER_SECOND,
    head="conv",
    looks=1,
    heads=1,
    embedding_width=paper.EMBEDDING_DIMENSION,
    xi=paper.XI,
    context_stride_s=paper.CONTEXT_STRIDE / NATIVE_FPS,
    context_count=paper.CONTEXT_FRAMES,
    loss=paper.LOSS,
    learning_rate=paper.LEARNING_RATE,
    window_s=paper.WINDOW_FRAMES / NATIVE_FPS,
    gamma_unit_s=1 / NATIVE_FPS,
    variance_weight=paper.RELEASED_VARIANCE_WEIGHT,
    trust="all",
    most_iterations=20_000,
    evaluate_every=100,
    patience=10,
    k=paper.KEY_STEPS,
    clusterer=paper.CLUSTERER,
)

PRESETS: dict[str, Recipe] = {"default": Recipe(), "paper": PAPER}


_CHOICES: dict[str, tuple[str, ...]] = {
    "backbone": BACKBONE_NAMES,
    "loss": LOSS_NAMES,
    "head": get_args(HeadKind),
    "trust": get_args(TrustKind),
    "clusterer": tuple(FINDERS),
}
_ABOVE = {"fps": 0.0, "learning_rate": 0.0, "temperature": 0.0, "fuzzifier": 1.0}
_BELOW = {"dropout": 1.0}
_AT_MOST = {
    "pool": 14,
    "bottleneck": 8192,
    "head_width": 8192,
    "embedding_width": 8192,
    "heads": 64,
    "looks": 2,
    "views": len(VIEWS),
}  # maps are 14 x 14
_MAY_BE_NONE = frozenset({"bottleneck", "views"})
_MAY_BE_AUTO = frozenset({"k", "looks"})


def resolve(preset: PresetName, file: Path | None, overrides: dict[str, Any]) -> Recipe:
    """The preset, changed by a TOML file, changed by what the command line says."""
    recipe = PRESETS[preset]
    if file is not None:
        recipe = _apply(recipe, _read(file), str(file))
    return _apply(recipe, {key: value for key, value in overrides.items() if value is not None}, "the command line")


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
        raise InputError(
            f'{file} is no readable TOML file ({cause}): give one with lines like `loss = "tc3i"`.'
        ) from cause


def _apply(recipe: Recipe, values: dict[str, Any], where: str) -> Recipe:
    known = {f.name: f.default for f in fields(recipe)}
    for key, value in values.items():
        if key not in known:
            raise InputError(f"{where} sets {key!r}, which is no setting: known are {', '.join(known)}.")
        if not _fits(key, value, known[key]):
            raise InputError(f"{where} sets {key} to {value!r}, {_wanted(key, known[key])} was expected: change it.")
    chosen: dict[str, Any] = {key: float(v) if isinstance(known[key], float) else v for key, v in values.items()}
    return replace(recipe, **chosen)


def _wanted(key: str, like: object) -> str:
    if key in _CHOICES:
        return f"one of {', '.join(_CHOICES[key])}"
    if key in _ABOVE:
        return f"a number above {_ABOVE[key]:g}"
    if key in _BELOW:
        return f"a number from 0 to below {_BELOW[key]:g}"
    or_auto = ", or auto," if key in _MAY_BE_AUTO else ""
    if key in _AT_MOST:
        return f"a whole number from {_least(key)} to {_AT_MOST[key]}{or_auto}"
    return f"a whole number from 1{or_auto}" if or_auto else f"a value like {like!r}"


def _least(key: str) -> int:
    return 0 if key in _MAY_BE_NONE else 1


def _fits(key: str, value: object, like: object) -> bool:
    if key in _MAY_BE_AUTO:
        return value == "auto" or _fits_count(key, value)
    if isinstance(like, str):
        return isinstance(value, str) and value in _CHOICES.get(key, (value,))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    if isinstance(like, float):
        return (value > _ABOVE[key] if key in _ABOVE else value >= 0) and value < _BELOW.get(key, math.inf)
    return _fits_count(key, value)


def _fits_count(key: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return _least(key) <= value <= _AT_MOST.get(key, math.inf)
