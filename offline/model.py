"""The embedder's head: trunk outputs of the current frame and its past -> one embedding.

`ConvHead` is the paper's (section 4.4), for maps; `FeatureHead` its counterpart for feature vectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from guide.errors import InputError


@dataclass(frozen=True, slots=True)
class HeadSettings:
    """The shape of a head; the defaults are the paper's.

    >>> HeadSettings(channels=112, bottleneck=64, pool=2).bottleneck
    64
    """

    channels: int = 1024
    """Channels of the trunk's map, or length of the feature vector."""
    width: int = 256
    """Channels of the convolutions and of the fully-connected layers."""
    bottleneck: int | None = None
    """Reduce the channels of each frame to this many before anything else; None leaves them."""
    pool: int = 1
    """Average over squares of this many cells before the convolutions; 1 leaves the map."""
    embedding: int = 128
    """Length of the embedding."""
    dropout: float = 0.1
    """Share of hidden values dropped in training."""


class ConvHead(nn.Module):
    """Two 3D convolutions, 3D global max pooling, two fully-connected layers and a linear projection.

    >>> import torch
    >>> head = ConvHead(HeadSettings(channels=8, width=16)).eval()
    >>> tuple(head(torch.zeros(3, 2, 8, 14, 14)).shape)  # 3 embeddings from 2 context frames each
    (3, 128)
    """

    def __init__(self, settings: HeadSettings) -> None:
        super().__init__()
        self.settings = settings
        channels = settings.bottleneck or settings.channels
        self.reduce = nn.Conv3d(settings.channels, channels, 1) if settings.bottleneck else nn.Identity()
        self.pool = nn.AvgPool3d((1, settings.pool, settings.pool)) if settings.pool > 1 else nn.Identity()
        self.convolve = nn.Sequential(
            *_conv3d(channels, settings.width),
            *_conv3d(settings.width, settings.width),
        )
        self.project = _projection(settings)

    def forward(self, context: Tensor) -> Tensor:
        """Give embeddings (N, E) of context maps (N, c, C, H, W), oldest frame first, the current one last."""
        # Conv3d wants channels before time. A reshape would have the right shape too, and mix frames with channels.
        clip = context.transpose(1, 2)
        features: Tensor = self.convolve(self.pool(self.reduce(clip)))
        embedding: Tensor = self.project(features.amax(dim=(2, 3, 4)))
        return embedding


class FeatureHead(nn.Module):
    """The counterpart for feature vectors: a perceptron with one hidden layer, the largest value over the context.

    >>> head = FeatureHead(HeadSettings(channels=8, width=16))
    >>> tuple(head(torch.zeros(3, 2, 8)).shape)
    (3, 128)
    """

    def __init__(self, settings: HeadSettings) -> None:
        super().__init__()
        self.settings = settings
        self.hidden = nn.Linear(settings.channels, settings.width)
        self.project = nn.Linear(settings.width, settings.embedding)

    def forward(self, context: Tensor) -> Tensor:
        """Give embeddings (N, E) of context features (N, c, D), oldest frame first, the current one last."""
        embedding: Tensor = self.project(self.hidden(context).relu().amax(dim=1))
        return embedding


class HeadsSideBySide(nn.Module):
    """Heads whose embeddings stand side by side.

    >>> heads = HeadsSideBySide([FeatureHead(HeadSettings(channels=8, embedding=3)) for _ in range(2)])
    >>> tuple(heads(torch.zeros(5, 1, 8)).shape)
    (5, 6)
    """

    def __init__(self, heads: Iterable[nn.Module]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def forward(self, context: Tensor) -> Tensor:
        """Give embeddings (N, H E) of what one head takes."""
        return torch.cat([head(context) for head in self.heads], dim=-1)


Head = ConvHead | FeatureHead


def build_head(settings: HeadSettings, input_rank: int) -> Head:
    """Give the head for trunk outputs of this rank: 3 for maps (C, H, W), 1 for feature vectors (D,)."""
    if input_rank not in (1, 3):
        raise InputError(
            f"a head takes maps (C, H, W) or feature vectors (D,), got rank {input_rank}: "
            "check the backbone's output or the shape of the feature files."
        )
    return ConvHead(settings) if input_rank == 3 else FeatureHead(settings)


def _conv3d(channels: int, width: int) -> list[nn.Module]:
    # batch norm brings its own offset
    return [nn.Conv3d(channels, width, 3, padding=1, bias=False), nn.BatchNorm3d(width), nn.ReLU()]


def _projection(settings: HeadSettings) -> nn.Sequential:
    width = settings.width
    return nn.Sequential(
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Dropout(settings.dropout),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Dropout(settings.dropout),
        nn.Linear(width, settings.embedding),
    )
