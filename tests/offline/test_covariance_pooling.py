"""Second-order pooling: against the covariance written out, and what it must not care about."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offline.backbones import load_trunk
from offline.covariance_pooling import SOFTNESS, CovariancePooling


def some_maps(count: int = 3, channels: int = 10, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, channels, 5, 4, generator=torch.Generator().manual_seed(seed))


def test_it_is_the_covariance_over_the_picture() -> None:
    maps, together = some_maps(), CovariancePooling(10, directions=4)
    mixing = together.mixing.numpy().astype(np.float64)
    for picture, found in zip(maps.numpy().astype(np.float64), together(maps).numpy(), strict=True):
        cells = np.stack([mixing @ picture[:, y, x] for y in range(5) for x in range(4)])
        covariance = np.stack([np.outer(cell, cell) for cell in cells - cells.mean(0)]).sum(0)
        pairs = np.array([covariance[a, b] for a in range(4) for b in range(a, 4)])
        shares = pairs / np.sqrt((pairs**2).sum())
        roots = np.array([share / np.sqrt(abs(share) + SOFTNESS) for share in shares])
        np.testing.assert_allclose(found, roots / np.sqrt((roots**2).sum()), atol=1e-5)


def test_directions_are_the_same_every_time_and_at_right_angles() -> None:
    one, other = CovariancePooling(12, 5), CovariancePooling(12, 5)
    assert torch.equal(one.mixing, other.mixing)
    torch.testing.assert_close(one.mixing @ one.mixing.T, torch.eye(5))
    assert one.width == 15
    assert CovariancePooling(3, 64).width == 6  # no more directions than channels


def test_neither_place_nor_contrast_nor_a_constant_matters() -> None:
    maps, together = some_maps(), CovariancePooling(10, 4)
    order = torch.randperm(20, generator=torch.Generator().manual_seed(1))
    moved = maps.flatten(2)[:, :, order].reshape(maps.shape)
    torch.testing.assert_close(together(moved), together(maps), atol=1e-5, rtol=0)
    torch.testing.assert_close(together(7 * maps + 3), together(maps), atol=1e-5, rtol=0)


def test_what_stands_together_is_told_from_what_stands_apart() -> None:
    """Two channels, equally strong on the whole: at the same place or at different ones."""
    here, there = torch.zeros(4, 4), torch.zeros(4, 4)
    here[0, 0] = there[3, 3] = 1.0
    maps = torch.stack([torch.stack([here, here]), torch.stack([here, there])])
    assert torch.equal(maps.mean(dim=(2, 3))[0], maps.mean(dim=(2, 3))[1])
    one, other = CovariancePooling(2)(maps)
    assert float((one - other).norm()) > 0.3


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_map_that_is_the_same_everywhere_gives_nothing(value: float) -> None:
    found = CovariancePooling(6, 3)(torch.full((1, 6, 4, 4), value))
    assert torch.isfinite(found).all()
    assert float(found.norm()) < 1e-2


def test_the_default_trunk_gives_it_as_much_weight_as_its_means() -> None:
    trunk = load_trunk("efficientnet_lite0")
    with torch.inference_mode():
        pooled = trunk(torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0)))[1][0]
    means, pairs = pooled[: 112 + 1280], pooled[112 + 1280 :]
    assert len(pairs) == 64 * 65 // 2
    torch.testing.assert_close(means.norm(), pairs.norm())
