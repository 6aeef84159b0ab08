"""Second-order (covariance) pooling: which channels of a map are active at the same places of a picture."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

DIRECTIONS = 64
SEED = 3
SOFTNESS = 1e-4  # below which a root is no longer steep: last digits must not grow to features
ROUNDING = 1e-6  # share of a map's strength below which differences between its places are rounding
LEAST = 1e-2  # length of the roots of anything that is more than rounding, and a good deal less
_TINY = 1e-12


class CovariancePooling(nn.Module):
    """Features (N, d (d + 1) / 2) of unit length from maps (N, C, H, W).

    A mean over the picture says that there is metal and that there is a hand, their covariance over the picture that
    the hand holds it. Channels are too many for all pairs, so they are first mixed to `directions` that are drawn by
    lot, the same for every task. Roots keep a few strong pairs from outshining all others.

    >>> pooling = CovariancePooling(channels=8, directions=3)
    >>> maps = torch.rand(2, 8, 4, 4, generator=torch.Generator().manual_seed(0))
    >>> tuple(pooling(maps).shape), pooling(maps).norm(dim=1).round(decimals=4).tolist()
    ((2, 6), [1.0, 1.0])
    """

    mixing: Tensor
    pairs: Tensor

    def __init__(self, channels: int, directions: int = DIRECTIONS) -> None:
        super().__init__()
        drawn = np.random.default_rng(SEED).normal(size=(channels, min(directions, channels)))
        mixing = np.linalg.qr(drawn)[0].T.astype(np.float32)
        count = len(mixing)
        rows, columns = np.triu_indices(count)
        self.register_buffer("mixing", torch.from_numpy(np.ascontiguousarray(mixing)))
        self.register_buffer("pairs", torch.from_numpy(rows * count + columns))
        # Among the weights, so that their hash changes with them.
        self.register_buffer("limits", torch.tensor([SOFTNESS, ROUNDING, LEAST]))

    @property
    def width(self) -> int:
        return len(self.pairs)

    def forward(self, maps: Tensor) -> Tensor:
        mixed = self.mixing @ maps.flatten(2)  # (N, d, HW)
        strength = mixed.square().sum(dim=(1, 2))[:, None]
        mixed = mixed - mixed.mean(dim=2, keepdim=True)
        products = (mixed @ mixed.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        # A map that is the same everywhere has no pairs: what is left of it is rounding, and stays small.
        shares = products / torch.maximum(_length(products), ROUNDING * strength + _TINY)
        roots = shares / torch.sqrt(shares.abs() + SOFTNESS)
        return roots / _length(roots).clamp(min=LEAST)


def _length(rows: Tensor) -> Tensor:
    length: Tensor = rows.norm(dim=1, keepdim=True)
    return length
