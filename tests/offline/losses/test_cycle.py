"""TCC against its literal reading, by finite differences, and for what it is for."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from guide.errors import InputError
from offline.losses.cycle import CycleLoss
from offline.losses.literal import literal_tcc

Batch = tuple[Tensor, Tensor, Tensor]


def batch_of(videos: int, frames: int, width: int, seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(videos, frames, width, generator=generator, dtype=torch.float64)
    steps = torch.stack([torch.randperm(40, generator=generator)[:frames] for _ in range(videos)]).double()
    return embeddings, steps, torch.full((videos,), 40.0, dtype=torch.float64)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(2, 4), st.integers(1, 6), st.integers(1, 4), st.integers(0, 1000))
def test_equals_the_literal_reading(videos: int, frames: int, width: int, seed: int) -> None:
    batch = batch_of(videos, frames, width, seed)
    released = CycleLoss(temperature=0.1 * width, variance_weight=0.001)
    for loss in (CycleLoss(), released, CycleLoss(trust="close")):
        torch.testing.assert_close(loss(*batch), literal_tcc(loss, *batch), rtol=1e-10, atol=1e-12)


def test_gradient_by_finite_differences() -> None:
    embeddings, steps, lengths = batch_of(3, 4, 3, seed=5)
    loss = CycleLoss(variance_weight=0.3)
    assert torch.autograd.gradcheck(lambda e: loss(e, steps, lengths), embeddings.requires_grad_())


def test_by_hand_two_frames_each() -> None:
    """Frames at 0 and ln 4 in both recordings, scale 1: worked out from eq. 1-3 with plain numbers."""
    far = math.sqrt(math.log(4))  # squared distance ln 4, so a weight of 1/4 against 1
    alpha = 0.8, 0.2
    neighbour = alpha[1] * far
    weights = math.exp(-(neighbour**2)), math.exp(-((neighbour - far) ** 2))
    beta = weights[1] / sum(weights)  # the share that returns to the other frame
    mu, variance = beta / 2, beta * (1 - beta) / 4 + 1e-4
    expected = mu**2 / variance + 0.5 * math.log(math.sqrt(variance))
    video = torch.tensor([[0.0], [far]], dtype=torch.float64)
    loss = CycleLoss(temperature=1.0, variance_weight=0.5)
    found = loss(torch.stack([video, video]), torch.tensor([[0.0, 1.0]] * 2), torch.tensor([2.0, 2.0]))
    assert float(found) == pytest.approx(expected, rel=1e-6)  # both frames err alike, by symmetry


def path(*places: int) -> Tensor:
    """Give embeddings at well separated places, one for each frame."""
    return torch.nn.functional.one_hot(torch.tensor(places), 8).float() * 20


STEPS = torch.arange(8.0).repeat(2, 1)
LENGTHS = torch.tensor([8.0, 8.0])


def test_a_perfect_alignment_costs_less_than_one_without_counterparts() -> None:
    first = path(0, 1, 2, 3, 4, 5, 6, 7)
    shifted = path(3, 4, 5, 6, 7, 7, 7, 7)  # three places of the first recording never come
    aligned = CycleLoss()(torch.stack([first, first]), STEPS, LENGTHS)
    assert aligned < CycleLoss()(torch.stack([first, shifted]), STEPS, LENGTHS)
    assert aligned < CycleLoss()(torch.stack([first, path(*[0] * 8)]), STEPS, LENGTHS)


def test_another_order_of_the_same_places_costs_the_same() -> None:
    """The cycle itself does not ask that equal positions correspond."""
    first, other = path(0, 1, 2, 3, 4, 5, 6, 7), path(5, 2, 7, 1, 0, 3, 6, 4)
    same = CycleLoss()(torch.stack([first, first]), STEPS, LENGTHS)
    torch.testing.assert_close(CycleLoss()(torch.stack([first, other]), STEPS, LENGTHS), same)


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e4])
def test_extreme_embeddings_give_finite_losses_and_gradients(scale: float) -> None:
    embeddings = (torch.randn(3, 8, 16, generator=torch.Generator().manual_seed(0)) * scale).requires_grad_()
    value = CycleLoss()(embeddings, torch.arange(8.0).repeat(3, 1), torch.full((3,), 8.0))
    torch.autograd.backward(value)
    assert torch.isfinite(value)
    assert embeddings.grad is not None
    assert torch.isfinite(embeddings.grad).all()


def test_the_order_in_which_recordings_and_frames_are_drawn_does_not_matter() -> None:
    embeddings, steps, lengths = batch_of(3, 5, 4, seed=9)
    value = CycleLoss()(embeddings, steps, lengths)
    torch.testing.assert_close(CycleLoss()(embeddings.flip(0), steps.flip(0), lengths.flip(0)), value)
    torch.testing.assert_close(CycleLoss()(embeddings.flip(1), steps.flip(1), lengths), value)


def test_one_recording_is_refused() -> None:
    with pytest.raises(InputError, match="choose the loss cidm"):
        CycleLoss()(torch.zeros(1, 4, 3), torch.zeros(1, 4), torch.ones(1))


def test_a_frame_without_a_counterpart_is_not_asked_about() -> None:
    """Step 7 of the first recording is not in the second: only the trusting loss leaves it where it is."""
    first, without = path(0, 1, 2, 3, 4, 5, 6, 7) / 10, path(0, 1, 2, 3, 4, 5, 6, 6) / 10
    pulls = {}
    for loss in (CycleLoss(), CycleLoss(trust="close")):
        embeddings = torch.stack([first, without]).requires_grad_()
        torch.autograd.backward(loss(embeddings, STEPS, LENGTHS))
        assert embeddings.grad is not None
        pulls[loss.trust] = embeddings.grad[0].norm(dim=1)
    known, unknown = slice(1, 6), 7
    share = {kind: float(pull[unknown] / pull[known].mean()) for kind, pull in pulls.items()}
    assert share["close"] < 0.5 * share["all"]


def test_doubt_is_no_way_out() -> None:
    """The trust a frame has carries no gradient: what is left is the gradient of each error, weighed."""
    embeddings, steps, lengths = batch_of(2, 3, 2, seed=7)
    loss = CycleLoss(trust="close")
    asked = embeddings.clone().requires_grad_()
    torch.autograd.backward(loss(asked, steps, lengths))
    told = embeddings.clone().requires_grad_()
    torch.autograd.backward(literal_tcc(loss, told, steps, lengths))
    assert asked.grad is not None
    assert told.grad is not None
    torch.testing.assert_close(asked.grad, told.grad, rtol=1e-8, atol=1e-12)
