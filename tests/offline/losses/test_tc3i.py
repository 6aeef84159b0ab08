"""TC3I: both terms, both gradients, all pairs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.literal import literal_tc3i
from offline.losses.tc3i import Tc3iLoss


def batch_of(videos: int = 3, frames: int = 5, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(videos, frames, 4, generator=generator, dtype=torch.float64)
    steps = (torch.rand(videos, frames, generator=generator, dtype=torch.float64) * 30).sort(dim=1).values
    return embeddings, steps, torch.full((videos,), 30.0, dtype=torch.float64)


LOSS = Tc3iLoss(CycleLoss(variance_weight=0.1), ContrastiveLoss(window=6, gamma_unit=6), xi=0.5, tcc_weight=2.0)


@pytest.mark.parametrize("videos", [2, 3, 5])
def test_equals_the_literal_reading_for_any_batch(videos: int) -> None:
    batch = batch_of(videos)
    torch.testing.assert_close(LOSS(*batch), literal_tc3i(LOSS, *batch), rtol=1e-10, atol=1e-12)


def test_is_the_mean_of_eq_5_over_pairs() -> None:
    """Eq. 5 is written for two videos: the loss of a batch is the mean of that over all its pairs."""
    embeddings, steps, lengths = batch_of(4)
    pairs = torch.combinations(torch.arange(4))
    each = [LOSS(embeddings[pair], steps[pair], lengths[pair]) for pair in pairs]
    torch.testing.assert_close(LOSS(embeddings, steps, lengths), torch.stack(each).mean())


def test_gradient_by_finite_differences() -> None:
    embeddings, steps, lengths = batch_of()
    assert torch.autograd.gradcheck(lambda e: LOSS(e, steps, lengths), embeddings.requires_grad_())


@pytest.mark.parametrize(("tcc_weight", "xi"), [(1.0, 0.0), (0.0, 1.0)], ids=["through TCC", "through C-IDM"])
def test_gradient_flows_through_each_term(tcc_weight: float, xi: float) -> None:
    embeddings, steps, lengths = batch_of()
    loss = Tc3iLoss(cidm=ContrastiveLoss(window=6), tcc_weight=tcc_weight, xi=xi)
    torch.autograd.backward(loss(embeddings.requires_grad_(), steps, lengths))
    assert embeddings.grad is not None
    assert (embeddings.grad.abs().sum(dim=-1) > 0).all()  # every frame of every recording is moved


def test_terms_come_apart_for_the_log() -> None:
    batch = batch_of()
    cycle, cidm = LOSS.terms(*batch)
    torch.testing.assert_close(LOSS(*batch), 2.0 * cycle + 0.5 * cidm)


def test_learning_with_it_aligns_two_recordings_and_spreads_time() -> None:
    """A small descent on free embeddings lowers both terms."""
    embeddings, steps, lengths = batch_of(2, 8)
    loss = Tc3iLoss(cidm=ContrastiveLoss(window=6, gamma_unit=6))
    free = embeddings.clone().requires_grad_()
    optimiser = torch.optim.Adam([free], lr=0.05)
    before = loss.terms(free, steps, lengths)
    for _ in range(60):
        optimiser.zero_grad()
        torch.autograd.backward(loss(free, steps, lengths))
        optimiser.step()
    after = loss.terms(free, steps, lengths)
    assert after[0] < before[0]
    assert after[1] < before[1]
