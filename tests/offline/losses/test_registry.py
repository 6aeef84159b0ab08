"""Every loss a user can name takes the same batch and gives a finite number with a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from guide.errors import InputError
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.registry import LOSS_NAMES, build_loss
from offline.losses.tc3i import Tc3iLoss


@pytest.mark.parametrize("name", LOSS_NAMES)
@pytest.mark.parametrize("videos", [2, 5])
def test_each_name_gives_a_loss(name: str, videos: int) -> None:
    embeddings = torch.randn(videos, 16, 8, generator=torch.Generator().manual_seed(0), requires_grad=True)
    steps = torch.arange(16.0).repeat(videos, 1) * 4
    value = build_loss(name, CycleLoss(), ContrastiveLoss(window=12.0))(embeddings, steps, torch.full((videos,), 64.0))
    torch.autograd.backward(value)
    assert value.shape == ()
    assert torch.isfinite(value)
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum() > 0


@pytest.mark.parametrize("name", LOSS_NAMES)
def test_no_gradient_is_summed_in_the_order_in_which_threads_come(name: str) -> None:
    """Torch's gradient of plain indexing is, on a CPU; two trainings on a busy machine then differ."""
    embeddings = torch.randn(3, 8, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    steps = torch.arange(8.0).repeat(3, 1)
    value = build_loss(name, CycleLoss(), ContrastiveLoss(window=3.0))(embeddings, steps, torch.full((3,), 8.0))
    names = {type(node).__name__ for node in _nodes(value.grad_fn)}
    assert names
    assert not any(each.startswith(("IndexBackward", "IndexPut")) for each in names)


def _nodes(start: Any) -> Iterator[Any]:
    """All operations whose gradients a value needs."""
    seen, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(parent for parent, _ in node.next_functions)
            yield node


def test_only_tc3i_trusts_some_frames_more_than_others() -> None:
    both, alone = (build_loss(name, CycleLoss(trust="close"), ContrastiveLoss()) for name in ("tc3i", "tcc"))
    assert isinstance(both, Tc3iLoss)
    assert isinstance(alone, CycleLoss)
    assert (both.cycle.trust, alone.trust) == ("close", "all")


def test_another_name_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(InputError, match="tc3i, tcc, cidm, lav, lav\\+tcc, got 'triplet'"):
        build_loss("triplet", CycleLoss(), ContrastiveLoss())
