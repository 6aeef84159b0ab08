"""A trunk with convolutions of every kind, among them those that mixed precision is for."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from offline.backbones import Trunk, load_trunk
from offline.covariance_pooling import CovariancePooling


def deep(together: CovariancePooling | None = None, scale: float = 1.0) -> Trunk:
    """A trunk of convolutions over all channels, and over one each with and without a stride and of two sizes."""
    tiny = load_trunk("random-tiny")
    generator = torch.Generator().manual_seed(1)
    more = [
        nn.Conv2d(16, 16, 1), nn.ReLU6(),
        nn.Conv2d(16, 16, 5, padding=2, groups=16), nn.ReLU6(),
        nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU6(),
        nn.Conv2d(16, 16, 3, padding=1, stride=2, groups=16), nn.ReLU6(),
        nn.ConvTranspose2d(16, 16, 2, stride=2),
    ]  # fmt: skip
    for parameter in (each for part in more for each in part.parameters()):
        parameter.data = scale * torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5
    width = 16 + (together.width if together else 0)
    return Trunk(
        replace(tiny.spec, pooled_width=width, mean_width=16), nn.Sequential(tiny.to_map, *more), None, together
    )
